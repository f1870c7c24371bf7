//! What the software ROCm has beyond AMD's: streams that can be held, and plans of faults. On another ROCm there is none of
//! it, and tests that need it say so and pass.

use std::ffi::{CStr, CString, c_char, c_int, c_void};

use crate::isolate::isolated;
use crate::raw;

type SetFaults = unsafe extern "C" fn(*const c_char, *mut c_char, usize) -> c_int;
type Hold = unsafe extern "C" fn(*mut c_void) -> c_int;

/// Whether the ROCm under test is the software one.
pub fn is_here() -> bool {
    !symbol("softrocm_hipfile_set_faults").is_null()
}

/// Whether AddressSanitizer watches this process.
pub fn is_watched() -> bool {
    !symbol("__asan_init").is_null()
}

/// The address of a function of this process.
pub fn symbol(name: &str) -> *mut c_void {
    // Keeps both libraries among what this program needs.
    std::hint::black_box((raw::api() as *const _, hip_alloc::leaked()));
    let name = CString::new(name).expect("a name");
    // SAFETY: requires a terminated name; holds because it comes from a CString.
    unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) }
}

/// Runs `body` in a process of its own, unless the ROCm is another one.
pub fn only(test: &str, variables: &[(&str, &str)], body: impl FnOnce()) {
    if !is_here() {
        return println!("{test} skipped: it needs the software ROCm");
    }
    isolated(test, variables, body);
}

/// Replaces the plan of libamdhip64.
pub fn plan_hip(spec: &str) {
    plan("softrocm_hip_set_faults", spec);
}

/// Replaces the plan of libhipfile.
pub fn plan_hipfile(spec: &str) {
    plan("softrocm_hipfile_set_faults", spec);
}

fn plan(function: &str, spec: &str) {
    let spec = CString::new(spec).expect("a plan");
    let mut error = [0u8; 300];
    let code = set_faults(function, &spec, &mut error);
    assert_eq!(code, 0, "{}", String::from_utf8_lossy(&error));
}

/// Calls one of the two functions that replace a plan.
pub fn set_faults(function: &str, spec: &CStr, error: &mut [u8]) -> c_int {
    // SAFETY: requires a function of that type; holds, softrocm.h declares it so.
    let set: SetFaults = unsafe { std::mem::transmute(symbol(function)) };
    // SAFETY: requires a C string and that many writable bytes; holds.
    unsafe { set(spec.as_ptr(), error.as_mut_ptr().cast(), error.len()) }
}

/// How many calls the plan of libhipfile holds.
pub fn held_by_hipfile() -> usize {
    held("softrocm_hipfile_held_calls")
}

/// How many calls the plan of libamdhip64 holds.
pub fn held_by_hip() -> usize {
    held("softrocm_hip_held_calls")
}

fn held(function: &str) -> usize {
    // SAFETY: requires a function of that type; holds, softrocm.h declares it so.
    let held: unsafe extern "C" fn() -> usize = unsafe { std::mem::transmute(symbol(function)) };
    // SAFETY: requires nothing.
    unsafe { held() }
}

/// How many calls an entry of the plan of libhipfile, by its number from 1, has counted.
pub fn counted_by_hipfile(entry: usize) -> usize {
    counted("softrocm_hipfile_counted_calls", entry)
}

/// How many calls an entry of the plan of libamdhip64, by its number from 1, has counted.
pub fn counted_by_hip(entry: usize) -> usize {
    counted("softrocm_hip_counted_calls", entry)
}

fn counted(function: &str, entry: usize) -> usize {
    // SAFETY: requires a function of that type; holds, softrocm.h declares it so.
    let counted: unsafe extern "C" fn(usize) -> usize = unsafe { std::mem::transmute(symbol(function)) };
    // SAFETY: requires nothing.
    unsafe { counted(entry) }
}

/// A stream that does nothing it has not started, until this is dropped.
#[derive(Debug)]
#[must_use = "the stream goes on when this is dropped"]
pub struct Paused(usize);

/// Holds a stream of HIP's; null is the default stream.
pub fn pause(stream: *mut c_void) -> Paused {
    hold("softrocm_stream_pause", stream);
    Paused(stream.addr())
}

impl Drop for Paused {
    fn drop(&mut self) {
        hold("softrocm_stream_resume", std::ptr::without_provenance_mut(self.0));
    }
}

fn hold(function: &str, stream: *mut c_void) {
    // SAFETY: requires a function of that type; holds, softrocm.h declares it so.
    let function: Hold = unsafe { std::mem::transmute(symbol(function)) };
    // SAFETY: requires nothing: the stream is looked up.
    assert_eq!(unsafe { function(stream) }, 0, "the stream is HIP's");
}
