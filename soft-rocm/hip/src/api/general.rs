//! Initialisation, versions, functions by name.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ptr;

use soft_rocm_faults::point;

use super::put;
use crate::bindings::{
    HIP_GET_PROC_ADDRESS_SUCCESS, HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND, HIP_VERSION,
    hipDriverProcAddressQueryResult, hipError_t, hipErrorInvalidValue,
};
use crate::entry::call;
use crate::exports;
use crate::runtime::{memory, runtime};

/// Initialises the runtime.
#[unsafe(no_mangle)]
pub extern "C" fn hipInit(flags: c_uint) -> hipError_t {
    call(point::hipInit, 0, || memory().and(if flags == 0 { Ok(()) } else { Err(hipErrorInvalidValue) }))
}

/// Version of the driver.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDriverGetVersion(driver_version: *mut c_int) -> hipError_t {
    call(point::hipDriverGetVersion, 0, || {
        runtime()?;
        // SAFETY: requires NULL or a writable place; holds by the header.
        unsafe { put(driver_version, VERSION) }
    })
}

/// Version of the runtime.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipRuntimeGetVersion(runtime_version: *mut c_int) -> hipError_t {
    call(point::hipRuntimeGetVersion, 0, || {
        runtime()?;
        // SAFETY: requires NULL or a writable place; holds by the header.
        unsafe { put(runtime_version, VERSION) }
    })
}

/// Address of a function by its name.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetProcAddress(
    symbol: *const c_char,
    pfn: *mut *mut c_void,
    _hip_version: c_int,
    flags: u64,
    symbol_status: *mut hipDriverProcAddressQueryResult,
) -> hipError_t {
    call(point::hipGetProcAddress, 0, || {
        runtime()?;
        if symbol.is_null() || pfn.is_null() || flags != 0 {
            return Err(hipErrorInvalidValue);
        }
        // SAFETY: requires a C string; holds by the header, NULL was ruled out.
        let found = exports::address(unsafe { CStr::from_ptr(symbol) });
        if !symbol_status.is_null() {
            let status = match found {
                Some(_) => HIP_GET_PROC_ADDRESS_SUCCESS,
                None => HIP_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND,
            };
            // SAFETY: requires a writable place; holds by the header, NULL was ruled out.
            unsafe { symbol_status.write(status) };
        }
        // SAFETY: as above.
        unsafe { pfn.write(found.unwrap_or(ptr::null_mut())) };
        found.map(|_| ()).ok_or(hipErrorInvalidValue)
    })
}

/// That of the header, or of the last release whose library has the name this one was built with.
const VERSION: c_int = match env!("SOFT_ROCM_HIP_SOVERSION").as_bytes() {
    b"6" => 60_400_000,
    _ => HIP_VERSION as c_int,
};
