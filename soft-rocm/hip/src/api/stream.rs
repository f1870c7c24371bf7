//! Streams.

use std::ffi::{c_int, c_uint};
use std::ptr;
use std::sync::Arc;

use soft_rocm_faults::{Subject, point};

use super::event::ready_or;
use super::put;
use crate::bindings::{
    hipError_t, hipErrorInvalidValue, hipStream_t, hipStreamDefault, hipStreamNonBlocking,
};
use crate::entry::{call, fault};
use crate::runtime::{current_device, streams};
use crate::stream::{Settings, Stream, host_function};

/// The least and the most urgent priority.
const PRIORITIES: (c_int, c_int) = (1, -1);

/// Creates a blocking stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamCreate(stream: *mut hipStream_t) -> hipError_t {
    // SAFETY: requires NULL or a writable place; holds by the header.
    call(point::hipStreamCreate, 0, || unsafe { create(stream, hipStreamDefault, 0) })
}

/// Creates a stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamCreateWithFlags(stream: *mut hipStream_t, flags: c_uint) -> hipError_t {
    // SAFETY: requires NULL or a writable place; holds by the header.
    call(point::hipStreamCreateWithFlags, 0, || unsafe { create(stream, flags, 0) })
}

/// Creates a stream that is more or less urgent.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamCreateWithPriority(
    stream: *mut hipStream_t,
    flags: c_uint,
    priority: c_int,
) -> hipError_t {
    // SAFETY: requires NULL or a writable place; holds by the header.
    call(point::hipStreamCreateWithPriority, 0, || unsafe { create(stream, flags, priority) })
}

/// Creates a stream.
///
/// # Safety
///
/// `place` is NULL or writable.
unsafe fn create(place: *mut hipStream_t, flags: c_uint, priority: c_int) -> Result<(), hipError_t> {
    let streams = streams()?;
    if place.is_null() || ![hipStreamDefault, hipStreamNonBlocking].contains(&flags) {
        return Err(hipErrorInvalidValue);
    }
    let priority = priority.clamp(PRIORITIES.1, PRIORITIES.0);
    let handle = streams.create(Settings { device: current_device(), flags, priority })?;
    // SAFETY: requires NULL or a writable place; holds by contract.
    unsafe { put(place, ptr::without_provenance_mut(handle)) }
}

/// The range of priorities.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceGetStreamPriorityRange(
    least_priority: *mut c_int,
    greatest_priority: *mut c_int,
) -> hipError_t {
    call(point::hipDeviceGetStreamPriorityRange, 0, || {
        streams()?;
        if !least_priority.is_null() {
            // SAFETY: requires a writable place; holds by the header, NULL was ruled out.
            unsafe { least_priority.write(PRIORITIES.0) };
        }
        if !greatest_priority.is_null() {
            // SAFETY: as above.
            unsafe { greatest_priority.write(PRIORITIES.1) };
        }
        Ok(())
    })
}

/// Destroys a stream.
#[unsafe(no_mangle)]
pub extern "C" fn hipStreamDestroy(stream: hipStream_t) -> hipError_t {
    call(point::hipStreamDestroy, 0, || streams()?.destroy(stream.addr()))
}

/// Waits for a stream.
#[unsafe(no_mangle)]
pub extern "C" fn hipStreamSynchronize(stream: hipStream_t) -> hipError_t {
    call(point::hipStreamSynchronize, 0, || {
        let streams = streams()?;
        let stream = streams.find(stream.addr())?;
        host_function::may_wait()?;
        streams.pending(&stream)?.iter().for_each(|point| point.wait());
        stream.take_error()
    })
}

/// Whether a stream is done.
#[unsafe(no_mangle)]
pub extern "C" fn hipStreamQuery(stream: hipStream_t) -> hipError_t {
    ready_or(|| {
        fault(point::hipStreamQuery, 0, Subject::None)?;
        let streams = streams()?;
        let stream = streams.find(stream.addr())?;
        // Each is asked, since a lazy stream starts when it is.
        let done = streams.pending(&stream)?.iter().filter(|point| !point.poll()).count() == 0;
        if done { stream.take_error().map(|()| true) } else { Ok(false) }
    })
}

/// Flags of a stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamGetFlags(stream: hipStream_t, flags: *mut c_uint) -> hipError_t {
    call(point::hipStreamGetFlags, 0, || {
        let settings = find(stream)?.settings();
        // SAFETY: requires NULL or a writable place; holds by the header.
        unsafe { put(flags, settings.flags) }
    })
}

/// Priority of a stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamGetPriority(stream: hipStream_t, priority: *mut c_int) -> hipError_t {
    call(point::hipStreamGetPriority, 0, || {
        let settings = find(stream)?.settings();
        // SAFETY: requires NULL or a writable place; holds by the header.
        unsafe { put(priority, settings.priority) }
    })
}

/// Device of a stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamGetDevice(stream: hipStream_t, device: *mut c_int) -> hipError_t {
    call(point::hipStreamGetDevice, 0, || {
        let settings = find(stream)?.settings();
        // SAFETY: requires NULL or a writable place; holds by the header.
        unsafe { put(device, settings.device as c_int) }
    })
}

fn find(stream: hipStream_t) -> Result<Arc<Stream>, hipError_t> {
    streams()?.find(stream.addr())
}
