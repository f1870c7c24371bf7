//! Devices that use the memory of one another. All memory is the host's, so any two can.

use std::ffi::{c_int, c_uint, c_void};

use soft_rocm_faults::point;

use super::asynchronous::submit_copy;
use super::put;
use super::transfer::copy;
use crate::bindings::{
    hipError_t, hipErrorInvalidDevice, hipErrorInvalidValue, hipMemcpyDeviceToDevice, hipStream_t,
};
use crate::entry::call;
use crate::runtime::{current_device, runtime};

/// Whether a device can use the memory of another.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceCanAccessPeer(
    can_access_peer: *mut c_int,
    device_id: c_int,
    peer_device_id: c_int,
) -> hipError_t {
    call(point::hipDeviceCanAccessPeer, 0, || {
        let runtime = runtime()?;
        let apart = runtime.device(device_id)? != runtime.device(peer_device_id)?;
        // SAFETY: requires NULL or a writable place; holds by the header.
        unsafe { put(can_access_peer, c_int::from(apart)) }
    })
}

/// Lets the current device use the memory of another.
#[unsafe(no_mangle)]
pub extern "C" fn hipDeviceEnablePeerAccess(peer_device_id: c_int, flags: c_uint) -> hipError_t {
    call(point::hipDeviceEnablePeerAccess, 0, || {
        let runtime = runtime()?;
        if flags != 0 {
            return Err(hipErrorInvalidValue);
        }
        let peer = runtime.device(peer_device_id)?;
        if peer == current_device() {
            return Err(hipErrorInvalidDevice);
        }
        runtime.current()?.enable_peer(peer)
    })
}

/// Ends that.
#[unsafe(no_mangle)]
pub extern "C" fn hipDeviceDisablePeerAccess(peer_device_id: c_int) -> hipError_t {
    call(point::hipDeviceDisablePeerAccess, 0, || {
        let runtime = runtime()?;
        let peer = runtime.device(peer_device_id)?;
        runtime.current()?.disable_peer(peer)
    })
}

/// Copies between the memory of two devices.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyPeer(
    dst: *mut c_void,
    dst_device_id: c_int,
    src: *const c_void,
    src_device_id: c_int,
    size_bytes: usize,
) -> hipError_t {
    call(point::hipMemcpyPeer, size_bytes, || {
        let runtime = runtime()?;
        runtime.device(dst_device_id)?;
        runtime.device(src_device_id)?;
        // SAFETY: requires usable host ranges and no concurrent use; holds by the header, host memory is refused.
        unsafe { copy(point::hipMemcpyPeer, dst, src, size_bytes, hipMemcpyDeviceToDevice) }
    })
}

/// Copies between the memory of two devices, in the order of a stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyPeerAsync(
    dst: *mut c_void,
    dst_device_id: c_int,
    src: *const c_void,
    src_device: c_int,
    size_bytes: usize,
    stream: hipStream_t,
) -> hipError_t {
    call(point::hipMemcpyPeerAsync, size_bytes, || {
        let runtime = runtime()?;
        runtime.device(dst_device_id)?;
        runtime.device(src_device)?;
        submit_copy(point::hipMemcpyPeerAsync, dst, src, size_bytes, hipMemcpyDeviceToDevice, stream)
    })
}
