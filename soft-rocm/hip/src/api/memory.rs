//! Device and managed memory.

use std::ffi::{c_uint, c_void};
use std::ptr;

use soft_rocm_faults::point;

use super::put;
use crate::allocation::Kind;
use crate::bindings::{
    hipDeviceMallocDefault, hipDeviceMallocFinegrained, hipDeviceMallocUncached, hipError_t,
    hipErrorInvalidValue, hipMallocSignalMemory, hipMemAttachGlobal, hipMemAttachHost,
};
use crate::entry::call;
use crate::misuse;
use crate::runtime::{current_device, memory, streams};
use crate::stream::{Streams, host_function};

/// Allocates memory of the current device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMalloc(ptr: *mut *mut c_void, size: usize) -> hipError_t {
    // SAFETY: requires NULL or a writable place; holds by the header.
    call(point::hipMalloc, size, || unsafe { allocate(ptr, size, Kind::Device) })
}

/// Allocates memory of the current device, of a sort.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipExtMallocWithFlags(
    ptr: *mut *mut c_void,
    size_bytes: usize,
    flags: c_uint,
) -> hipError_t {
    let kind = match flags {
        hipDeviceMallocDefault | hipDeviceMallocFinegrained | hipDeviceMallocUncached => Ok(Kind::Device),
        hipMallocSignalMemory if [0, SIGNAL_SIZE].contains(&size_bytes) => Ok(Kind::Signal),
        _ => Err(hipErrorInvalidValue),
    };
    call(point::hipExtMallocWithFlags, size_bytes, || {
        memory()?;
        // SAFETY: requires NULL or a writable place; holds by the header.
        unsafe { allocate(ptr, size_bytes, kind?) }
    })
}

/// The size of signal memory.
const SIGNAL_SIZE: usize = 8;

/// Allocates managed memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMallocManaged(
    dev_ptr: *mut *mut c_void,
    size: usize,
    flags: c_uint,
) -> hipError_t {
    call(point::hipMallocManaged, size, || {
        memory()?;
        if size == 0 || ![hipMemAttachGlobal, hipMemAttachHost].contains(&flags) {
            return Err(hipErrorInvalidValue);
        }
        // SAFETY: requires NULL or a writable place; holds by the header.
        unsafe { allocate(dev_ptr, size, Kind::Managed { flags }) }
    })
}

/// Allocates memory of the current device and stores its address; NULL for a size of 0, and for a failure.
///
/// # Safety
///
/// `place` is NULL or writable.
unsafe fn allocate(place: *mut *mut c_void, size: usize, kind: Kind) -> Result<(), hipError_t> {
    let memory = memory()?;
    // SAFETY: requires NULL or a writable place; holds by contract.
    unsafe { put(place, ptr::null_mut()) }?;
    if size == 0 {
        return Ok(());
    }
    let address = match kind {
        Kind::Device => memory.allocate(current_device(), size)?,
        _ => memory.allocate_mapped(current_device(), size, kind)?,
    };
    // SAFETY: as above.
    unsafe { put(place, address.cast()) }
}

/// Frees device or managed memory.
#[unsafe(no_mangle)]
pub extern "C" fn hipFree(ptr: *mut c_void) -> hipError_t {
    call(point::hipFree, 0, || {
        let memory = memory()?;
        if ptr.is_null() {
            return Ok(());
        }
        match memory.find(ptr.addr()) {
            Some(found) if found.kind == Kind::Device => {
                wait_before_free(|streams| streams.drain(found.device))?;
            }
            // Every device may use it.
            Some(_) => wait_before_free(Streams::drain_all)?,
            None => {}
        }
        misuse::ended(memory, point::hipFree, ptr, memory.free(ptr.addr()))
    })
}

/// Free and total memory of the current device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemGetInfo(free: *mut usize, total: *mut usize) -> hipError_t {
    call(point::hipMemGetInfo, 0, || {
        let memory = memory()?;
        let (free_bytes, total_bytes) = memory.info(current_device())?;
        // SAFETY: requires NULL or a writable place; holds by the header.
        unsafe { put(free, free_bytes) }?;
        // SAFETY: as above.
        unsafe { put(total, total_bytes) }
    })
}

/// Waits for work that may use memory which is about to go. In a function that a stream called there is no waiting.
pub(super) fn wait_before_free(
    wait: impl FnOnce(&Streams) -> Result<(), hipError_t>,
) -> Result<(), hipError_t> {
    if host_function::is_inside() { Ok(()) } else { wait(streams()?) }
}
