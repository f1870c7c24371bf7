//! An addition of ours: scripted faults and delays, set while the program runs.

use std::ffi::{c_char, c_int};

use soft_rocm_faults::{self as faults, Owner};

use crate::fork;

/// Replaces the plan of this library: 0, or −1 and why not.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn softrocm_hip_set_faults(
    spec: *const c_char,
    error: *mut c_char,
    error_len: usize,
) -> c_int {
    if !fork::enter() {
        // SAFETY: requires a place of that length or NULL; holds by the header.
        return unsafe { faults::refuse_child(error, error_len) };
    }
    // SAFETY: requires a C string or NULL, and a place of that length or NULL; holds by the header.
    unsafe { faults::set_from_c(Owner::Hip, spec, error, error_len) }
}

/// How many calls the plan holds at this moment.
#[unsafe(no_mangle)]
pub extern "C" fn softrocm_hip_held_calls() -> usize {
    if fork::enter() { faults::held() } else { 0 }
}

/// How many calls an entry of the plan has counted.
#[unsafe(no_mangle)]
pub extern "C" fn softrocm_hip_counted_calls(entry: usize) -> usize {
    if fork::enter() { faults::counted(entry) } else { 0 }
}
