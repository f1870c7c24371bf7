//! Between files and GPUs: several threads claim chunks, and each moves one between file and pinned memory while the driver moves its
//! last one between pinned memory and GPU.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::helpers::HELPERS;
use super::stage::{STAGE, Stage};
use super::{Current, Gpus};
use crate::bindings::hipError_t;
use crate::file::Direction;
use crate::stream::without_signals;

/// What is to be moved.
pub(crate) struct Transfer<'a> {
    /// All GPUs.
    pub(crate) gpus: &'a Gpus,
    /// The one.
    pub(crate) device: u32,
    /// Where in its memory.
    pub(crate) address: usize,
    /// How many bytes.
    pub(crate) len: usize,
    /// Which way.
    pub(crate) direction: Direction,
    /// Whether the file takes bytes in the order in which they are written, wherever they belong.
    pub(crate) in_order: bool,
    /// One system call on the file: host memory, length, and how far from the transfer's start; a count, or errno.
    pub(crate) io: &'a (dyn Fn(*mut c_void, usize, usize) -> Result<usize, i32> + Sync),
}

/// Where a transfer ends early, and why if it is an error.
#[derive(Clone, Copy, Debug)]
struct End {
    at: usize,
    errno: Option<i32>,
}

/// What the threads share.
struct Shared<'a> {
    transfer: &'a Transfer<'a>,
    next: AtomicUsize,
    stopped: AtomicBool,
    end: Mutex<Option<End>>,
}

impl Transfer<'_> {
    /// Moves the bytes, up to the first that can't be moved; how many.
    ///
    /// # Errors
    ///
    /// The system's if there is none before it; EIO for the driver's.
    pub(crate) fn run(&self) -> Result<usize, i32> {
        let shared = Shared {
            transfer: self,
            next: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
            end: Mutex::new(None),
        };
        let _in_use = self.gpus.using();
        if self.len <= STAGE || self.in_order {
            shared.serve();
        } else {
            shared.serve_together(self.len.div_ceil(STAGE));
        }
        match shared.end.into_inner().unwrap_or_else(PoisonError::into_inner) {
            None => Ok(self.len),
            Some(End { at: 0, errno: Some(errno) }) => Err(errno),
            Some(End { at, .. }) => Ok(at),
        }
    }
}

/// A chunk on its way through host memory.
struct Held<'a> {
    stage: Stage<'a>,
    /// How far from the transfer's start.
    at: usize,
    len: usize,
}

impl Held<'_> {
    /// Itself if the driver took it. Else nobody uses its host memory again.
    fn unless_lost(self, started: Result<(), hipError_t>) -> Result<Self, (usize, hipError_t)> {
        match started {
            Ok(()) => Ok(self),
            Err(error) => {
                let at = self.at;
                self.stage.abandon();
                Err((at, error))
            }
        }
    }
}

impl Shared<'_> {
    /// Moves that many chunks, with a helper for each but the first if there are as many.
    fn serve_together(&self, chunks: usize) {
        let helpers = HELPERS.take(chunks - 1);
        thread::scope(|scope| {
            for _ in 0..helpers.count() {
                let builder = thread::Builder::new().name("hip-file".to_owned());
                // Without another thread those that there are do all of it.
                if without_signals(|| builder.spawn_scoped(scope, || self.serve())).is_err() {
                    break;
                }
            }
            self.serve();
        });
    }

    /// Moves chunks until there is none left.
    fn serve(&self) {
        let transfer = self.transfer;
        let served = match transfer.direction {
            Direction::Read => self.read(),
            Direction::Write => self.write(),
        };
        if let Err((at, _)) = served {
            self.ends(End { at, errno: Some(libc::EIO) });
        }
    }

    /// The next chunk.
    fn claim(&self) -> Option<(usize, usize)> {
        if self.stopped.load(Ordering::Relaxed) {
            return None;
        }
        let at = self.next.fetch_add(STAGE, Ordering::Relaxed);
        let rest = self.transfer.len.checked_sub(at).filter(|rest| *rest > 0)?;
        Some((at, rest.min(STAGE)))
    }

    /// An error of HIP's comes with the place from where on nothing is known to have moved.
    fn read(&self) -> Result<(), (usize, hipError_t)> {
        let Transfer { gpus, device, address, .. } = *self.transfer;
        let mut leaving: Option<Held<'_>> = None;
        let mut current = None;
        while let Some((at, len)) = self.claim() {
            let failed = |error| (at, error);
            let stage = gpus.stage();
            let moved = stage.as_ref().map_or(0, |stage| self.system_call(stage, at, len));
            let current = enter(&mut current, gpus, device).map_err(failed)?;
            // First: what is on its way needs its host memory, whatever else ends this.
            wait_for(leaving.take(), current)?;
            let stage = stage.map_err(failed)?;
            if moved > 0 {
                let memory = stage.memory().addr();
                let held = Held { stage, at, len: moved };
                // SAFETY: requires ranges that nobody else uses until the wait; holds for a claimed chunk by the caller's
                // promise, and for the stage, which is held that long.
                let started = unsafe { current.start_copy(address + at, memory, moved) };
                leaving = Some(held.unless_lost(started)?);
            }
        }
        match current {
            Some(current) => wait_for(leaving, &current).map(|_| ()),
            None => Ok(()),
        }
    }

    fn write(&self) -> Result<(), (usize, hipError_t)> {
        let Transfer { gpus, device, address, .. } = *self.transfer;
        let mut arriving: Option<Held<'_>> = None;
        let mut current = None;
        loop {
            let claimed = self.claim();
            let Some(first) = arriving.as_ref().map(|held| held.at).or(claimed.map(|(at, _)| at)) else {
                return Ok(());
            };
            let failed = |error| (first, error);
            let current = enter(&mut current, gpus, device).map_err(failed)?;
            let arrived = wait_for(arriving.take(), current)?;
            let next = claimed.map(|(at, len)| {
                let stage = gpus.stage().map_err(|error| (at, error))?;
                let memory = stage.memory().addr();
                // SAFETY: as for reads.
                let started = unsafe { current.start_copy(memory, address + at, len) };
                Held { stage, at, len }.unless_lost(started)
            });
            if let Some(held) = arrived.filter(|held| !self.has_ended_before(held.at)) {
                self.system_call(&held.stage, held.at, held.len);
            }
            arriving = next.transpose()?;
        }
    }

    /// Moves a chunk between file and host memory; how many bytes, and the transfer ends if that is not all.
    fn system_call(&self, stage: &Stage<'_>, at: usize, len: usize) -> usize {
        let mut done = 0;
        while done < len {
            let memory = stage.memory().wrapping_add(done);
            match (self.transfer.io)(memory.cast(), len - done, at + done) {
                Ok(count) if count > 0 => done += count,
                stopped => {
                    self.ends(End { at: at + done, errno: stopped.err() });
                    break;
                }
            }
        }
        done
    }

    /// Whether the transfer ended before this place, so that what is there does not count.
    fn has_ended_before(&self, at: usize) -> bool {
        let end = || *self.end.lock().unwrap_or_else(PoisonError::into_inner);
        self.stopped.load(Ordering::Relaxed) && end().is_some_and(|end| end.at < at)
    }

    /// Notes where the transfer ends, if that is earlier than what is known.
    #[cold]
    fn ends(&self, end: End) {
        self.stopped.store(true, Ordering::Relaxed);
        let mut earliest = self.end.lock().unwrap_or_else(PoisonError::into_inner);
        if earliest.is_none_or(|known| end.at < known.at) {
            *earliest = Some(end);
        }
    }
}

/// Waits for what is on its way. If the driver can't tell, nobody uses that host memory again.
fn wait_for<'a>(
    held: Option<Held<'a>>,
    current: &Current<'_>,
) -> Result<Option<Held<'a>>, (usize, hipError_t)> {
    let Some(held) = held else { return Ok(None) };
    match current.wait() {
        Ok(()) => Ok(Some(held)),
        Err(error) => held.unless_lost(Err(error)).map(Some),
    }
}

/// The device's context, from the first use on.
fn enter<'c, 'a>(
    place: &'c mut Option<Current<'a>>,
    gpus: &'a Gpus,
    device: u32,
) -> Result<&'c Current<'a>, hipError_t> {
    match place {
        Some(current) => Ok(current),
        None => Ok(place.insert(gpus.enter(device)?)),
    }
}
