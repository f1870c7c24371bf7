//! Streams that call closures.

use std::ffi::c_void;
use std::ptr;

use soft_rocm_hip::header::*;

/// A stream with these flags.
pub fn stream(flags: u32) -> hipStream_t {
    let mut stream = ptr::null_mut();
    // SAFETY: requires a writable place; holds, it is a local.
    assert_eq!(unsafe { hipStreamCreateWithFlags(&mut stream, flags) }, hipSuccess);
    stream
}

/// An event with these flags.
pub fn event(flags: u32) -> hipEvent_t {
    let mut event = ptr::null_mut();
    // SAFETY: requires a writable place; holds, it is a local.
    assert_eq!(unsafe { hipEventCreateWithFlags(&mut event, flags) }, hipSuccess);
    event
}

/// A pointer for several threads.
pub struct Shared(pub *mut c_void);

// SAFETY: requires that threads may use it; holds because the library takes it from any thread.
unsafe impl Sync for Shared {}

impl Shared {
    /// The pointer.
    pub fn get(&self) -> *mut c_void {
        self.0
    }
}

/// Holds a stream.
pub fn pause(stream: hipStream_t) {
    assert_eq!(softrocm_stream_pause(stream), hipSuccess);
}

/// Lets a stream go on.
pub fn resume(stream: hipStream_t) {
    assert_eq!(softrocm_stream_resume(stream), hipSuccess);
}

/// Has a stream call a closure. It may borrow what lives until the stream has been waited for.
pub fn launch<F: FnOnce()>(stream: hipStream_t, function: F) {
    let data = Box::into_raw(Box::new(function)).cast();
    // SAFETY: requires data that the function may use; holds, it is what the function expects.
    assert_eq!(unsafe { hipLaunchHostFunc(stream, Some(call::<F>), data) }, hipSuccess);
}

/// As [`launch`], for a closure that may overlap others.
pub fn launch_concurrent<F: FnOnce()>(stream: hipStream_t, function: F) {
    let data = Box::into_raw(Box::new(function)).cast();
    // SAFETY: as above.
    assert_eq!(unsafe { softrocm_launch_concurrent(stream, Some(call::<F>), data) }, hipSuccess);
}

unsafe extern "C" fn call<F: FnOnce()>(data: *mut c_void) {
    // SAFETY: requires a pointer from `Box::into_raw`; holds, each is handed over once and called once.
    (unsafe { Box::from_raw(data.cast::<F>()) })();
}
