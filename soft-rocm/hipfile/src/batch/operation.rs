//! One operation of a batch.

use hipfile_sys::{hipFileBatch, hipFileBatchRead, hipFileBatchWrite, hipFileIOParams_t};

use super::queue::Work;
use super::state::{Entry, Event, Outcome};
use crate::abi;
use crate::config::Config;
use crate::driver::{Lookup, Memory};
use crate::failure::Failure;
use crate::file::File;
use crate::hip::Hip;
use crate::stats::{Direction, Stats};
use crate::sync::Arc;
use crate::transfer::{Request, read_together};

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
    /// Whether it may be done in one go with others.
    is_small_read: bool,
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
        let mut work = Self {
            hip: hip()?,
            direction,
            file,
            memory,
            size: place.size,
            file_offset: place.file_offset,
            buffer_offset: place.devPtr_offset,
            is_small_read: false,
        };
        work.is_small_read = work.request().is_small_read(work.hip, Config::get());
        Ok(Entry { cookie: entry.cookie.expose_provenance(), work })
    }
}

impl Operation {
    fn request(&self) -> Request<'_> {
        let Self { direction, ref file, ref memory, size, file_offset, buffer_offset, .. } = *self;
        Request { direction, file, buffer: memory, size, file_offset, buffer_offset }
    }

    fn run_alone(&self) -> Outcome {
        match abi::contained(|| self.request().run(self.hip, Config::get(), Stats::get())) {
            Ok(moved) => Outcome::Complete(moved),
            Err(failure) => Outcome::Failed(failure.into_event()),
        }
    }
}

impl Work for Operation {
    fn joins(&self, next: &Self) -> bool {
        self.is_small_read && next.is_small_read && self.request().joins(&next.request())
    }

    fn run(group: &mut Vec<Entry<Self>>, ended: &mut Vec<Event>) {
        let done = match group.as_slice() {
            [] | [_] => 0,
            [first, ..] => {
                let requests = group.iter().map(|entry| entry.work.request());
                abi::contained(|| Ok(read_together(first.work.hip, Stats::get(), requests))).unwrap_or(0)
            }
        };
        for (place, Entry { cookie, work }) in group.drain(..).enumerate() {
            let outcome = if place < done { Outcome::Complete(work.size) } else { work.run_alone() };
            ended.push(Event { cookie, outcome });
        }
    }
}
