//! Events.

use std::ffi::c_uint;
use std::ptr;
use std::sync::Arc;

use soft_rocm_faults::{Subject, point};

use super::put;
use crate::bindings::{
    hipError_t, hipErrorInvalidHandle, hipErrorInvalidValue, hipErrorNotReady, hipErrorNotSupported,
    hipEvent_t, hipEventBlockingSync, hipEventDefault, hipEventDisableSystemFence, hipEventDisableTiming,
    hipEventInterprocess, hipEventReleaseToDevice, hipEventReleaseToSystem, hipStream_t,
};
use crate::entry::{call, fault};
use crate::event::{Event, Recorded, Stamp};
use crate::last_error::answer;
use crate::runtime::{current_device, events, streams};
use crate::stream::{Work, host_function};

const FLAGS: c_uint = hipEventBlockingSync
    | hipEventDisableTiming
    | hipEventInterprocess
    | hipEventDisableSystemFence
    | hipEventReleaseToDevice
    | hipEventReleaseToSystem;

/// Creates an event.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipEventCreate(event: *mut hipEvent_t) -> hipError_t {
    // SAFETY: requires NULL or a writable place; holds by the header.
    call(point::hipEventCreate, 0, || unsafe { create(event, hipEventDefault) })
}

/// Creates an event of some kind.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipEventCreateWithFlags(event: *mut hipEvent_t, flags: c_uint) -> hipError_t {
    // SAFETY: requires NULL or a writable place; holds by the header.
    call(point::hipEventCreateWithFlags, 0, || unsafe { create(event, flags) })
}

/// Creates an event.
///
/// # Safety
///
/// `place` is NULL or writable.
unsafe fn create(place: *mut hipEvent_t, flags: c_uint) -> Result<(), hipError_t> {
    let events = events()?;
    if place.is_null() || flags & !FLAGS != 0 {
        return Err(hipErrorInvalidValue);
    }
    if flags & hipEventInterprocess != 0 {
        return Err(hipErrorNotSupported);
    }
    let handle = events.create(current_device(), flags);
    // SAFETY: requires NULL or a writable place; holds by contract.
    unsafe { put(place, ptr::without_provenance_mut(handle)) }
}

/// Destroys an event.
#[unsafe(no_mangle)]
pub extern "C" fn hipEventDestroy(event: hipEvent_t) -> hipError_t {
    call(point::hipEventDestroy, 0, || events()?.destroy(event.addr()))
}

/// Records the place a stream has come to.
#[unsafe(no_mangle)]
pub extern "C" fn hipEventRecord(event: hipEvent_t, stream: hipStream_t) -> hipError_t {
    call(point::hipEventRecord, 0, || {
        let (event, streams) = (find(event)?, streams()?);
        let stream = streams.find(stream.addr())?;
        if stream.settings().device != event.device {
            return Err(hipErrorInvalidHandle);
        }
        let stamp = Arc::new(Stamp::default());
        let point = streams.submit(&stream, Work::Stamp(Arc::clone(&stamp)), false, Vec::new())?;
        event.record(Recorded { stream, point, stamp });
        Ok(())
    })
}

/// Waits for what an event recorded.
#[unsafe(no_mangle)]
pub extern "C" fn hipEventSynchronize(event: hipEvent_t) -> hipError_t {
    call(point::hipEventSynchronize, 0, || {
        let event = find(event)?;
        host_function::may_wait()?;
        let Some(recorded) = event.recorded() else { return Ok(()) };
        recorded.point.wait();
        recorded.stream.take_error()
    })
}

/// Whether what an event recorded is done.
#[unsafe(no_mangle)]
pub extern "C" fn hipEventQuery(event: hipEvent_t) -> hipError_t {
    ready_or(|| {
        fault(point::hipEventQuery, 0, Subject::None)?;
        let Some(recorded) = find(event)?.recorded() else { return Ok(true) };
        if recorded.point.poll() { recorded.stream.take_error().map(|()| true) } else { Ok(false) }
    })
}

/// Time between two events.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipEventElapsedTime(
    ms: *mut f32,
    start: hipEvent_t,
    stop: hipEvent_t,
) -> hipError_t {
    ready_or(|| {
        fault(point::hipEventElapsedTime, 0, Subject::None)?;
        events()?;
        if ms.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let (start, stop) = (timed(start)?, timed(stop)?);
        // Both are asked, since a lazy stream starts when it is.
        if !start.point.poll() | !stop.point.poll() {
            return Ok(false);
        }
        // SAFETY: requires a writable place; holds by the header, NULL was ruled out.
        unsafe { ms.write(stop.stamp.since(&start.stamp)) };
        Ok(true)
    })
}

/// Has a stream wait for what an event recorded.
#[unsafe(no_mangle)]
pub extern "C" fn hipStreamWaitEvent(stream: hipStream_t, event: hipEvent_t, flags: c_uint) -> hipError_t {
    call(point::hipStreamWaitEvent, 0, || {
        let streams = streams()?;
        let (stream, event) = (streams.find(stream.addr())?, find(event)?);
        if flags != 0 {
            return Err(hipErrorInvalidValue);
        }
        let Some(recorded) = event.recorded() else { return Ok(()) };
        streams.submit(&stream, Work::Nothing, false, vec![recorded.point]).map(|_| ())
    })
}

fn find(event: hipEvent_t) -> Result<Arc<Event>, hipError_t> {
    events()?.find(event.addr())
}

/// What an event with times recorded.
fn timed(event: hipEvent_t) -> Result<Recorded, hipError_t> {
    let event = find(event)?;
    let has_times = event.flags & hipEventDisableTiming == 0;
    event.recorded().filter(|_| has_times).ok_or(hipErrorInvalidHandle)
}

/// Answers whether something is ready. That it is not is no failure.
pub(super) fn ready_or(question: impl FnOnce() -> Result<bool, hipError_t>) -> hipError_t {
    match question() {
        Ok(false) => hipErrorNotReady,
        other => answer(other.map(|_| ())),
    }
}
