//! Transfers on a stream, of which several are under way.

use std::collections::VecDeque;
use std::sync::Arc;

use hipfile::alloc::{DeviceBuffer, Stream};
use hipfile::{
    Feature, FileHandle, OwnedTransfer, Predicted, Region, RegisteredStream, Request, StreamFlags,
};

use super::{Gpu, Lane, Plan, hipfile};
use crate::bench::work::Piece;
use crate::failure::Failure;

/// The memory of a slot: all of it, or what a transfer under way left of it.
pub enum Slot {
    Free(Region),
    /// What lies behind the part in use, if the piece is shorter.
    Busy(Option<Region>),
}

impl Slot {
    /// Slots of as much memory as the longest piece.
    pub fn several(plan: &Plan<'_>, gpu: &Gpu) -> Result<Vec<Self>, Failure> {
        let depth = plan.settings.depth;
        let len = plan.longest.checked_mul(depth).ok_or_else(|| Failure::new("-i times -B is too large"))?;
        let memory = gpu.driver.register(DeviceBuffer::new(len)?)?;
        Ok(memory.into_regions(plan.longest)?.map(Self::Free).collect())
    }

    /// The first `len` bytes, for a transfer.
    pub fn lend(&mut self, len: usize) -> Result<Region, Failure> {
        match std::mem::replace(self, Self::Busy(None)) {
            Self::Busy(_) => Err(busy()),
            Self::Free(mut region) => {
                if len < region.len() {
                    *self = Self::Busy(Some(region.split_off(len)?));
                }
                Ok(region)
            }
        }
    }

    /// Takes back what was lent.
    pub fn give_back(&mut self, mut region: Region) -> Result<(), Failure> {
        if let Self::Busy(Some(rest)) = std::mem::replace(self, Self::Busy(None)) {
            region.unsplit(rest).map_err(|_| busy())?;
        }
        *self = Self::Free(region);
        Ok(())
    }

    pub fn predict(&self, file: &FileHandle, Piece { offset, len, .. }: Piece) -> Option<Predicted> {
        match self {
            Self::Free(region) => Some(file.explain(region.slice(..len).ok()?, offset).ok()?.path),
            Self::Busy(_) => None,
        }
    }

    pub fn put(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        match self {
            Self::Free(region) => Ok(region.slice_mut(..)?.as_device_mut().copy_from_host(0, bytes)?),
            Self::Busy(_) => Err(busy()),
        }
    }

    pub fn take(&self, bytes: &mut [u8]) -> Result<(), Failure> {
        match self {
            Self::Free(region) => Ok(region.slice(..)?.as_device().copy_to_host(0, bytes)?),
            Self::Busy(_) => Err(busy()),
        }
    }
}

/// Not met: slots are used only after they were said to be free.
pub fn busy() -> Failure {
    Failure::new("a slot is still in use")
}

/// A transfer between a file and a region.
pub fn request(file: &Arc<FileHandle>, region: Region, offset: u64, writes: bool) -> Request {
    if writes { Request::write(file, region, offset) } else { Request::read(file, region, offset) }
}

/// An error unless a transfer was complete.
pub fn complete(bytes: usize, piece: Piece, file: &FileHandle) -> Result<(), Failure> {
    if bytes == piece.len {
        return Ok(());
    }
    let path = file.path().map_or_else(|| "the file".into(), |path| path.display().to_string());
    let message =
        format!("{bytes} of {} bytes were transferred at offset {} of {path}", piece.len, piece.offset);
    Err(Failure::new(message))
}

pub struct Streams {
    file: Arc<FileHandle>,
    stream: RegisteredStream,
    slots: Vec<Slot>,
    /// In the order of the stream.
    under_way: VecDeque<(usize, Piece, OwnedTransfer)>,
    writes: bool,
}

impl Streams {
    pub fn open(plan: &Plan<'_>, gpu: &Gpu) -> Result<Self, Failure> {
        Ok(Self {
            file: Arc::new(hipfile(plan, gpu)?),
            stream: RegisteredStream::new(&gpu.driver, Stream::new()?, StreamFlags::FIXED_VALUES)?,
            slots: Slot::several(plan, gpu)?,
            under_way: VecDeque::new(),
            writes: plan.settings.operation.writes(),
        })
    }
}

impl Lane for Streams {
    fn depth(&self) -> usize {
        self.slots.len()
    }

    fn begin(&mut self, slot: usize, piece: Piece) -> Result<(), Failure> {
        let region = self.slots.get_mut(slot).ok_or_else(busy)?.lend(piece.len)?;
        let transfer = request(&self.file, region, piece.offset, self.writes).submit(&self.stream);
        self.under_way.push_back((slot, piece, transfer));
        Ok(())
    }

    fn finish(&mut self, free: &mut Vec<usize>) -> Result<(), Failure> {
        let Some((slot, piece, transfer)) = self.under_way.pop_front() else { return Ok(()) };
        let done = transfer.wait().map_err(hipfile::Error::from)?;
        complete(done.bytes, piece, &self.file)?;
        self.slots.get_mut(slot).ok_or_else(busy)?.give_back(done.region)?;
        free.push(slot);
        Ok(())
    }

    fn predict(&self, piece: Piece) -> Option<Predicted> {
        let predicted = self.slots.first()?.predict(&self.file, piece)?;
        let fast = hipfile::supports(Feature::AsyncFastPath).ok()?;
        Some(if predicted == Predicted::FastPath && !fast { Predicted::Fallback } else { predicted })
    }

    fn put(&mut self, slot: usize, bytes: &[u8]) -> Result<(), Failure> {
        self.slots.get_mut(slot).ok_or_else(busy)?.put(bytes)
    }

    fn take(&mut self, slot: usize, bytes: &mut [u8]) -> Result<(), Failure> {
        self.slots.get(slot).ok_or_else(busy)?.take(bytes)
    }
}
