//! Error codes in words, and the last error.

use std::convert::identity;
use std::ffi::c_char;

use soft_rocm_faults::{Subject, point};

use crate::bindings::hipError_t;
use crate::error_text::describe;
use crate::{entry, last_error};

/// Name of a code.
#[unsafe(no_mangle)]
pub extern "C" fn hipGetErrorName(hip_error: hipError_t) -> *const c_char {
    entry::value(point::hipGetErrorName, || describe(hip_error).0.as_ptr())
}

/// Text of a code.
#[unsafe(no_mangle)]
pub extern "C" fn hipGetErrorString(hip_error: hipError_t) -> *const c_char {
    entry::value(point::hipGetErrorString, || describe(hip_error).1.as_ptr())
}

/// The calling thread's last error, which is forgotten with this.
#[unsafe(no_mangle)]
pub extern "C" fn hipGetLastError() -> hipError_t {
    entry::fault(point::hipGetLastError, 0, Subject::None).map_or_else(identity, |_| last_error::take())
}

/// The calling thread's last error.
#[unsafe(no_mangle)]
pub extern "C" fn hipPeekAtLastError() -> hipError_t {
    entry::fault(point::hipPeekAtLastError, 0, Subject::None).map_or_else(identity, |_| last_error::peek())
}
