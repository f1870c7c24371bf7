//! `softrocm_hipfile_set_faults`, `softrocm_hipfile_held_calls`, `softrocm_hipfile_counted_calls`: scripted faults and
//! delays, while the program runs.

use std::ffi::{c_char, c_int};

use soft_rocm_faults::{self as faults, Owner};

use crate::fork;

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn softrocm_hipfile_set_faults(
    spec: *const c_char,
    error: *mut c_char,
    error_len: usize,
) -> c_int {
    if fork::is_child() {
        // SAFETY: requires a place of that length or null; the C interface demands it.
        return unsafe { faults::refuse_child(error, error_len) };
    }
    // SAFETY: requires a C string or null, and a place of that length or null; the C interface demands them.
    unsafe { faults::set_from_c(Owner::Hipfile, spec, error, error_len) }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn softrocm_hipfile_held_calls() -> usize {
    if fork::is_child() { 0 } else { faults::held() }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn softrocm_hipfile_counted_calls(entry: usize) -> usize {
    if fork::is_child() { 0 } else { faults::counted(entry) }
}
