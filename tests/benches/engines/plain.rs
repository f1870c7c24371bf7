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

/// Threads that each read an equal part of the file, in order, as [`Threads`](crate::threads::Threads) do.
pub struct Plain {
    // The team ends before the memory goes.
    team: Team,
    _memory: Vec<u8>,
}

impl Plain {
    pub fn new(stage: &Stage, row: &Row, threads: usize) -> Self {
        // Written to, so that no page is missing.
        let mut memory = vec![1; row.bytes()];
        let shared = Shared(memory.as_mut_ptr());
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
