//! Allocations, and what a pointer refers to.

use std::ffi::{c_int, c_uint, c_void};
use std::ptr;

use super::put;
use crate::bindings::{
    hipDeviceptr_t, hipError_t, hipErrorInvalidValue, hipErrorNotFound, hipHostMallocCoherent,
    hipHostMallocMapped, hipHostMallocNonCoherent, hipHostMallocNumaUser, hipHostMallocPortable,
    hipHostMallocWriteCombined, hipInvalidDeviceId, hipMemoryTypeDevice, hipMemoryTypeHost,
    hipMemoryTypeUnregistered, hipPointerAttribute_t,
};
use crate::last_error::answer;
use crate::memory::Kind;
use crate::runtime::{current_device, memory};

const HOST_MALLOC_FLAGS: c_uint = hipHostMallocPortable
    | hipHostMallocMapped
    | hipHostMallocWriteCombined
    | hipHostMallocNumaUser
    | hipHostMallocCoherent
    | hipHostMallocNonCoherent;

/// Allocates memory of the current device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMalloc(ptr: *mut *mut c_void, size: usize) -> hipError_t {
    answer(memory().and_then(|memory| {
        // SAFETY: requires NULL or a writable place; holds by the header.
        unsafe { put(ptr, ptr::null_mut()) }?;
        if size == 0 {
            return Ok(());
        }
        let address = memory.allocate(current_device(), size)?;
        // SAFETY: as above.
        unsafe { put(ptr, address.cast()) }
    }))
}

/// Frees device memory.
#[unsafe(no_mangle)]
pub extern "C" fn hipFree(ptr: *mut c_void) -> hipError_t {
    answer(memory().and_then(|memory| if ptr.is_null() { Ok(()) } else { memory.free(ptr.addr()) }))
}

/// Allocates pinned host memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipHostMalloc(ptr: *mut *mut c_void, size: usize, flags: c_uint) -> hipError_t {
    answer(memory().and_then(|memory| {
        let contradiction = hipHostMallocCoherent | hipHostMallocNonCoherent;
        if flags & !HOST_MALLOC_FLAGS != 0 || flags & contradiction == contradiction {
            return Err(hipErrorInvalidValue);
        }
        // SAFETY: requires NULL or a writable place; holds by the header.
        unsafe { put(ptr, ptr::null_mut()) }?;
        if size == 0 {
            return Ok(());
        }
        let address = memory.allocate_pinned(current_device(), size, flags)?;
        // SAFETY: as above.
        unsafe { put(ptr, address.cast()) }
    }))
}

/// Frees pinned host memory.
#[unsafe(no_mangle)]
pub extern "C" fn hipHostFree(ptr: *mut c_void) -> hipError_t {
    answer(memory().and_then(|memory| if ptr.is_null() { Ok(()) } else { memory.free_pinned(ptr.addr()) }))
}

/// Address of pinned host memory for device code: the same one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipHostGetDevicePointer(
    dev_ptr: *mut *mut c_void,
    host_ptr: *mut c_void,
    flags: c_uint,
) -> hipError_t {
    answer(memory().and_then(|memory| {
        let found = memory.find(host_ptr.addr()).filter(|found| found.kind != Kind::Device);
        if flags != 0 || found.is_none() {
            return Err(hipErrorInvalidValue);
        }
        // SAFETY: requires NULL or a writable place; holds by the header.
        unsafe { put(dev_ptr, host_ptr) }
    }))
}

/// Free and total memory of the current device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemGetInfo(free: *mut usize, total: *mut usize) -> hipError_t {
    answer(memory().and_then(|memory| {
        let (free_bytes, total_bytes) = memory.info(current_device())?;
        // SAFETY: requires NULL or a writable place; holds by the header.
        unsafe { put(free, free_bytes) }?;
        // SAFETY: as above.
        unsafe { put(total, total_bytes) }
    }))
}

/// What a pointer refers to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipPointerGetAttributes(
    attributes: *mut hipPointerAttribute_t,
    ptr: *const c_void,
) -> hipError_t {
    answer(memory().and_then(|memory| {
        if ptr.is_null() {
            return Err(hipErrorInvalidValue);
        }
        let pointer = ptr.cast_mut();
        let found = match memory.find(ptr.addr()) {
            None => hipPointerAttribute_t {
                type_: hipMemoryTypeUnregistered,
                device: hipInvalidDeviceId,
                devicePointer: ptr::null_mut(),
                hostPointer: ptr::null_mut(),
                isManaged: 0,
                allocationFlags: 0,
            },
            Some(found) => {
                let (type_, host_pointer, flags) = match found.kind {
                    Kind::Device => (hipMemoryTypeDevice, ptr::null_mut(), 0),
                    Kind::Pinned { flags } => (hipMemoryTypeHost, pointer, flags),
                };
                hipPointerAttribute_t {
                    type_,
                    device: found.device as c_int,
                    devicePointer: pointer,
                    hostPointer: host_pointer,
                    isManaged: 0,
                    allocationFlags: flags,
                }
            }
        };
        // SAFETY: requires NULL or a writable place; holds by the header.
        unsafe { put(attributes, found) }
    }))
}

/// Start and length of the allocation that holds an address.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemGetAddressRange(
    pbase: *mut hipDeviceptr_t,
    psize: *mut usize,
    dptr: hipDeviceptr_t,
) -> hipError_t {
    answer(memory().and_then(|memory| {
        let found = memory.find(dptr.addr()).ok_or(hipErrorNotFound)?;
        if !pbase.is_null() {
            // SAFETY: requires a writable place; holds by the header, NULL was ruled out.
            unsafe { pbase.write(dptr.with_addr(found.base)) };
        }
        if !psize.is_null() {
            // SAFETY: as above.
            unsafe { psize.write(found.len) };
        }
        Ok(())
    }))
}
