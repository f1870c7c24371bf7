//! Devices and waiting for them.

use std::ffi::{c_int, c_uint};

use soft_rocm_faults::point;

use super::put;
use crate::bindings::{hipDevice_t, hipError_t, hipErrorNoDevice};
use crate::entry::call;
use crate::runtime::{current_device, memory, runtime, set_current_device, streams};
use crate::stream::host_function;

/// Number of devices.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetDeviceCount(count: *mut c_int) -> hipError_t {
    call(point::hipGetDeviceCount, 0, || {
        let runtime = runtime()?;
        let devices = runtime.devices();
        // SAFETY: requires NULL or a writable place; holds by the header.
        unsafe { put(count, devices as c_int) }?;
        if devices == 0 { Err(hipErrorNoDevice) } else { Ok(()) }
    })
}

/// The device with an ordinal.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceGet(device: *mut hipDevice_t, ordinal: c_int) -> hipError_t {
    call(point::hipDeviceGet, 0, || {
        let runtime = runtime()?;
        runtime.device(ordinal)?;
        // SAFETY: requires NULL or a writable place; holds by the header.
        unsafe { put(device, ordinal) }
    })
}

/// The calling thread's current device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetDevice(device_id: *mut c_int) -> hipError_t {
    call(point::hipGetDevice, 0, || {
        memory()?;
        // SAFETY: requires NULL or a writable place; holds by the header.
        unsafe { put(device_id, current_device() as c_int) }
    })
}

/// Makes a device current for the calling thread.
#[unsafe(no_mangle)]
pub extern "C" fn hipSetDevice(device_id: c_int) -> hipError_t {
    call(point::hipSetDevice, 0, || {
        runtime().and_then(|runtime| runtime.device(device_id)).map(set_current_device)
    })
}

/// Sets how the host waits for the current device.
#[unsafe(no_mangle)]
pub extern "C" fn hipSetDeviceFlags(flags: c_uint) -> hipError_t {
    call(point::hipSetDeviceFlags, 0, || runtime().and_then(|runtime| runtime.current()?.set_flags(flags)))
}

/// How the host waits for the current device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetDeviceFlags(flags: *mut c_uint) -> hipError_t {
    call(point::hipGetDeviceFlags, 0, || {
        let runtime = runtime()?;
        let found = runtime.current()?.flags();
        // SAFETY: requires NULL or a writable place; holds by the header.
        unsafe { put(flags, found) }
    })
}

/// Gives back what the current device has.
#[unsafe(no_mangle)]
pub extern "C" fn hipDeviceReset() -> hipError_t {
    call(point::hipDeviceReset, 0, || {
        let runtime = runtime()?;
        host_function::may_wait()?;
        streams()?.drain(current_device())?;
        runtime.current()?.reset();
        memory()?.free_all(current_device());
        Ok(())
    })
}

/// Waits for the current device.
#[unsafe(no_mangle)]
pub extern "C" fn hipDeviceSynchronize() -> hipError_t {
    call(point::hipDeviceSynchronize, 0, || {
        let streams = streams()?;
        host_function::may_wait()?;
        streams.wait_for_device(current_device())
    })
}
