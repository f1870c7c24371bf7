//! The function table of a program that is linked with libhipfile.
#![cfg(feature = "link")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::ffi::CStr;
use std::ptr;

use hipfile_sys::{AlreadyInUse, Api, api, hipFileInvalidValue, hipFileSuccess};

fn version(api: &Api) -> (u32, u32) {
    let (mut major, mut minor) = (0, 0);
    // SAFETY: requires pointers that may be written or are null; holds.
    let result = unsafe { (api.hipFileGetVersion)(&raw mut major, &raw mut minor, ptr::null_mut()) };
    assert_eq!(result.err, hipFileSuccess);
    (major, minor)
}

#[test]
fn the_linked_library_is_the_default() {
    let api = api::get().unwrap();
    assert!(ptr::eq(api, Api::linked()));
    assert!(ptr::eq(api, api::get().unwrap()));
    let path = api.path().unwrap();
    assert_eq!(path.file_name().unwrap(), "libhipfile.so.0", "{}", path.display());
}

#[test]
fn another_table_cannot_be_chosen_after_the_first_use() {
    api::get().unwrap();
    assert_eq!(api::set(Api::linked()), Err(AlreadyInUse));
}

#[test]
fn functions_answer_through_the_table_and_directly() {
    let api = api::get().unwrap();
    // SAFETY: requires nothing.
    let text = unsafe { (api.hipFileGetOpErrorString)(hipFileInvalidValue) };
    // SAFETY: requires a C string; holds by the function's contract.
    let text = unsafe { CStr::from_ptr(text) };
    assert_eq!(text, c"One or more arguments have an invalid value");
    // SAFETY: requires nothing.
    let direct = unsafe { hipfile_sys::hipFileGetOpErrorString(hipFileInvalidValue) };
    // SAFETY: requires a C string; holds by the function's contract.
    assert_eq!(unsafe { CStr::from_ptr(direct) }, text);
}

#[test]
fn statistics_are_there_from_0_5_on() {
    let api = api::get().unwrap();
    let new = version(api) >= (0, 5);
    assert_eq!(api.hipFileGetStatsL1.is_some(), new);
    assert_eq!(api.hipFileGetStatsL2.is_some(), new);
    assert_eq!(api.hipFileGetStatsL3.is_some(), new);
}
