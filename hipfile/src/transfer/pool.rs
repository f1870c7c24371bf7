//! The threads of a transfer.

use std::mem;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Instant;

use super::piece::Piece;
use super::report::{Progress, Report, Tally};
use super::schedule::{Chunk, Phase, phases};
use super::settings::Settings;
use super::stopped::Stopped;
use crate::error::{Cause, Error};
use crate::system;
use crate::trace::Trace;

/// Told of progress. Its answer says whether to go on.
pub(super) type Watcher<'a> = dyn FnMut(Progress) -> ControlFlow<()> + Send + 'a;

/// So many bytes take long enough for the question about their path, which opens the file and reads the mount table.
const EXPLAINED: u64 = 16 << 20;

/// Checks all pieces and moves them, and returns when no thread works on them any more, also by unwinding out of `watcher`,
/// which is called on this thread. `moved` counts bytes meanwhile.
pub(super) fn run(
    pieces: &[Piece<'_>],
    settings: &Settings,
    moved: &AtomicU64,
    watcher: Option<&mut Watcher<'_>>,
    trace: &Trace,
) -> Result<Report, Stopped> {
    let answer = trace.within(|| move_all(pieces, settings, moved, watcher, trace));
    let report = answer.as_ref().unwrap_or_else(Stopped::report);
    trace.moved(report.bytes);
    trace.explained(report.predicted.as_ref());
    if let Err(stopped) = &answer {
        trace.failed(stopped.error());
    }
    answer
}

fn move_all(
    pieces: &[Piece<'_>],
    settings: &Settings,
    moved: &AtomicU64,
    watcher: Option<&mut Watcher<'_>>,
    trace: &Trace,
) -> Result<Report, Stopped> {
    let began = Instant::now();
    let total = pieces.last().map_or(0, Piece::end);
    for piece in pieces {
        if let Err(error) = piece.check() {
            return Err(Stopped::before(error, total));
        }
    }
    let mut watcher = Watch { watcher, total, last: 0, moved };
    let chunk = settings.chunk();
    let transfer = Transfer {
        pieces,
        settings,
        chunk,
        moved,
        stopped: AtomicBool::new(false),
        failed: Mutex::new(None),
        refused: OnceLock::new(),
        trace,
    };
    let mut tally = Tally::default();
    let mut threads = 1;
    for phase in phases(pieces, chunk) {
        let helpers = settings.threads().min(phase.chunks()).saturating_sub(1);
        let (done, started) = transfer.phase(&phase, helpers, &mut watcher);
        tally.join(done);
        threads = threads.max(started.saturating_add(1));
    }
    // There is nothing left that its answer could stop.
    _ = watcher.look();
    let mut report = tally.report(total, threads, began.elapsed());
    if total >= EXPLAINED {
        let longest = pieces.iter().max_by_key(|piece| piece.len());
        report.predicted = longest.and_then(|piece| piece.explain(chunk));
    }
    match transfer.failure(&report) {
        None => Ok(report),
        Some(error) => Err(Stopped::new(error, report)),
    }
}

/// What the threads share.
struct Transfer<'a> {
    pieces: &'a [Piece<'a>],
    settings: &'a Settings,
    chunk: usize,
    moved: &'a AtomicU64,
    /// Whether no chunk is to begin any more.
    stopped: AtomicBool,
    /// The failure at the lowest position.
    failed: Mutex<Option<(u64, Error)>>,
    /// Why chunks were left undone though none failed.
    refused: OnceLock<Cause>,
    trace: &'a Trace,
}

impl Transfer<'_> {
    /// Moves the chunks of one phase, with so many threads beside this one if they can be had. Tells how many there were.
    fn phase(&self, phase: &Phase, helpers: usize, watcher: &mut Watch<'_, '_>) -> (Tally, usize) {
        let next = &AtomicUsize::new(0);
        thread::scope(|scope| {
            let start = |number| {
                let work = move || {
                    self.trace.within(|| self.work(phase, next, number, || ControlFlow::Continue(())))
                };
                // Without another thread those that there are do all of it.
                thread::Builder::new().name("hipfile-transfer".to_owned()).spawn_scoped(scope, work).ok()
            };
            let helpers: Vec<_> = (1..=helpers).map_while(start).collect();
            let started = helpers.len();
            let unwinding = StopOnDrop(&self.stopped);
            let mut tally = self.work(phase, next, 0, || watcher.look());
            mem::forget(unwinding);
            for helper in helpers {
                // None panics; the scope would pass it on.
                tally.join(helper.join().unwrap_or_default());
            }
            (tally, started)
        })
    }

    /// Moves chunks until there are none left, as the thread of this number, and calls `then` after each.
    fn work(
        &self,
        phase: &Phase,
        next: &AtomicUsize,
        thread: usize,
        mut then: impl FnMut() -> ControlFlow<()>,
    ) -> Tally {
        let began = system::thread_time();
        let mut tally = Tally::default();
        while let Some((piece, chunk)) = self.claim(phase, next) {
            let at = chunk.at as u64;
            let outcome = piece.perform(chunk.at, chunk.len, thread);
            let done = match &outcome {
                Ok(()) => chunk.len as u64,
                Err(error) => (error.bytes_done() as u64).saturating_sub(at),
            };
            let start = piece.start().saturating_add(at);
            tally.add(start..start.saturating_add(done), chunk.direct);
            self.moved.fetch_add(done, Ordering::Relaxed);
            if let Err(error) = outcome {
                self.fail(start, error);
            }
            if then().is_break() {
                self.refuse(Cause::Stopped);
            }
        }
        tally.cpu = system::thread_time().saturating_sub(began);
        tally
    }

    /// The next chunk, if one is to be moved.
    fn claim(&self, phase: &Phase, next: &AtomicUsize) -> Option<(&Piece<'_>, Chunk)> {
        if self.stopped.load(Ordering::Relaxed) {
            return None;
        }
        // Each thread goes past the end once.
        let chunk = phase.get(next.fetch_add(1, Ordering::Relaxed), self.chunk)?;
        if let Some(cause) = self.settings.refusal() {
            self.refuse(cause);
            return None;
        }
        self.pieces.get(chunk.piece).map(|piece| (piece, chunk))
    }

    #[cold]
    fn refuse(&self, cause: Cause) {
        self.stopped.store(true, Ordering::Relaxed);
        // The first one is reported.
        _ = self.refused.set(cause);
    }

    #[cold]
    fn fail(&self, position: u64, error: Error) {
        self.stopped.store(true, Ordering::Relaxed);
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        if failed.as_ref().is_none_or(|(before, _)| position < *before) {
            *failed = Some((position, error));
        }
    }

    /// What the transfer ends with, once all threads have ended.
    fn failure(self, report: &Report) -> Option<Error> {
        if let Some((_, error)) = self.failed.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Some(error);
        }
        let cause = self.refused.into_inner()?;
        let reached = report.contiguous();
        let piece = self.pieces.iter().find(|piece| reached < piece.end())?;
        let done = reached.saturating_sub(piece.start());
        Some(piece.error(cause, usize::try_from(done).unwrap_or(usize::MAX)))
    }
}

/// Keeps other threads from beginning a chunk once this one unwinds.
struct StopOnDrop<'a>(&'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Who is told, and what was told last.
struct Watch<'a, 'b> {
    watcher: Option<&'a mut Watcher<'b>>,
    total: u64,
    last: u64,
    moved: &'a AtomicU64,
}

impl Watch<'_, '_> {
    /// Tells what has moved, if that is more than before.
    fn look(&mut self) -> ControlFlow<()> {
        let Some(watcher) = &mut self.watcher else { return ControlFlow::Continue(()) };
        let bytes = self.moved.load(Ordering::Relaxed);
        if bytes > self.last {
            self.last = bytes;
            return watcher(Progress { bytes, total: self.total });
        }
        ControlFlow::Continue(())
    }
}
