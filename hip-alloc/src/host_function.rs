//! Host functions: what a stream calls when it comes to them.
#![allow(unsafe_code, reason = "hands a function and its data to a stream")]

use core::ffi::c_void;

use crate::error::{Cause, Error, Result};
use crate::ffi::HostFunction;
use crate::stream::StreamRef;

/// Lets the stream call `function` with `data` when it has done all it was given before, on a thread of HIP.
///
/// # Errors
/// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) where HIP has no such function, which is not called then; else
/// HIP's, which may be that of earlier work, so that the function is called all the same.
///
/// # Safety
/// `function` may be called once with `data`, on any thread, at any time from now on. It does not unwind and calls nothing
/// of HIP.
pub unsafe fn launch(
    operation: &'static str,
    stream: StreamRef<'_>,
    function: HostFunction,
    data: *mut c_void,
) -> Result<()> {
    let launched = stream.call(operation, |hip, raw| {
        // SAFETY: requires a live stream, and a function that may be called with the data; holds because the reference
        // stands for one, and our caller promises the rest.
        unsafe { hip.launch_host_function(raw, function, data) }.transpose()
    })?;
    launched.ok_or_else(|| Error::new(operation, Cause::Missing { call: "hipLaunchHostFunc" }))
}
