//! One call of hipFile after the other.

use hipfile::alloc::DeviceBuffer;
use hipfile::{FileHandle, Predicted};

use super::{Gpu, Lane, Plan, hipfile};
use crate::bench::work::Piece;
use crate::failure::Failure;

/// Memory of a GPU.
pub enum Memory {
    Registered(hipfile::Registered<DeviceBuffer>),
    Plain(DeviceBuffer),
}

impl Memory {
    /// As much as the longest piece, registered unless that is not wanted.
    pub fn new(plan: &Plan<'_>, gpu: &Gpu) -> Result<Self, Failure> {
        let buffer = DeviceBuffer::new(plan.longest)?;
        let registered = plan.settings.registered;
        Ok(if registered { Self::Registered(gpu.driver.register(buffer)?) } else { Self::Plain(buffer) })
    }

    pub fn predict(&self, file: &FileHandle, Piece { offset, len, .. }: Piece) -> Option<Predicted> {
        let explained = match self {
            Self::Registered(memory) => file.explain(memory.slice(..len).ok()?, offset),
            Self::Plain(buffer) => file.explain(buffer.slice(..len).ok()?, offset),
        };
        explained.ok().map(|explanation| explanation.path)
    }

    pub fn put(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        match self {
            Self::Registered(memory) => memory.slice_mut(..)?.as_device_mut().copy_from_host(0, bytes)?,
            Self::Plain(buffer) => buffer.copy_from_host(0, bytes)?,
        }
        Ok(())
    }

    pub fn take(&self, bytes: &mut [u8]) -> Result<(), Failure> {
        match self {
            Self::Registered(memory) => memory.slice(..)?.as_device().copy_to_host(0, bytes)?,
            Self::Plain(buffer) => buffer.copy_to_host(0, bytes)?,
        }
        Ok(())
    }
}

pub struct Sync {
    file: FileHandle,
    memory: Memory,
    writes: bool,
}

impl Sync {
    pub fn open(plan: &Plan<'_>, gpu: &Gpu) -> Result<Self, Failure> {
        let writes = plan.settings.operation.writes();
        Ok(Self { file: hipfile(plan, gpu)?, memory: Memory::new(plan, gpu)?, writes })
    }
}

impl Lane for Sync {
    fn begin(&mut self, _: usize, Piece { offset, len, .. }: Piece) -> Result<(), Failure> {
        match (&mut self.memory, self.writes) {
            (Memory::Registered(memory), false) => {
                self.file.read_exact_at(memory.slice_mut(..len)?, offset)?
            }
            (Memory::Registered(memory), true) => self.file.write_all_at(memory.slice(..len)?, offset)?,
            (Memory::Plain(buffer), false) => self.file.read_exact_at(buffer.slice_mut(..len)?, offset)?,
            (Memory::Plain(buffer), true) => self.file.write_all_at(buffer.slice(..len)?, offset)?,
        }
        Ok(())
    }

    fn predict(&self, piece: Piece) -> Option<Predicted> {
        self.memory.predict(&self.file, piece)
    }

    fn put(&mut self, _: usize, bytes: &[u8]) -> Result<(), Failure> {
        self.memory.put(bytes)
    }

    fn take(&mut self, _: usize, bytes: &mut [u8]) -> Result<(), Failure> {
        self.memory.take(bytes)
    }
}
