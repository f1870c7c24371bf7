//! Host memory for devices: pinned by the library, or the program's own and registered.

use std::ffi::{c_uint, c_void};
use std::ptr;

use soft_rocm_faults::point;

use super::memory::wait_before_free;
use super::put;
use crate::allocation::Kind;
use crate::bindings::{
    hipError_t, hipErrorInvalidValue, hipExtHostRegisterCoarseGrained, hipHostMallocCoherent,
    hipHostMallocMapped, hipHostMallocNonCoherent, hipHostMallocNumaUser, hipHostMallocPortable,
    hipHostMallocWriteCombined, hipHostRegisterIoMemory, hipHostRegisterMapped, hipHostRegisterPortable,
};
use crate::entry::call;
use crate::misuse;
use crate::runtime::{current_device, memory};
use crate::stream::Streams;

const MALLOC_FLAGS: c_uint = hipHostMallocPortable
    | hipHostMallocMapped
    | hipHostMallocWriteCombined
    | hipHostMallocNumaUser
    | hipHostMallocCoherent
    | hipHostMallocNonCoherent;

const REGISTER_FLAGS: c_uint = hipHostRegisterPortable
    | hipHostRegisterMapped
    | hipHostRegisterIoMemory
    | hipExtHostRegisterCoarseGrained;

/// Allocates pinned host memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipHostMalloc(ptr: *mut *mut c_void, size: usize, flags: c_uint) -> hipError_t {
    call(point::hipHostMalloc, size, || {
        let memory = memory()?;
        let contradiction = hipHostMallocCoherent | hipHostMallocNonCoherent;
        if flags & !MALLOC_FLAGS != 0 || flags & contradiction == contradiction {
            return Err(hipErrorInvalidValue);
        }
        // SAFETY: requires NULL or a writable place; holds by the header.
        unsafe { put(ptr, ptr::null_mut()) }?;
        if size == 0 {
            return Ok(());
        }
        let address = memory.allocate_mapped(current_device(), size, Kind::Pinned { flags })?;
        // SAFETY: as above.
        unsafe { put(ptr, address.cast()) }
    })
}

/// Frees pinned host memory.
#[unsafe(no_mangle)]
pub extern "C" fn hipHostFree(ptr: *mut c_void) -> hipError_t {
    call(point::hipHostFree, 0, || {
        let memory = memory()?;
        if ptr.is_null() {
            return Ok(());
        }
        // Every device may use it.
        wait_before_free(Streams::drain_all)?;
        misuse::ended(memory, point::hipHostFree, ptr, memory.free_pinned(ptr.addr()))
    })
}

/// Registers host memory of the program.
#[unsafe(no_mangle)]
pub extern "C" fn hipHostRegister(host_ptr: *mut c_void, size_bytes: usize, flags: c_uint) -> hipError_t {
    call(point::hipHostRegister, size_bytes, || {
        let memory = memory()?;
        if host_ptr.is_null() || size_bytes == 0 || flags & !REGISTER_FLAGS != 0 {
            return Err(hipErrorInvalidValue);
        }
        memory.register(current_device(), host_ptr.addr(), size_bytes, flags)
    })
}

/// Undoes a registration.
#[unsafe(no_mangle)]
pub extern "C" fn hipHostUnregister(host_ptr: *mut c_void) -> hipError_t {
    call(point::hipHostUnregister, 0, || {
        let memory = memory()?;
        if host_ptr.is_null() {
            return Err(hipErrorInvalidValue);
        }
        // The program may free it next.
        wait_before_free(Streams::drain_all)?;
        misuse::ended(memory, point::hipHostUnregister, host_ptr, memory.unregister(host_ptr.addr()))
    })
}

/// Flags that pinned or registered memory was made with.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipHostGetFlags(flags_ptr: *mut c_uint, host_ptr: *mut c_void) -> hipError_t {
    call(point::hipHostGetFlags, 0, || {
        let memory = memory()?;
        let kind = memory.find(host_ptr.addr()).ok_or(hipErrorInvalidValue)?.kind;
        if !kind.is_pinned() && !kind.is_registered() {
            return Err(hipErrorInvalidValue);
        }
        // SAFETY: requires NULL or a writable place; holds by the header.
        unsafe { put(flags_ptr, kind.flags()) }
    })
}

/// Address for device code of memory that the host reaches: the same one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipHostGetDevicePointer(
    dev_ptr: *mut *mut c_void,
    host_ptr: *mut c_void,
    flags: c_uint,
) -> hipError_t {
    call(point::hipHostGetDevicePointer, 0, || {
        let memory = memory()?;
        let found = memory.find(host_ptr.addr()).filter(|found| found.kind != Kind::Device);
        if flags != 0 || found.is_none() {
            return Err(hipErrorInvalidValue);
        }
        // SAFETY: requires NULL or a writable place; holds by the header.
        unsafe { put(dev_ptr, host_ptr) }
    })
}
