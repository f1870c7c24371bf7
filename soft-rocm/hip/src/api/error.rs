//! Error codes in words, and the last error.

use std::ffi::c_char;

use crate::bindings::hipError_t;
use crate::error_text::describe;
use crate::last_error;

/// Name of a code.
#[unsafe(no_mangle)]
pub extern "C" fn hipGetErrorName(hip_error: hipError_t) -> *const c_char {
    describe(hip_error).0.as_ptr()
}

/// Text of a code.
#[unsafe(no_mangle)]
pub extern "C" fn hipGetErrorString(hip_error: hipError_t) -> *const c_char {
    describe(hip_error).1.as_ptr()
}

/// The calling thread's last error, which is forgotten with this.
#[unsafe(no_mangle)]
pub extern "C" fn hipGetLastError() -> hipError_t {
    last_error::take()
}

/// The calling thread's last error.
#[unsafe(no_mangle)]
pub extern "C" fn hipPeekAtLastError() -> hipError_t {
    last_error::peek()
}
