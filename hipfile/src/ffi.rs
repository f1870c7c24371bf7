//! The only module that names functions of the C library. Each call goes through the function table, and each answer
//! is decoded before anything else happens.
#![allow(unsafe_code, reason = "calls C")]

use std::ffi::{c_int, c_void};
use std::mem;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::path::Path;

use hip_alloc::DeviceGuard;
use hipfile_sys as sys;
use sys::Api;

use crate::decode::{decode, status};
use crate::error::Cause;
use crate::version::Version;

pub(crate) mod batch;
pub(crate) mod settings;
pub(crate) mod stats;
pub(crate) mod streams;

/// A registered file, as the library names it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Handle(sys::hipFileHandle_t);

// SAFETY: requires that the handle may be used from any thread; holds because it is an opaque key for the library,
// whose functions that take it (read, write, deregister) lock and may be called concurrently (contract §2.9).
unsafe impl Send for Handle {}
// SAFETY: as for Send; a shared handle allows no more than a copied one.
unsafe impl Sync for Handle {}

impl Handle {
    pub(crate) fn as_ptr(self) -> *mut c_void {
        self.0
    }
}

/// The function table of the process. Refused in a forked child, where calling C is not safe any more.
pub(crate) fn api() -> Result<&'static Api, Cause> {
    if hip_alloc::forked() {
        return Err(Cause::Forked);
    }
    sys::api::get().map_err(|error| Cause::NotLoaded(error.to_string()))
}

/// Makes the libhipfile in the file `path` the one of the process.
///
/// # Safety
///
/// The file is a libhipfile.
pub(crate) unsafe fn load(path: &Path) -> Result<(), Cause> {
    if hip_alloc::forked() {
        return Err(Cause::Forked);
    }
    // SAFETY: requires a libhipfile; holds because the caller promises it.
    let api = unsafe { Api::load(path) }.map_err(|error| Cause::NotLoaded(error.to_string()))?;
    sys::api::set(api).map_err(|sys::AlreadyInUse| Cause::AlreadyLoaded)
}

fn checked(answer: sys::hipFileError_t) -> Result<(), Cause> {
    status(answer.err.0, answer.hip_drv_err.0)
}

/// A structure that `get` is given to fill in. There is room behind it, for a library whose structure has grown.
fn filled<T: Default>(get: impl FnOnce(*mut T) -> sys::hipFileError_t) -> Result<T, Cause> {
    #[repr(C)]
    struct Roomy<T> {
        value: T,
        spare: [u64; 512],
    }
    let mut roomy = Box::new(Roomy { value: T::default(), spare: [0; 512] });
    checked(get((&raw mut *roomy).cast()))?;
    Ok(roomy.value)
}

pub(crate) fn version(api: &Api) -> Result<Version, Cause> {
    let mut version = Version { major: 0, minor: 0, patch: 0 };
    let (major, minor, patch) = (&raw mut version.major, &raw mut version.minor, &raw mut version.patch);
    // SAFETY: requires three pointers that may be written or are null; holds because all point into `version`.
    checked(unsafe { (api.hipFileGetVersion)(major, minor, patch) })?;
    Ok(version)
}

pub(crate) fn open_driver(api: &Api) -> Result<(), Cause> {
    // SAFETY: requires nothing.
    checked(unsafe { (api.hipFileDriverOpen)() })
}

/// Takes one from the use count.
///
/// # Safety
///
/// An open of the caller's own is undone, and nothing uses the driver on the strength of it any more.
pub(crate) unsafe fn close_driver(api: &Api) -> Result<(), Cause> {
    // SAFETY: requires that no handle or registration relies on this open; holds because the caller promises it.
    checked(unsafe { (api.hipFileDriverClose)() })
}

pub(crate) fn use_count(api: &Api) -> Result<u64, Cause> {
    // SAFETY: requires nothing.
    let count = unsafe { (api.hipFileUseCount)() };
    u64::try_from(count).map_err(|_| Cause::UnknownReturn(count))
}

/// Registers a descriptor.
///
/// # Safety
///
/// `fd` stays open, and its number names this file, until the handle is deregistered.
pub(crate) unsafe fn register_file(api: &Api, fd: BorrowedFd<'_>) -> Result<Handle, Cause> {
    let mut handle: sys::hipFileHandle_t = std::ptr::null_mut();
    // SAFETY: requires a type for which all zeros is a value; holds because it has integers and pointers only.
    let mut description: sys::hipFileDescr_t = unsafe { mem::zeroed() };
    description.type_ = sys::hipFileHandleTypeOpaqueFD;
    description.handle.fd = fd.as_raw_fd();
    // SAFETY: requires a place for the handle, a description whose union matches its type, and an open descriptor;
    // holds because both are locals, the type says descriptor, and the borrow keeps `fd` open during the call and the
    // caller after it.
    checked(unsafe { (api.hipFileHandleRegister)(&raw mut handle, &raw mut description) })?;
    Ok(Handle(handle))
}

/// Removes a file registration. The library can't say whether it did.
///
/// # Safety
///
/// `handle` came from [`register_file`], was not deregistered, and no transfer on it is in flight.
pub(crate) unsafe fn deregister_file(api: &Api, handle: Handle) {
    // SAFETY: requires a handle of a live registration; holds because the caller promises it.
    unsafe { (api.hipFileHandleDeregister)(handle.0) }
}

/// Registers `len` bytes of device memory at `base`.
///
/// # Safety
///
/// The memory stays allocated until it is deregistered.
pub(crate) unsafe fn register_memory(
    api: &Api,
    base: *mut c_void,
    len: usize,
    flags: c_int,
) -> Result<(), Cause> {
    // SAFETY: requires memory that outlives its registration (the library checks address and length itself); holds
    // because the caller promises it.
    checked(unsafe { (api.hipFileBufRegister)(base, len, flags) })
}

/// Removes the registration of exactly `base`.
pub(crate) fn deregister_memory(api: &Api, base: *mut c_void) -> Result<(), Cause> {
    // SAFETY: requires nothing: the library looks the address up and answers if it does not know it.
    checked(unsafe { (api.hipFileBufDeregister)(base) })
}

/// One transfer's arguments, in the order of C.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Transfer {
    pub(crate) handle: Handle,
    pub(crate) base: *mut c_void,
    pub(crate) size: usize,
    pub(crate) file_offset: i64,
    pub(crate) buffer_offset: i64,
}

/// Reads from the file into device memory. Short like `pread`.
///
/// # Safety
///
/// The handle is registered and its descriptor open; `size` bytes at `base + buffer_offset` are device memory that
/// nobody else uses during the call.
#[inline]
pub(crate) unsafe fn read(api: &Api, device: DeviceGuard, t: Transfer) -> Result<usize, Cause> {
    moved(device, t.size, || {
        // SAFETY: requires a registered handle and device memory to write to; holds because the caller promises it.
        unsafe { (api.hipFileRead)(t.handle.0, t.base, t.size, t.file_offset, t.buffer_offset) }
    })
}

/// Writes from device memory into the file. Short like `pwrite`.
///
/// # Safety
///
/// As for [`read`], but others may read the memory meanwhile.
#[inline]
pub(crate) unsafe fn write(api: &Api, device: DeviceGuard, t: Transfer) -> Result<usize, Cause> {
    moved(device, t.size, || {
        // SAFETY: requires a registered handle and device memory to read from; holds because the caller promises it.
        unsafe { (api.hipFileWrite)(t.handle.0, t.base, t.size, t.file_offset, t.buffer_offset) }
    })
}

/// Calls, with `errno` zeroed before and read as the very next thing after. The device is current until then.
#[inline]
fn moved(device: DeviceGuard, requested: usize, call: impl FnOnce() -> isize) -> Result<usize, Cause> {
    // SAFETY: requires nothing; the address is that of this thread's errno and valid while the thread runs.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: requires a valid pointer that only this thread uses; holds for this thread's errno.
    unsafe { errno.write(0) };
    let ret = call();
    // SAFETY: requires a valid, initialised pointer; holds for this thread's errno.
    let errno = unsafe { errno.read() };
    drop(device);
    decode(ret as i64, errno, requested)
}
