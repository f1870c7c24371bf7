//! What one thread does: a lane is kept busy, times are taken, bytes are checked.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hipfile::Predicted;

use super::lane::Lane;
use super::latency::Histogram;
use super::pattern;
use super::plan::Settings;
use super::work::Piece;
use crate::failure::Failure;
use crate::memory;
use crate::signals;

/// What a thread has done.
#[derive(Clone, Debug)]
pub struct Tally {
    pub times: Histogram,
    pub bytes: u64,
    pub verified: u64,
    pub begun: Instant,
    pub ended: Instant,
    /// The path that the first piece was to take.
    pub predicted: Option<Predicted>,
    /// The blocks written, where they are to be checked afterwards.
    pub written: Vec<bool>,
}

/// A lane and what it is used for.
pub struct Worker<'a> {
    pub lane: Box<dyn Lane>,
    pub settings: &'a Settings,
    pub path: &'a Path,
    pub longest: usize,
    /// Set by the first thread that fails, for the others to stop.
    pub stop: &'a AtomicBool,
}

impl Worker<'_> {
    /// Fills the memory of every slot with what bench writes, and makes the first transfers.
    pub fn warm_up(&mut self, pieces: impl Iterator<Item = Piece>) -> Result<(), Failure> {
        let mut bytes = memory::zeroed(self.longest)?;
        pattern::fill(&mut bytes, self.settings.seed, 0);
        for slot in 0..self.lane.depth() {
            self.lane.put(slot, &bytes)?;
        }
        let count = usize::try_from(self.settings.warmup).unwrap_or(usize::MAX);
        self.transfer(pieces.take(count), None)?;
        self.lane.release();
        Ok(())
    }

    /// Transfers the pieces, for as long as there is time.
    pub fn transfer(
        &mut self,
        mut pieces: impl Iterator<Item = Piece>,
        time: Option<Duration>,
    ) -> Result<Tally, Failure> {
        let (writes, verify) = (self.settings.operation.writes(), self.settings.verify);
        let mut scratch = memory::zeroed(if verify { self.longest } else { 0 })?;
        let mut free: Vec<usize> = (0..self.lane.depth()).collect();
        let mut under_way: Vec<Option<(Piece, Instant)>> = vec![None; free.len()];
        let begun = Instant::now();
        let deadline = time.map(|time| begun + time);
        let over = || {
            self.stop.load(Ordering::Relaxed)
                || signals::caught().is_some()
                || deadline.is_some_and(|deadline| Instant::now() >= deadline)
        };
        let mut tally = Tally {
            times: Histogram::default(),
            bytes: 0,
            verified: 0,
            begun,
            ended: begun,
            predicted: None,
            written: Vec::new(),
        };
        let mut done = Vec::new();
        loop {
            while let Some(slot) = free.pop() {
                let Some(piece) = (if over() { None } else { pieces.next() }) else {
                    free.push(slot);
                    break;
                };
                if verify {
                    let bytes = scratch.get_mut(..piece.len).unwrap_or_default();
                    if writes {
                        pattern::fill(bytes, self.settings.seed, piece.offset);
                    } else {
                        // The bytes of an earlier read would pass for those of one that moves nothing.
                        bytes.fill(0);
                    }
                    self.lane.put(slot, bytes)?;
                }
                if let Some(place) = under_way.get_mut(slot) {
                    *place = Some((piece, Instant::now()));
                }
                self.lane.begin(slot, piece)?;
            }
            if free.len() == under_way.len() {
                break;
            }
            self.lane.finish(&mut done)?;
            let now = Instant::now();
            for slot in done.drain(..) {
                free.push(slot);
                let Some((piece, since)) = under_way.get_mut(slot).and_then(Option::take) else { continue };
                tally.times.record(now - since);
                tally.bytes += piece.len as u64;
                match (verify, writes) {
                    (false, _) => {}
                    (true, true) => mark(&mut tally.written, piece.block),
                    (true, false) => {
                        let bytes = scratch.get_mut(..piece.len).unwrap_or_default();
                        self.lane.take(slot, bytes)?;
                        check(bytes, self.settings.seed, piece.offset, self.path)?;
                        tally.verified += piece.len as u64;
                    }
                }
            }
        }
        tally.ended = Instant::now();
        Ok(tally)
    }
}

fn mark(written: &mut Vec<bool>, block: usize) {
    if written.len() <= block {
        written.resize(block + 1, false);
    }
    if let Some(mark) = written.get_mut(block) {
        *mark = true;
    }
}

/// An error that names the first byte that is not what bench writes there.
pub fn check(bytes: &[u8], seed: u64, offset: u64, path: &Path) -> Result<(), Failure> {
    let Some((index, expected)) = pattern::check(bytes, seed, offset) else { return Ok(()) };
    let found = bytes.get(index).copied().unwrap_or_default();
    let message = format!(
        "{} has a wrong byte at offset {}: {found:#04x} instead of {expected:#04x}",
        path.display(),
        offset + index as u64
    );
    let advice =
        format!("if bench did not write the file with -V and seed {seed}, do that first: -I 1 -V -k {seed}");
    Err(Failure::new(message).advice(advice))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::args::Args;

    /// Memory that each read fills, up to some number of them.
    struct Tired {
        memory: Vec<u8>,
        reads: usize,
    }

    impl Lane for Tired {
        fn begin(&mut self, _: usize, piece: Piece) -> Result<(), Failure> {
            if self.reads > 0 {
                self.reads -= 1;
                pattern::fill(&mut self.memory[..piece.len], 0, piece.offset);
            }
            Ok(())
        }

        fn put(&mut self, _: usize, bytes: &[u8]) -> Result<(), Failure> {
            self.memory[..bytes.len()].copy_from_slice(bytes);
            Ok(())
        }

        fn take(&mut self, _: usize, bytes: &mut [u8]) -> Result<(), Failure> {
            bytes.copy_from_slice(&self.memory[..bytes.len()]);
            Ok(())
        }
    }

    #[derive(Debug, clap::Parser)]
    struct Line {
        #[command(flatten)]
        args: Args,
    }

    #[test]
    fn a_read_that_moves_nothing_does_not_pass() {
        let line = <Line as clap::Parser>::parse_from(["bench", "-f", "F", "-V", "--warmup", "1"]);
        let settings = Settings::of(&line.args);
        let read = |reads| {
            let lane = Box::new(Tired { memory: vec![0; 1000], reads });
            let path = Path::new("F");
            let mut worker =
                Worker { lane, settings: &settings, path, longest: 1000, stop: &AtomicBool::new(false) };
            let again = std::iter::repeat_n(Piece { offset: 0, len: 1000, block: 0 }, 2);
            worker.warm_up(again.clone())?;
            worker.transfer(again, None).map(|tally| tally.verified)
        };
        assert_eq!(read(3).unwrap(), 2000);
        for reads in [0, 1, 2] {
            let message = read(reads).unwrap_err().to_string();
            assert!(message.starts_with("F has a wrong byte at offset 0: 0x00 instead of 0x68"), "{message}");
        }
    }
}
