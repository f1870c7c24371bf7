//! Functions of the program that a stream calls.

use std::ffi::{c_uint, c_void};

use soft_rocm_faults::point;

use crate::bindings::{hipError_t, hipErrorInvalidValue, hipHostFn_t, hipStream_t, hipStreamCallback_t};
use crate::entry::call;
use crate::runtime::streams;
use crate::stream::Work;

/// Calls a function in stream order.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipLaunchHostFunc(
    stream: hipStream_t,
    fn_: hipHostFn_t,
    user_data: *mut c_void,
) -> hipError_t {
    call(point::hipLaunchHostFunc, 0, || launch(stream, fn_, user_data, false))
}

/// An addition of ours: as [`hipLaunchHostFunc`], but it may overlap with adjacent calls launched this way. What else is
/// on the stream waits for all of them, and they wait for all before. Scripted faults of [`hipLaunchHostFunc`] apply.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn softrocm_launch_concurrent(
    stream: hipStream_t,
    fn_: hipHostFn_t,
    user_data: *mut c_void,
) -> hipError_t {
    call(point::hipLaunchHostFunc, 0, || launch(stream, fn_, user_data, true))
}

/// Calls a function that is told the stream, in stream order.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamAddCallback(
    stream: hipStream_t,
    callback: hipStreamCallback_t,
    user_data: *mut c_void,
    flags: c_uint,
) -> hipError_t {
    let work = Work::Callback { function: callback, stream, data: user_data };
    call(point::hipStreamAddCallback, 0, || submit(stream, callback.is_some() && flags == 0, work, false))
}

fn launch(
    stream: hipStream_t,
    function: hipHostFn_t,
    data: *mut c_void,
    concurrent: bool,
) -> Result<(), hipError_t> {
    submit(stream, function.is_some(), Work::Call { function, data }, concurrent)
}

fn submit(stream: hipStream_t, is_valid: bool, work: Work, concurrent: bool) -> Result<(), hipError_t> {
    let streams = streams()?;
    let stream = streams.find(stream.addr())?;
    if !is_valid {
        return Err(hipErrorInvalidValue);
    }
    streams.submit(&stream, work, concurrent, Vec::new()).map(|_| ())
}
