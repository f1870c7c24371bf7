//! One Rust function for each HIP function in use: integers in, `Result` out, and which ones need care.
#![allow(unsafe_code, reason = "the calls into HIP")]

use core::ffi::{CStr, c_char, c_int, c_uint, c_void};
use core::ptr::{self, NonNull};

use crate::ffi::Functions;
use crate::hip_error::HipError;

/// hipMemcpyKind: from host to device, and back.
const HOST_TO_DEVICE: c_uint = 1;
const DEVICE_TO_HOST: c_uint = 2;
/// hipHostMallocPortable: every device reaches the memory.
const HOST_MALLOC_PORTABLE: c_uint = 1;

/// A HIP function that did not answer hipSuccess.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) call: &'static str,
    pub(crate) error: HipError,
}

#[inline]
pub(crate) fn check(call: &'static str, code: c_uint) -> Result<(), Failure> {
    if code == 0 { Ok(()) } else { Err(Failure { call, error: HipError::from(code) }) }
}

impl Functions {
    pub(crate) fn device_count(&self) -> Result<c_int, Failure> {
        let mut count = 0;
        // SAFETY: requires a pointer to an int for the result; holds because `count` is one.
        check("hipGetDeviceCount", unsafe { (self.hipGetDeviceCount)(&mut count) })?;
        Ok(count)
    }

    #[inline]
    pub(crate) fn current_device(&self) -> Result<c_int, Failure> {
        let mut device = 0;
        // SAFETY: requires a pointer to an int for the result; holds because `device` is one.
        check("hipGetDevice", unsafe { (self.hipGetDevice)(&mut device) })?;
        Ok(device)
    }

    pub(crate) fn set_device(&self, device: c_int) -> Result<(), Failure> {
        // SAFETY: requires nothing; HIP refuses an ordinal that it does not have.
        check("hipSetDevice", unsafe { (self.hipSetDevice)(device) })
    }

    /// One number about a device. HIP refuses an attribute and a device that it does not have.
    pub(crate) fn device_attribute(&self, attribute: c_uint, device: c_int) -> Result<c_int, Failure> {
        let mut value = 0;
        // SAFETY: requires a pointer to an int for the result; holds because `value` is one.
        let code = unsafe { (self.hipDeviceGetAttribute)(&mut value, attribute, device) };
        check("hipDeviceGetAttribute", code)?;
        Ok(value)
    }

    /// Free and total bytes of the current device's memory.
    pub(crate) fn memory_info(&self) -> Result<(usize, usize), Failure> {
        let (mut free, mut total) = (0, 0);
        // SAFETY: requires two pointers to size_t for the results; holds because `free` and `total` are such.
        check("hipMemGetInfo", unsafe { (self.hipMemGetInfo)(&mut free, &mut total) })?;
        Ok((free, total))
    }

    /// New memory on the current device. `size` must not be 0, for which HIP answers null.
    pub(crate) fn malloc(&self, size: usize) -> Result<*mut c_void, Failure> {
        let mut pointer = ptr::null_mut();
        // SAFETY: requires a pointer to a pointer for the result; holds because `pointer` is one.
        check("hipMalloc", unsafe { (self.hipMalloc)(&mut pointer, size) })?;
        if pointer.is_null() {
            return Err(Failure { call: "hipMalloc", error: HipError::OUT_OF_MEMORY });
        }
        Ok(pointer)
    }

    /// # Safety
    /// `pointer` came from HIP's allocator, was not freed, and nothing uses that memory any more.
    pub(crate) unsafe fn free(&self, pointer: *mut c_void) -> Result<(), Failure> {
        // SAFETY: requires an allocation that nobody uses; holds because our caller promises it.
        check("hipFree", unsafe { (self.hipFree)(pointer) })
    }

    /// New page-locked host memory for every device. `size` must not be 0, for which HIP answers null.
    pub(crate) fn host_malloc(&self, size: usize) -> Result<NonNull<c_void>, Failure> {
        const CALL: &str = "hipHostMalloc";
        let mut pointer = ptr::null_mut();
        // SAFETY: requires a pointer to a pointer for the result; holds because `pointer` is one.
        check(CALL, unsafe { (self.hipHostMalloc)(&mut pointer, size, HOST_MALLOC_PORTABLE) })?;
        NonNull::new(pointer).ok_or(Failure { call: CALL, error: HipError::OUT_OF_MEMORY })
    }

    /// # Safety
    /// `pointer` came from [`host_malloc`](Self::host_malloc), was not freed, and nothing uses that memory any more.
    pub(crate) unsafe fn host_free(&self, pointer: NonNull<c_void>) -> Result<(), Failure> {
        // SAFETY: requires an allocation that nobody uses; holds because our caller promises it.
        check("hipHostFree", unsafe { (self.hipHostFree)(pointer.as_ptr()) })
    }

    /// # Safety
    /// `source` is live device memory of at least `destination.len()` bytes.
    pub(crate) unsafe fn copy_to_host(
        &self,
        destination: &mut [u8],
        source: *const c_void,
    ) -> Result<(), Failure> {
        let (to, size) = (destination.as_mut_ptr().cast::<c_void>(), destination.len());
        // SAFETY: requires `size` readable bytes of device memory and as many writable ones of host memory; holds
        // because our caller promises the first and `destination` is the second.
        check("hipMemcpy", unsafe { (self.hipMemcpy)(to, source, size, DEVICE_TO_HOST) })
    }

    /// # Safety
    /// `destination` is live device memory of at least `source.len()` bytes, which nobody else uses meanwhile.
    pub(crate) unsafe fn copy_from_host(
        &self,
        destination: *mut c_void,
        source: &[u8],
    ) -> Result<(), Failure> {
        let (from, size) = (source.as_ptr().cast::<c_void>(), source.len());
        // SAFETY: requires `size` writable bytes of device memory and as many readable ones of host memory; holds
        // because our caller promises the first and `source` is the second.
        check("hipMemcpy", unsafe { (self.hipMemcpy)(destination, from, size, HOST_TO_DEVICE) })
    }

    /// # Safety
    /// `destination` is live device memory of at least `size` bytes, which nobody else uses meanwhile.
    pub(crate) unsafe fn fill(
        &self,
        destination: *mut c_void,
        value: u8,
        size: usize,
    ) -> Result<(), Failure> {
        // SAFETY: requires `size` writable bytes of device memory; holds because our caller promises it.
        check("hipMemset", unsafe { (self.hipMemset)(destination, c_int::from(value), size) })
    }

    /// Waits until the current device's default stream has done everything that was put into it.
    pub(crate) fn synchronize_default_stream(&self) -> Result<(), Failure> {
        // SAFETY: requires a stream; holds because null names the default stream.
        check("hipStreamSynchronize", unsafe { (self.hipStreamSynchronize)(ptr::null_mut()) })
    }

    pub(crate) fn error_name(&self, code: c_uint) -> Option<&'static str> {
        // SAFETY: requires nothing; HIP answers for any number.
        let name = unsafe { (self.hipGetErrorName)(code) };
        static_text(name)
    }

    pub(crate) fn error_text(&self, code: c_uint) -> Option<&'static str> {
        // SAFETY: requires nothing; HIP answers for any number.
        let text = unsafe { (self.hipGetErrorString)(code) };
        static_text(text)
    }
}

/// A string that HIP returned; `None` if there is none or it is not UTF-8.
fn static_text(text: *const c_char) -> Option<&'static str> {
    if text.is_null() {
        return None;
    }
    // SAFETY: requires a NUL-terminated string that is never changed or freed; holds because hipGetErrorName and
    // hipGetErrorString return constants of a library that is never unloaded.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str().ok().filter(|text| !text.is_empty())
}
