//! What the tests of illegal use share: a table of cases, each run in a process of its own.

use std::ffi::c_void;

use soft_rocm_hip::header::*;

use super::device_memory;

pub const ABORT: (&str, &str) = ("SOFT_ROCM_STRICT", "abort");

/// The variable that tells a process which case it runs.
pub const CASE: &str = "HIP_TEST_CASE";

pub type Refused = fn() -> hipError_t;

pub type Pointer = fn() -> *mut c_void;

/// The number of the case that this process runs.
pub fn case() -> usize {
    std::env::var(CASE).unwrap().parse().unwrap()
}

/// Memory that is freed. What is allocated next lies in its place.
pub fn freed() -> *mut c_void {
    let device = device_memory(100);
    assert_eq!(hipFree(device), hipSuccess);
    device
}
