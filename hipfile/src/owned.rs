//! What a transfer on a stream owns until the stream has passed it.
//!
//! # The argument
//! *The device uses nothing that is gone.*
//! 1. All that the library and HIP are given pointers to is in one [`Owned`], at an address that does not change while the
//!    operation is under way, or is owned by it: slots and late values, file, region, the stream's registration.
//! 2. An `Owned` is taken out of the operation, and so back to the caller or dropped, only when the stream has provably
//!    passed it, also if the submission failed. If that can't be proven it is leaked.
//! 3. What moves is within the region: the values as they were submitted, or late ones that were checked. A mixture can be
//!    met only while the transfer is being submitted, and only of values that the library reads again when the stream comes
//!    to it, since late values need a stream that we registered, and respect what it was promised there.
#![allow(unsafe_code, reason = "hands out pointers into what a transfer owns")]

use std::ffi::c_void;
use std::ptr;
use std::sync::{Arc, OnceLock};

use hip_alloc::{Payload, Started, Stream};

use crate::error::Cause;
use crate::ffi::streams::Slots;
use crate::file::FileHandle;
use crate::io::{Way, hip_cause};
use crate::late::Late;
use crate::on_stream;
use crate::op_error::OpError;
use crate::outcome::{Done, OwnedTransfer, TransferError};
use crate::region::Region;
use crate::registered_stream::RegisteredStream;
use crate::request::Request;
use crate::trace::{Mode, Trace};

struct Owned {
    slots: Slots,
    late: Option<Box<Late>>,
    /// Why it was not submitted, or what the library answered.
    failed: OnceLock<Cause>,
    way: Way,
    file: Arc<FileHandle>,
    region: Region,
    offset: u64,
    /// From the submission to the end.
    trace: Trace,
    /// Kept so that the stream stays registered.
    _registration: Option<RegisteredStream>,
}

/// Late values are asked for on a thread of HIP, while the thread that submits uses the same `Owned`.
const _: fn() = || {
    fn shared<T: Sync>() {}
    shared::<Owned>();
};

/// Puts the request on `stream`, with its registration if it has one.
pub(crate) fn submit(
    request: Request,
    stream: &Stream,
    registration: Option<RegisteredStream>,
) -> OwnedTransfer {
    let Request { way, file, region, offset, late, place, tag: _ } = request;
    let (slots, failed) = match on_stream::slots(way, &file, region.span(), offset, stream.as_ref()) {
        Ok(slots) => (slots, OnceLock::new()),
        Err(cause) => (Slots::new(0, 0, 0), OnceLock::from(cause)),
    };
    let flags = registration.as_ref().map(RegisteredStream::flags);
    let bytes = region.span().bytes();
    let late = late.map(|closure| Box::new(Late::new(closure, bytes, offset, slots.size(), flags)));
    let trace = Trace::of(file.work(way, Mode::Owned, offset, region.len()));
    let owned = Owned { slots, late, failed, way, file, region, offset, trace, _registration: registration };
    // SAFETY: requires that all use of the payload's memory, and of what it owns, is on `stream`; holds because `enqueue`
    // puts one transfer and one host function there, and hands pointers to nobody else.
    unsafe { hip_alloc::start(stream, owned, place, |owned| owned.enqueue(stream)) }
}

impl Owned {
    /// Puts the transfer on the stream. Shared from here on: the stream may come to it at once.
    fn enqueue(&self, stream: &Stream) -> Started {
        if self.failed.get().is_some() || self.region.is_empty() {
            return Started::Nothing;
        }
        if let Some(late) = &self.late {
            if let Err(cause) = late.admit() {
                self.fail(cause);
                return Started::Nothing;
            }
            if let Err(cause) = self.launch_late(stream) {
                self.fail(cause);
                // The error may be that of earlier work, and the function be called all the same.
                return Started::Enqueued;
            }
        }
        let mut answer = self.transfer(stream);
        if let (Err(cause), Some(late)) = (&answer, &self.late) {
            // Refused before anything was enqueued, perhaps over values of which only some were late already.
            let refused = matches!(cause, Cause::Op(OpError::InvalidValue | OpError::InternalError));
            if refused && late.is_done() {
                answer = self.transfer(stream);
            }
        }
        if let Err(cause) = answer {
            self.fail(cause);
        }
        Started::Enqueued
    }

    /// Puts the closure for late values on the stream.
    fn launch_late(&self, stream: &Stream) -> Result<(), Cause> {
        let data = ptr::from_ref(self).cast_mut().cast::<c_void>();
        // SAFETY: requires a function that may be called once with the data until the stream has passed, and does not unwind;
        // holds because the data is this `Owned`, which stays until then, and `Late::run` catches panics.
        unsafe { hip_alloc::launch_host_function(self.way.name(), stream.as_ref(), run_late, data) }
            .map_err(hip_cause)
    }

    fn transfer(&self, stream: &Stream) -> Result<(), Cause> {
        let Self { way, file, region, slots, .. } = self;
        // SAFETY: requires the stream's device to be current, and that until the stream has passed, also after an error, slots
        // and file stay, and the slots name exclusive device memory; holds because this is called in `hip_alloc::start`, which
        // keeps `self`, with both of them and the region, and the slots name bytes of the region only.
        unsafe { on_stream::submit(*way, file, region.span().base, slots, stream.as_ref()) }
    }

    fn fail(&self, cause: Cause) {
        // The first one tells more, and is the only one.
        _ = self.failed.set(cause);
    }
}

/// The host function ahead of a transfer with late values.
unsafe extern "C" fn run_late(data: *mut c_void) {
    // SAFETY: requires an `Owned` that stays during the call and is only shared; holds because `launch_late` gave it, the
    // stream has not passed the operation while it calls this, and `enqueue` shares it only.
    let owned: &Owned = unsafe { &*data.cast_const().cast() };
    if let Some(late) = &owned.late {
        late.run(&owned.slots);
    }
}

// SAFETY: requires that what the stream writes is in an UnsafeCell; holds because the slots are atomics, and the late values
// have a Mutex, an atomic and a OnceLock.
unsafe impl Payload for Owned {
    type Output = Result<Done, TransferError>;

    fn finish(self, outcome: hip_alloc::Result<()>) -> Self::Output {
        let Self { slots, late, failed, way, file, region, offset, trace, .. } = self;
        // What is known best goes first: without late values the library was given none that it could take.
        let failed = late.and_then(|late| late.into_refusal()).or(failed.into_inner());
        let answer = match (failed, outcome) {
            (Some(cause), _) => Err(cause),
            (None, Err(error)) => Err(hip_cause(error)),
            (None, Ok(())) => slots.result(),
        };
        match answer {
            Ok(bytes) => {
                trace.moved(bytes as u64);
                Ok(Done { region, bytes })
            }
            Err(cause) => {
                let error = file.failed(way, cause, region.span(), offset, 0);
                trace.failed(&error);
                Err(TransferError::new(error, Some(region)))
            }
        }
    }

    fn lost(&self, error: hip_alloc::Error) -> Self::Output {
        let Self { way, file, region, offset, .. } = self;
        let error = file.failed(*way, hip_cause(error), region.span(), *offset, 0);
        self.trace.failed(&error);
        Err(TransferError::new(error, None))
    }

    fn leaked_bytes(&self) -> usize {
        self.region.len()
    }
}
