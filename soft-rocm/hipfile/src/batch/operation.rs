//! One operation of a batch.

use hipfile_sys::{hipFileBatch, hipFileBatchRead, hipFileBatchWrite, hipFileIOParams_t};

use super::queue::Work;
use super::state::{Entry, Outcome};
use crate::abi;
use crate::config::Config;
use crate::driver::{Lookup, Memory};
use crate::failure::Failure;
use crate::file::File;
use crate::hip::Hip;
use crate::stats::{Direction, Stats};
use crate::sync::Arc;
use crate::transfer::Request;

/// An operation that was accepted. It holds its file and its buffer.
#[derive(Debug)]
pub(crate) struct Operation {
    hip: &'static Hip,
    direction: Direction,
    file: Arc<File>,
    memory: Memory,
    size: usize,
    file_offset: i64,
    buffer_offset: i64,
}

impl Operation {
    /// Checks an entry of a submission.
    ///
    /// # Errors
    ///
    /// Those of [`Lookup::resolve`] first, then 5022 for a range outside of the buffer, a negative offset, an unknown
    /// direction or mode.
    pub(super) fn new(
        lookup: &mut Lookup<'_>,
        hip: fn() -> Result<&'static Hip, Failure>,
        entry: &hipFileIOParams_t,
    ) -> Result<Entry<Self>, Failure> {
        // SAFETY: requires that all bytes of the member are initialised; the C interface demands it.
        let place = unsafe { entry.u.batch };
        let (file, memory) = lookup.resolve(hip, entry.fh, place.devPtr_base)?;
        memory.check_range(place.devPtr_offset, place.size)?;
        let directions = [(hipFileBatchRead, Direction::Read), (hipFileBatchWrite, Direction::Write)];
        let known = directions.into_iter().find(|(opcode, _)| *opcode == entry.opcode);
        let (_, direction) = known.ok_or(Failure::INVALID_VALUE)?;
        if place.file_offset < 0 || entry.mode != hipFileBatch {
            return Err(Failure::INVALID_VALUE);
        }
        let work = Self {
            hip: hip()?,
            direction,
            file,
            memory,
            size: place.size,
            file_offset: place.file_offset,
            buffer_offset: place.devPtr_offset,
        };
        Ok(Entry { cookie: entry.cookie.expose_provenance(), work })
    }
}

impl Work for Operation {
    fn run(self) -> Outcome {
        let Self { hip, direction, ref file, ref memory, size, file_offset, buffer_offset } = self;
        let request = Request { direction, file, buffer: memory, size, file_offset, buffer_offset };
        match abi::contained(|| request.run(hip, Config::get(), Stats::get())) {
            Ok(moved) => Outcome::Complete(moved),
            Err(failure) => Outcome::Failed(failure.into_event()),
        }
    }
}
