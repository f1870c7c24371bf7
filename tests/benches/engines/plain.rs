//! What everything is compared with: pread into ordinary memory.

use crate::Result;
use crate::rows::Row;
use crate::stage::Stage;
use crate::team::Team;

/// A way of making all reads of a row once.
pub trait Round {
    fn round(&mut self) -> Result<()>;
}

/// Ordinary memory that several threads write to, each its own part.
struct Shared(*mut u8);

// SAFETY: requires that no two threads touch a byte at the same time; holds because each thread has its own part.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Shared {
    fn at(&self, offset: usize) -> *mut u8 {
        self.0.wrapping_add(offset)
    }
}

/// Ordinary memory that starts at a page, as device memory does: copying to other addresses takes twice as long on some
/// processors.
struct Pages {
    memory: Vec<u8>,
    start: usize,
}

const PAGE: usize = 4096;

impl Pages {
    fn new(len: usize) -> Self {
        // Written to, so that no page is missing.
        let memory = vec![1; len + PAGE];
        let start = memory.as_ptr().align_offset(PAGE);
        Self { memory, start }
    }

    fn shared(&mut self) -> Shared {
        Shared(self.memory[self.start..].as_mut_ptr())
    }
}

/// Threads that each read an equal part of the file, in order, as [`Threads`](crate::threads::Threads) do.
pub struct Plain {
    // The team ends before the memory goes.
    team: Team,
    _memory: Pages,
}

impl Plain {
    pub fn new(stage: &Stage, row: &Row, threads: usize) -> Self {
        let mut memory = Pages::new(row.bytes());
        let shared = memory.shared();
        let (fd, len, each) = (stage.fd(), row.len, row.count / threads);
        let team = Team::new(threads, move |member| {
            (member * each..(member + 1) * each).all(|i| {
                let place = shared.at(i * len).cast();
                // SAFETY: requires len writable bytes; holds because the memory has count times as many and outlives
                // the team.
                let n = unsafe { libc::pread(fd, place, len, (i * len) as i64) };
                n == len as isize
            })
        });
        Self { team, _memory: memory }
    }
}

impl Round for Plain {
    fn round(&mut self) -> Result<()> {
        self.team.round()
    }
}
