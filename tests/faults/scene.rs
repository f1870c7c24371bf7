//! A registered file, registered device memory, and plans for both libraries.

use std::ffi::{CString, c_char, c_int, c_void};
use std::os::fd::AsRawFd;
use std::ptr;

use hip_alloc::DeviceBuffer;
use hipfile_sys::{Api, hipFileDescr_t, hipFileError_t, hipFileHandleTypeOpaqueFD, hipFileSuccess};
use hipfile_tests::isolate::isolated;

pub const LEN: usize = 64 << 10;

type SetFaults = unsafe extern "C" fn(*const c_char, *mut c_char, usize) -> c_int;

/// The libraries' functions.
pub fn api() -> &'static Api {
    Api::linked()
}

/// The address of a function of this process.
pub fn symbol(name: &str) -> *mut c_void {
    // Keeps both libraries among what this program needs.
    std::hint::black_box((api() as *const Api, hip_alloc::leaked()));
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
    // SAFETY: requires a function of that type; holds, softrocm.h declares it so.
    let set: SetFaults = unsafe { std::mem::transmute(symbol(function)) };
    let spec = CString::new(spec).unwrap();
    let mut error = [0u8; 300];
    // SAFETY: requires a C string and that many writable bytes; holds.
    let code = unsafe { set(spec.as_ptr(), error.as_mut_ptr().cast(), error.len()) };
    assert_eq!(code, 0, "{}", String::from_utf8_lossy(&error));
}

/// How many calls libhipfile's plan holds.
pub fn held_by_hipfile() -> usize {
    // SAFETY: requires a function of that type; holds, softrocm.h declares it so.
    let held: unsafe extern "C" fn() -> usize =
        unsafe { std::mem::transmute(symbol("softrocm_hipfile_held_calls")) };
    // SAFETY: requires nothing.
    unsafe { held() }
}

/// The two codes of a result.
pub fn codes(error: hipFileError_t) -> (u32, u32) {
    (error.err.0, error.hip_drv_err.0)
}

/// A file of [`LEN`] bytes with a handle, and device memory as long.
pub struct Scene {
    pub file: tempfile::NamedTempFile,
    pub handle: usize,
    pub memory: DeviceBuffer,
}

/// Bytes that differ from one another.
pub fn pattern(seed: u32) -> Vec<u8> {
    (0..LEN as u32).map(|n| ((n ^ seed).wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

/// Registers a file: what it answers, and the handle.
pub fn register(fd: c_int) -> ((u32, u32), usize) {
    // SAFETY: requires a type for which zero bytes are valid; holds because it has integers and pointers alone.
    let mut description: hipFileDescr_t = unsafe { std::mem::zeroed() };
    description.type_ = hipFileHandleTypeOpaqueFD;
    description.handle.fd = fd;
    let mut handle = ptr::null_mut();
    // SAFETY: requires a writable handle and a description; holds, they are locals.
    let error = unsafe { (api().hipFileHandleRegister)(&mut handle, &mut description) };
    (codes(error), handle as usize)
}

impl Scene {
    pub fn new() -> Self {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), pattern(0)).unwrap();
        // SAFETY: requires nothing.
        assert_eq!(unsafe { (api().hipFileDriverOpen)() }.err, hipFileSuccess);
        let (answer, handle) = register(file.as_file().as_raw_fd());
        assert_eq!(answer, (0, 0));
        let memory = DeviceBuffer::zeroed(LEN).unwrap();
        // SAFETY: requires device memory; holds.
        let error = unsafe { (api().hipFileBufRegister)(memory.as_ptr().cast_const().cast(), LEN, 0) };
        assert_eq!(error.err, hipFileSuccess);
        Self { file, handle, memory }
    }

    /// The device address.
    pub fn address(&self) -> usize {
        self.memory.as_ptr() as usize
    }

    /// `hipFileRead`, and `errno` where it says anything.
    pub fn read(&self, len: usize) -> (isize, i32) {
        set_errno(0);
        (read(self.handle, self.address(), len), errno())
    }

    /// `hipFileWrite`, and `errno` where it says anything.
    pub fn write(&self, len: usize) -> (isize, i32) {
        set_errno(0);
        let (handle, memory) = (self.handle as *mut c_void, self.address() as *const c_void);
        // SAFETY: requires a handle and registered memory of that length; holds.
        (unsafe { (api().hipFileWrite)(handle, memory, len, 0, 0) }, errno())
    }
}

/// `hipFileRead` from the start of a file into the start of device memory.
pub fn read(handle: usize, memory: usize, len: usize) -> isize {
    // SAFETY: requires a handle and device memory; the library refuses what is none.
    unsafe { (api().hipFileRead)(handle as *mut c_void, memory as *mut c_void, len, 0, 0) }
}

/// `hipFileHandleDeregister`
pub fn deregister(handle: usize) {
    // SAFETY: requires nothing: what is no handle is ignored.
    unsafe { (api().hipFileHandleDeregister)(handle as *mut c_void) }
}

fn errno() -> i32 {
    std::io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

fn set_errno(value: i32) {
    // SAFETY: requires nothing.
    let place = unsafe { libc::__errno_location() };
    // SAFETY: requires a writable int; holds because it is this thread's errno.
    unsafe { place.write(value) };
}
