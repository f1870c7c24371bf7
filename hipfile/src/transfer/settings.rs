//! How a transfer is to go.

use std::time::Instant;

use super::cancel::CancelToken;
use super::piece::UNIT;
use crate::error::Cause;
use crate::io::MAX_TRANSFER;

/// Threads, if nobody says how many. More wait for storage than there are processors.
const THREADS: usize = 4;

/// The length of a chunk, if nobody says how long. AMD's fallback maps and touches 16 MiB of host memory in each call, which
/// takes longer than moving as many bytes, so short chunks spend their time there.
const CHUNK: usize = 64 << 20;

#[derive(Debug, Clone, Default)]
pub(super) struct Settings {
    threads: Option<usize>,
    chunk: Option<usize>,
    pub deadline: Option<Instant>,
    pub cancel: Option<CancelToken>,
}

impl Settings {
    pub fn set_threads(&mut self, threads: usize) {
        self.threads = Some(threads.max(1));
    }

    pub fn set_chunk(&mut self, bytes: usize) {
        // MAX_TRANSFER is one page short of a multiple.
        let longest = MAX_TRANSFER.saturating_sub(MAX_TRANSFER % UNIT);
        let units = bytes.checked_next_multiple_of(UNIT).unwrap_or(longest);
        self.chunk = Some(units.clamp(UNIT, longest));
    }

    /// How many threads may work, the caller's among them.
    pub fn threads(&self) -> usize {
        self.threads.unwrap_or(THREADS)
    }

    /// The length of a chunk, a multiple of [`UNIT`].
    pub fn chunk(&self) -> usize {
        self.chunk.unwrap_or(CHUNK)
    }

    /// How many threads have something to do in a transfer of so many bytes.
    pub fn threads_for(&self, total: u64) -> usize {
        let chunks = total.div_ceil(self.chunk() as u64);
        usize::try_from(chunks).unwrap_or(usize::MAX).clamp(1, self.threads())
    }

    /// Why no other chunk may begin.
    pub fn refusal(&self) -> Option<Cause> {
        if self.cancel.as_ref().is_some_and(CancelToken::is_cancelled) {
            return Some(Cause::Stopped);
        }
        let deadline = self.deadline?;
        (Instant::now() >= deadline).then_some(Cause::DeadlinePassed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_units_between_bounds() {
        let mut settings = Settings::default();
        assert_eq!(settings.chunk(), CHUNK);
        assert_eq!(settings.threads_for(CHUNK as u64), 1);
        for (given, taken) in [(0, UNIT), (1, UNIT), (UNIT + 1, 2 * UNIT), (usize::MAX, 0x7fff_0000)] {
            settings.set_chunk(given);
            assert_eq!(settings.chunk(), taken);
        }
        assert_eq!((settings.threads_for(0), settings.threads_for(0x7fff_0001)), (1, 2));
        settings.set_threads(0);
        assert_eq!((settings.threads(), settings.threads_for(u64::MAX)), (1, 1));
    }
}
