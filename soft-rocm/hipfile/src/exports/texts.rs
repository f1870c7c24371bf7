//! `hipFileGetOpErrorString`, `hipFileGetVersion`: what needs no state, and so answers in a forked child as well.

use std::ffi::{c_char, c_uint};

use hipfile_sys::{hipFileError_t, hipFileOpError_t};
use soft_rocm_faults::point;

use crate::failure::{Failure, SUCCESS};
use crate::{abi, behaviour, strings};

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn hipFileGetOpErrorString(status: hipFileOpError_t) -> *const c_char {
    // A text can be delayed, and has no way to fail.
    let _ = abi::anywhere(point::hipFileGetOpErrorString);
    strings::text(status).as_ptr()
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn hipFileGetVersion(
    major: *mut c_uint,
    minor: *mut c_uint,
    patch: *mut c_uint,
) -> hipFileError_t {
    if behaviour::is_invalid() {
        return Failure::INTERNAL.into_status();
    }
    if let Err(failure) = abi::anywhere(point::hipFileGetVersion) {
        return failure.into_status();
    }
    let parts = behaviour::get().version.numbers();
    for (place, part) in [major, minor, patch].into_iter().zip(parts) {
        if !place.is_null() {
            // SAFETY: requires a writable int; the C interface demands one where the pointer is not null.
            unsafe { place.write(part) };
        }
    }
    SUCCESS
}
