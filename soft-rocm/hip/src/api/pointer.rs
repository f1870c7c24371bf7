//! What a pointer refers to.

use std::ffi::{c_int, c_void};
use std::ptr;

use soft_rocm_faults::point;

use super::put;
use crate::allocation::Kind;
use crate::bindings::{
    hipDeviceptr_t, hipError_t, hipErrorInvalidValue, hipErrorNotFound, hipInvalidDeviceId,
    hipMemoryTypeDevice, hipMemoryTypeHost, hipMemoryTypeManaged, hipMemoryTypeUnregistered,
    hipPointerAttribute_t,
};
use crate::entry::call;
use crate::runtime::memory;

/// What a pointer refers to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipPointerGetAttributes(
    attributes: *mut hipPointerAttribute_t,
    ptr: *const c_void,
) -> hipError_t {
    call(point::hipPointerGetAttributes, 0, || {
        let memory = memory()?;
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
            Some(found) => hipPointerAttribute_t {
                type_: match found.kind {
                    Kind::Device => hipMemoryTypeDevice,
                    Kind::Managed { .. } => hipMemoryTypeManaged,
                    Kind::Signal | Kind::Pinned { .. } | Kind::Registered { .. } => hipMemoryTypeHost,
                },
                device: found.device as c_int,
                devicePointer: pointer,
                hostPointer: if found.kind == Kind::Device { ptr::null_mut() } else { pointer },
                isManaged: c_int::from(matches!(found.kind, Kind::Managed { .. })),
                allocationFlags: found.kind.flags(),
            },
        };
        // SAFETY: requires NULL or a writable place; holds by the header.
        unsafe { put(attributes, found) }
    })
}

/// Start and length of the allocation that holds an address.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemGetAddressRange(
    pbase: *mut hipDeviceptr_t,
    psize: *mut usize,
    dptr: hipDeviceptr_t,
) -> hipError_t {
    call(point::hipMemGetAddressRange, 0, || {
        let memory = memory()?;
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
    })
}

/// Length of the allocation that starts at an address.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemPtrGetInfo(ptr: *mut c_void, size: *mut usize) -> hipError_t {
    call(point::hipMemPtrGetInfo, 0, || {
        let memory = memory()?;
        let found = memory.find(ptr.addr()).filter(|found| found.base == ptr.addr());
        let len = found.ok_or(hipErrorInvalidValue)?.len;
        // SAFETY: requires NULL or a writable place; holds by the header.
        unsafe { put(size, len) }
    })
}
