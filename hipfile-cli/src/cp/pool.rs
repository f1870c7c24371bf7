//! The jobs: threads that claim chunks, so that one reads while others write.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::lane::{Lane, Moved, Work, name};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::signals;

/// Moves all chunks, each lane by a thread of its own; what they moved. The failure at the lowest offset is told.
pub fn run(
    work: Work<'_>,
    lanes: &mut [Lane],
    chunks: impl Iterator<Item = Range<u64>> + Send,
    progress: &Progress,
) -> Result<Moved, Failure> {
    let pool = Pool {
        work,
        chunks: Mutex::new(chunks),
        stopped: AtomicBool::new(false),
        failed: Mutex::new(None),
        bytes: AtomicU64::new(0),
        cached: AtomicU64::new(0),
        progress,
    };
    if let Some((own, others)) = lanes.split_first_mut() {
        thread::scope(|scope| {
            for lane in others {
                let pool = &pool;
                let started =
                    thread::Builder::new().name("hipfile-cp".into()).spawn_scoped(scope, || pool.serve(lane));
                // Without another thread those that there are do all of it.
                if started.is_err() {
                    break;
                }
            }
            pool.serve(own);
        });
    }
    match pool.failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some((_, failure)) => Err(failure),
        None => {
            let moved = Moved { bytes: pool.bytes.into_inner(), cached: pool.cached.into_inner() };
            interrupted(work).map_or(Ok(moved), Err)
        }
    }
}

/// What the threads share.
struct Pool<'a, I> {
    work: Work<'a>,
    chunks: Mutex<I>,
    /// Whether no chunk is to begin any more.
    stopped: AtomicBool,
    failed: Mutex<Option<(u64, Failure)>>,
    bytes: AtomicU64,
    cached: AtomicU64,
    progress: &'a Progress,
}

impl<I: Iterator<Item = Range<u64>>> Pool<'_, I> {
    fn serve(&self, lane: &mut Lane) {
        while !self.stopped.load(Ordering::Relaxed) && signals::caught().is_none() {
            let next = self.chunks.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some(range) = next else { break };
            match lane.perform(&self.work, &range) {
                Ok(moved) => {
                    self.bytes.fetch_add(moved.bytes, Ordering::Relaxed);
                    self.cached.fetch_add(moved.cached, Ordering::Relaxed);
                    self.progress.add(range.end.saturating_sub(range.start));
                }
                Err(failure) => self.fail(range.start, failure),
            }
        }
    }

    #[cold]
    fn fail(&self, at: u64, failure: Failure) {
        self.stopped.store(true, Ordering::Relaxed);
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        if failed.as_ref().is_none_or(|(before, _)| at < *before) {
            *failed = Some((at, failure));
        }
    }
}

/// The failure that a signal is, if one came.
pub fn interrupted(work: Work<'_>) -> Option<Failure> {
    signals::caught().map(|_| {
        let failure = Failure::new(format!("interrupted while {} was copied", name(work.from)));
        failure.advice(format!("{} is what it was", name(work.to)))
    })
}
