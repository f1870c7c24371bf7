//! A registered file, registered device memory, and plans for both libraries.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, Ordering};

use hip_alloc::DeviceBuffer;
use hipfile_tests::isolate::isolated;
use hipfile_tests::raw::{self, Moved};

pub const LEN: usize = 64 << 10;

type SetFaults = unsafe extern "C" fn(*const c_char, *mut c_char, usize) -> c_int;

/// The address of a function of this process.
pub fn symbol(name: &str) -> *mut c_void {
    // Keeps both libraries among what this program needs.
    std::hint::black_box((raw::api() as *const _, hip_alloc::leaked()));
    let name = CString::new(name).unwrap();
    // SAFETY: requires a terminated name; holds because it comes from a CString.
    unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) }
}

/// Runs `body` in a process of its own under this plan, unless the ROCm has no plans.
pub fn planned(test: &str, plan: &str, variables: &[(&str, &str)], body: impl FnOnce()) {
    if symbol("softrocm_hipfile_set_faults").is_null() {
        return println!("{test} skipped: scripted faults are the software ROCm's");
    }
    let mut environment = vec![("SOFT_ROCM_FAULTS", plan)];
    environment.extend(variables);
    isolated(test, &environment, body);
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
    let spec = CString::new(spec).unwrap();
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

/// A file of [`LEN`] bytes with a handle, and device memory as long.
pub struct Scene {
    pub file: tempfile::NamedTempFile,
    pub handle: usize,
    pub memory: DeviceBuffer,
}

/// Tells threads to stop when it is dropped, so that a failed test ends.
pub struct StopAtEnd<'a>(pub &'a AtomicBool);

impl Drop for StopAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// All of a transfer moved.
pub const ALL: Moved = Moved::Number(LEN as isize);

/// Bytes that differ from one another.
pub fn pattern(seed: u32) -> Vec<u8> {
    (0..LEN as u32).map(|n| ((n ^ seed).wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

impl Scene {
    pub fn new() -> Self {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), pattern(0)).unwrap();
        assert_eq!(raw::driver_open(), raw::OK);
        let handle = raw::registered(file.as_file().as_raw_fd());
        let memory = DeviceBuffer::zeroed(LEN).unwrap();
        assert_eq!(raw::buffer_register(memory.as_ptr() as usize, LEN), raw::OK);
        Self { file, handle, memory }
    }

    /// The device address.
    pub fn address(&self) -> usize {
        self.memory.as_ptr() as usize
    }

    /// `hipFileRead` of everything.
    pub fn read(&self) -> Moved {
        raw::read(self.handle, self.address(), LEN, 0, 0)
    }

    /// `hipFileWrite` of everything.
    pub fn write(&self) -> Moved {
        raw::write(self.handle, self.address(), LEN, 0, 0)
    }
}
