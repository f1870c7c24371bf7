//! Properties and parameters, which no release implements, of a library whose answers tests decide.

use std::ffi::{c_char, c_int};
use std::sync::Mutex;

use hipfile::sys::*;

use super::{Function, coded, decided};

/// What is written to whatever a function is to fill in, byte by byte, where the answer is success.
static FILL: Mutex<Option<u8>> = Mutex::new(None);

/// By how many bytes the properties of a later release may be larger.
const GROWTH: usize = 4096;

/// From now on all that is to be filled in is filled in with this byte.
pub fn fill(byte: u8) {
    *FILL.lock().unwrap() = Some(byte);
}

fn answer() -> hipFileError_t {
    decided(Function::Settings).unwrap_or(coded(5030, 0))
}

/// Fills in `len` bytes, which the caller has to have.
unsafe fn filled(place: *mut u8, len: usize) -> hipFileError_t {
    let answer = answer();
    if let (0, Some(byte)) = (answer.err.0, *FILL.lock().unwrap()) {
        // SAFETY: requires that many writable bytes; holds because the caller promises it.
        unsafe { place.write_bytes(byte, len) };
    }
    answer
}

pub unsafe extern "C" fn properties(place: *mut hipFileDriverProps_t) -> hipFileError_t {
    // SAFETY: requires room for the properties, and for those of a later release; the safe crate has it.
    unsafe { filled(place.cast(), size_of::<hipFileDriverProps_t>() + GROWTH) }
}

pub extern "C" fn poll_mode(_: bool, _: usize) -> hipFileError_t {
    answer()
}

pub extern "C" fn limit(_: usize) -> hipFileError_t {
    answer()
}

pub unsafe extern "C" fn size(_: hipFileSizeTConfigParameter_t, place: *mut usize) -> hipFileError_t {
    // SAFETY: requires room for the value; the C interface demands it.
    unsafe { filled(place.cast(), size_of::<usize>()) }
}

pub unsafe extern "C" fn flag(_: hipFileBoolConfigParameter_t, place: *mut bool) -> hipFileError_t {
    // SAFETY: requires room for the value; the C interface demands it.
    unsafe { filled(place.cast(), 1) }
}

pub unsafe extern "C" fn text(
    _: hipFileStringConfigParameter_t,
    place: *mut c_char,
    len: c_int,
) -> hipFileError_t {
    // SAFETY: requires `len` bytes of room; the C interface demands it.
    unsafe { filled(place.cast(), len as usize) }
}

pub extern "C" fn set_size(_: hipFileSizeTConfigParameter_t, _: usize) -> hipFileError_t {
    answer()
}

pub extern "C" fn set_flag(_: hipFileBoolConfigParameter_t, _: bool) -> hipFileError_t {
    answer()
}

pub unsafe extern "C" fn set_text(_: hipFileStringConfigParameter_t, _: *const c_char) -> hipFileError_t {
    answer()
}
