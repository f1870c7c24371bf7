//! Large transfers, divided among threads by `hipfile::transfer`.

use hipfile::transfer::Options;
use hipfile::{FileHandle, Predicted};

use super::sync::Memory;
use super::{Gpu, Lane, Plan, hipfile};
use crate::bench::work::Piece;
use crate::failure::Failure;

pub struct Large {
    file: FileHandle,
    memory: Memory,
    writes: bool,
    threads: usize,
    chunk: usize,
}

impl Large {
    pub fn open(plan: &Plan<'_>, gpu: &Gpu) -> Result<Self, Failure> {
        Ok(Self {
            file: hipfile(plan, gpu)?,
            memory: Memory::new(plan, gpu)?,
            writes: plan.settings.operation.writes(),
            threads: plan.layout.threads,
            chunk: usize::try_from(plan.case.block).unwrap_or(usize::MAX),
        })
    }
}

impl Lane for Large {
    fn begin(&mut self, _: usize, Piece { offset, len, .. }: Piece) -> Result<(), Failure> {
        let options = Options::new().threads(self.threads).chunk(self.chunk);
        let moved = match (&mut self.memory, self.writes) {
            (Memory::Registered(memory), false) => {
                options.read_file_into(&self.file, memory.slice_mut(..len)?, offset)
            }
            (Memory::Registered(memory), true) => {
                options.write_file_from(&self.file, memory.slice(..len)?, offset)
            }
            (Memory::Plain(buffer), false) => {
                options.read_file_into(&self.file, buffer.slice_mut(..len)?, offset)
            }
            (Memory::Plain(buffer), true) => {
                options.write_file_from(&self.file, buffer.slice(..len)?, offset)
            }
        };
        moved.map_err(|stopped| stopped.into_error())?;
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
