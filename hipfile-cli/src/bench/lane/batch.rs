//! Batches: as many transfers as there are slots are submitted by one call, and waited for.

use std::sync::Arc;

use hipfile::{Batch, FileHandle, Predicted, Request};

use super::streams::{Slot, busy, complete, request};
use super::{Gpu, Lane, Plan, hipfile};
use crate::bench::work::Piece;
use crate::failure::Failure;

pub struct Batches {
    file: Arc<FileHandle>,
    batch: Batch,
    slots: Vec<(Slot, Option<Piece>)>,
    /// For the next call.
    collected: Vec<Request>,
    writes: bool,
}

impl Batches {
    pub fn open(plan: &Plan<'_>, gpu: &Gpu) -> Result<Self, Failure> {
        Ok(Self {
            file: Arc::new(hipfile(plan, gpu)?),
            batch: Batch::new(&gpu.driver, plan.settings.depth)?,
            slots: Slot::several(plan, gpu)?.into_iter().map(|slot| (slot, None)).collect(),
            collected: Vec::new(),
            writes: plan.settings.operation.writes(),
        })
    }
}

impl Lane for Batches {
    fn depth(&self) -> usize {
        self.slots.len()
    }

    fn begin(&mut self, index: usize, piece: Piece) -> Result<(), Failure> {
        let (slot, under_way) = self.slots.get_mut(index).ok_or_else(busy)?;
        let region = slot.lend(piece.len)?;
        *under_way = Some(piece);
        self.collected.push(request(&self.file, region, piece.offset, self.writes).tag(index as u64));
        Ok(())
    }

    fn finish(&mut self, free: &mut Vec<usize>) -> Result<(), Failure> {
        self.batch.submit(std::mem::take(&mut self.collected)).map_err(hipfile::Error::from)?;
        while self.batch.outstanding() > 0 {
            self.batch.wait(self.batch.outstanding(), None)?;
            while let Some(done) = self.batch.try_next()? {
                let index = usize::try_from(done.tag).unwrap_or(usize::MAX);
                let (slot, under_way) = self.slots.get_mut(index).ok_or_else(busy)?;
                complete(done.result?, under_way.take().ok_or_else(busy)?, &self.file)?;
                slot.give_back(done.region)?;
                free.push(index);
            }
        }
        Ok(())
    }

    fn predict(&self, piece: Piece) -> Option<Predicted> {
        self.slots.first()?.0.predict(&self.file, piece)
    }

    fn put(&mut self, index: usize, bytes: &[u8]) -> Result<(), Failure> {
        self.slots.get_mut(index).ok_or_else(busy)?.0.put(bytes)
    }

    fn take(&mut self, index: usize, bytes: &mut [u8]) -> Result<(), Failure> {
        self.slots.get(index).ok_or_else(busy)?.0.take(bytes)
    }
}
