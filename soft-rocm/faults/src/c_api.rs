//! `softrocm_hip_set_faults` and `softrocm_hipfile_set_faults`, which differ in their library alone.

use std::ffi::{CStr, c_char, c_int};

use crate::points::Owner;
use crate::state;

/// Replaces the plan of a library: 0, or −1 with a text in `error`, cut to its length. NULL is no plan.
///
/// # Safety
///
/// `spec` is NULL or a C string; `error` is NULL or has `error_len` writable bytes.
pub unsafe fn set_from_c(owner: Owner, spec: *const c_char, error: *mut c_char, error_len: usize) -> c_int {
    // SAFETY: requires a C string; holds by contract, NULL was ruled out.
    let spec = if spec.is_null() { b"" } else { unsafe { CStr::from_ptr(spec) }.to_bytes() };
    let text = match state::set(owner, spec) {
        Ok(()) => String::new(),
        Err(error) => error.to_string(),
    };
    // SAFETY: requires NULL or that many writable bytes; holds by contract.
    unsafe { tell(&text, error, error_len) };
    if text.is_empty() { 0 } else { -1 }
}

/// Refuses to replace the plan in a forked child: −1, with the reason in `error`. Allocates nothing.
///
/// # Safety
///
/// `error` is NULL or has `error_len` writable bytes.
pub unsafe fn refuse_child(error: *mut c_char, error_len: usize) -> c_int {
    // SAFETY: requires NULL or that many writable bytes; holds by contract.
    unsafe { tell("a forked child of a process that used the library", error, error_len) };
    -1
}

/// Stores a text with its end, cut to its place.
///
/// # Safety
///
/// `place` is NULL or has `place_len` writable bytes.
unsafe fn tell(text: &str, place: *mut c_char, place_len: usize) {
    if place.is_null() || place_len == 0 {
        return;
    }
    let len = boundary(text, place_len - 1);
    // SAFETY: requires readable and writable bytes apart from each other; holds as `len` is at most the length of the
    // text and less than that of the place.
    unsafe { place.cast::<u8>().copy_from_nonoverlapping(text.as_ptr(), len) };
    let end = place.wrapping_add(len);
    // SAFETY: requires a writable byte; holds as `len` is less than the length.
    unsafe { end.write(0) };
}

/// The largest length up to `most` that ends with a character.
fn boundary(text: &str, most: usize) -> usize {
    (0..=most.min(text.len())).rev().find(|len| text.is_char_boundary(*len)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_cut_to_its_place() {
        let mut place = [b'x'; 16];
        for (len, expected) in [(0, "x"), (1, ""), (8, "entry 1"), (10, "entry 1, ")] {
            place.fill(b'x');
            let to = place.as_mut_ptr().cast();
            // SAFETY: requires a C string and that many writable bytes; holds.
            let code = unsafe { set_from_c(Owner::Hip, c"nonsense".as_ptr(), to, len) };
            assert_eq!(code, -1);
            let text = place.split(|byte| *byte == 0).next().unwrap();
            assert!(text.starts_with(expected.as_bytes()) && place[len..].iter().all(|byte| *byte == b'x'));
        }
        // SAFETY: requires nothing: the error has no place.
        assert_eq!(unsafe { set_from_c(Owner::Hip, c"nonsense".as_ptr(), std::ptr::null_mut(), 9) }, -1);
        assert_eq!(boundary("aé", 2), 1);
    }
}
