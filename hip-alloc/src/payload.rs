//! What an operation owns, and how one is started.
#![allow(unsafe_code, reason = "hands out pointers into what an operation owns, and takes it out at the end")]

use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::mem::{self, ManuallyDrop};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use crate::completion::{COMPLETION, Completion, Watched};
use crate::error::{Error, Result};
use crate::event::Event;
use crate::ffi::Functions;
use crate::guard::DeviceGuard;
use crate::hip_error::HipError;
use crate::in_flight::Place;
use crate::operation::{Operation, Pending};
use crate::progress::{Outcome, Progress};
use crate::stream::Stream;
use crate::table;

const OPERATION: &str = "Operation::start";

/// What an operation owns while the stream works on it: in/out values, memory, files.
///
/// # Safety
/// What the stream's work writes through pointers that were taken in [`start`] is inside of an [`UnsafeCell`], or outside of
/// the value itself; [`lost`](Self::lost) and [`leaked_bytes`](Self::leaked_bytes) do not look there.
pub unsafe trait Payload: Send + 'static {
    /// What the owner of the operation gets.
    type Output: Send + 'static;

    /// The result, which is dropped if the operation was. `Ok`: the stream has provably done everything that `start` enqueued,
    /// or that was nothing. `Err`: `start` was not called.
    fn finish(self, outcome: Result<()>) -> Self::Output;

    /// The result if nobody knows whether the stream still works on it: the payload is leaked and counted.
    fn lost(&self, error: Error) -> Self::Output;

    /// How much device memory is leaked with the payload, in bytes.
    fn leaked_bytes(&self) -> usize;
}

/// What a call of [`start`] has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Started {
    /// The stream was given nothing, so the operation has ended.
    Nothing,
    /// The stream was given something, or may have been.
    Enqueued,
}

/// Puts `payload` where it stays and calls `start`, which enqueues work on `stream`, whose device is current meanwhile.
///
/// Never fails: whatever goes wrong comes out of the payload, by its own account or in [`Payload::finish`]. If `start`
/// panics, that counts as [`Started::Enqueued`], and the panic goes on.
///
/// # Safety
/// All work that uses pointers into the payload, or what the payload owns, is on `stream` when `start` returns or panics,
/// and its use ends there.
pub unsafe fn start<P: Payload>(
    stream: &Stream,
    payload: P,
    place: Option<Place>,
    start: impl FnOnce(&mut P) -> Started,
) -> Operation<P::Output> {
    // SAFETY: requires what our caller promises.
    unsafe { start_with(&COMPLETION, stream, payload, place, start) }
}

/// As [`start`], with a completion thread that is not the process's.
///
/// # Safety
/// As [`start`].
pub(crate) unsafe fn start_with<P: Payload>(
    completion: &'static Completion,
    stream: &Stream,
    payload: P,
    place: Option<Place>,
    start: impl FnOnce(&mut P) -> Started,
) -> Operation<P::Output> {
    let ready = ready(completion, stream);
    // What does not start needs no place, and in a forked child nobody could be told of one.
    let place = place.filter(|_| ready.is_ok());
    let progress = Progress::new(completion, stream.clone(), place, payload.leaked_bytes());
    let shared = Arc::new(Shared { progress, payload: UnsafeCell::new(ManuallyDrop::new(payload)) });
    let operation = Operation::new(shared.clone());
    match ready {
        Err(error) => shared.progress.end(Outcome::NotStarted(error)),
        Ok((hip, _guard)) => {
            // SAFETY: requires that nobody else has a reference; holds because the payload is not taken before the end, which
            // comes below.
            let payload = unsafe { &mut *shared.payload.get() };
            match catch_unwind(AssertUnwindSafe(|| start(payload))) {
                Ok(Started::Nothing) => shared.progress.end(Outcome::Passed),
                Ok(Started::Enqueued) => follow(hip, stream, &shared),
                Err(panic) => {
                    follow(hip, stream, &shared);
                    drop(operation);
                    resume_unwind(panic);
                }
            }
        }
    }
    shared.progress.watch_place(|| shared.clone());
    operation
}

/// All that enqueuing on `stream` needs: HIP, whose current device it is until the guard is dropped, and the thread.
fn ready(completion: &'static Completion, stream: &Stream) -> Result<(&'static Functions, DeviceGuard)> {
    let hip = table::functions(OPERATION)?;
    completion.start(OPERATION)?;
    Ok((hip, stream.device().enter(OPERATION, hip)?))
}

/// Arranges that the end of what the stream was given so far becomes known.
fn follow<P: Payload>(hip: &Functions, stream: &Stream, shared: &Arc<Shared<P>>) {
    let data = Arc::into_raw(Arc::clone(shared)).cast_mut().cast::<c_void>();
    // SAFETY: requires a live stream and a function that may be called once with the data; holds because `stream` is one, and
    // the data is a reference of its own.
    let launched = unsafe { hip.launch_host_function(stream.as_ref().raw(), passed::<P>, data) };
    match launched {
        Some(Ok(())) => return,
        // The error may be that of earlier work, and the function be called all the same: the reference stays for it.
        Some(Err(failure)) if failure.error != HipError::NOT_SUPPORTED => {}
        // SAFETY: requires a reference from into_raw that nobody else has; holds because HIP has no use for it.
        _ => drop(unsafe { Arc::from_raw(data.cast_const().cast::<Shared<P>>()) }),
    }
    let recorded = Event::new().and_then(|event| event.record(stream.as_ref()).map(|()| event));
    match recorded {
        Ok(event) => shared.progress.follow(event, || shared.clone()),
        Err(_) => {
            // SAFETY: requires a live stream; holds because `stream` is one.
            let synchronized = unsafe { hip.synchronize_stream(stream.as_ref().raw()) };
            shared.progress.end(match synchronized {
                Ok(()) => Outcome::Passed,
                Err(failure) => Outcome::Lost(Error::hip(OPERATION)(failure)),
            });
        }
    }
}

/// The host function behind each operation.
unsafe extern "C" fn passed<P: Payload>(data: *mut c_void) {
    // SAFETY: requires a reference from into_raw that nobody else has; holds because `follow` made it for this call.
    let shared = unsafe { Arc::from_raw(data.cast_const().cast::<Shared<P>>()) };
    shared.progress.end(Outcome::Passed);
    // If this is the last reference, the payload was taken before: the owner, or the completion thread for it, has another
    // one until then. Only memory is freed.
}

/// The one allocation of an operation.
struct Shared<P: Payload> {
    progress: Progress,
    /// There until `progress` says that it was taken; for ever if the operation is lost.
    payload: UnsafeCell<ManuallyDrop<P>>,
}

// SAFETY: requires that references from several threads do no harm; holds because the progress is shared by locks, and the
// payload, which may be sent, is reached only by `start_with`, before anybody else has it, and by the one who takes it.
unsafe impl<P: Payload> Sync for Shared<P> {}

impl<P: Payload> Shared<P> {
    /// The payload, if the operation has ended and nobody took it: with what `finish` is told, or why it is lost and stays.
    fn take(self: &Arc<Self>) -> Option<core::result::Result<(P, Result<()>), Error>> {
        let outcome = match self.progress.take()? {
            Outcome::Passed => Ok(()),
            Outcome::NotStarted(error) => Err(error),
            Outcome::Lost(error) => {
                mem::forget(Arc::clone(self));
                return Some(Err(error));
            }
        };
        // SAFETY: requires a payload that is there and used by nobody; holds because the stream has passed it or was never
        // given it, and the progress lets one caller take it.
        let payload = unsafe { self.payload.get().cast::<P>().read() };
        Some(Ok((payload, outcome)))
    }
}

impl<P: Payload> Watched for Shared<P> {
    fn progress(&self) -> &Progress {
        &self.progress
    }

    fn discard(self: Arc<Self>) {
        // Nobody takes the result, but the payload may have somebody to tell.
        if let Some(Ok((payload, outcome))) = self.take() {
            drop(payload.finish(outcome));
        }
    }
}

impl<P: Payload> Pending<P::Output> for Shared<P> {
    fn progress(&self) -> &Progress {
        &self.progress
    }

    fn watched(self: Arc<Self>) -> Arc<dyn Watched> {
        self
    }

    fn result(self: Arc<Self>) -> Option<P::Output> {
        Some(match self.take()? {
            Ok((payload, outcome)) => payload.finish(outcome),
            Err(error) => self.lost(error),
        })
    }

    fn lost(&self, error: Error) -> P::Output {
        // SAFETY: requires a payload that is there, and that nobody else has a reference that allows more than sharing; holds
        // because `start_with` is done with its own before anybody asks, and whoever finds the operation lost, or a copy of it
        // in a forked child, keeps it from being taken. What a stream may write meanwhile is not looked at.
        let payload = unsafe { &*self.payload.get() };
        payload.lost(error)
    }
}
