//! `hipFileGetOpErrorString`, `hipFileGetVersion`: what needs no state, and so answers in a forked child as well.

use std::ffi::{c_char, c_uint};

use hipfile_sys::{self as sys, hipFileError_t, hipFileOpError_t};

use crate::failure::SUCCESS;
use crate::strings;

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn hipFileGetOpErrorString(status: hipFileOpError_t) -> *const c_char {
    strings::text(status).as_ptr()
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn hipFileGetVersion(
    major: *mut c_uint,
    minor: *mut c_uint,
    patch: *mut c_uint,
) -> hipFileError_t {
    let parts = [
        (major, sys::HIPFILE_VERSION_MAJOR),
        (minor, sys::HIPFILE_VERSION_MINOR),
        (patch, sys::HIPFILE_VERSION_PATCH),
    ];
    for (place, part) in parts {
        if !place.is_null() {
            // SAFETY: requires a writable int; the C interface demands one where the pointer is not null.
            unsafe { place.write(part) };
        }
    }
    SUCCESS
}
