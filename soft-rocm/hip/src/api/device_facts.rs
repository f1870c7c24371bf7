//! What devices say of themselves.

use std::ffi::{CStr, c_char, c_int};

use soft_rocm_faults::point;

use super::put;
use crate::bindings::{
    hipDevice_t, hipDeviceAttribute_t, hipDeviceAttributeComputeCapabilityMajor,
    hipDeviceAttributeComputeCapabilityMinor, hipDeviceProp_tR0600, hipError_t, hipErrorInvalidValue,
    hipUUID,
};
use crate::entry::call;
use crate::facts;
use crate::runtime::{Runtime, runtime};

/// One property of a device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceGetAttribute(
    pi: *mut c_int,
    attr: hipDeviceAttribute_t,
    device_id: c_int,
) -> hipError_t {
    call(point::hipDeviceGetAttribute, 0, || {
        let runtime = runtime()?;
        let value = attribute(runtime, attr, device_id)?;
        // SAFETY: requires NULL or a writable place; holds by the header.
        unsafe { put(pi, value) }
    })
}

fn attribute(runtime: &Runtime, attribute: hipDeviceAttribute_t, device: c_int) -> Result<c_int, hipError_t> {
    let device = runtime.device(device)?;
    facts::attribute(attribute, device, runtime.device_memory()).ok_or(hipErrorInvalidValue)
}

/// Everything about a device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipGetDevicePropertiesR0600(
    prop: *mut hipDeviceProp_tR0600,
    device_id: c_int,
) -> hipError_t {
    call(point::hipGetDevicePropertiesR0600, 0, || {
        let runtime = runtime()?;
        let device = runtime.device(device_id)?;
        // SAFETY: requires NULL or a writable place; holds by the header.
        unsafe { put(prop, facts::properties(device, runtime.name(device), runtime.device_memory())) }
    })
}

/// Name of a device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceGetName(name: *mut c_char, len: c_int, device: hipDevice_t) -> hipError_t {
    call(point::hipDeviceGetName, 0, || {
        let runtime = runtime()?;
        let text = runtime.name(runtime.device(device)?);
        // SAFETY: requires NULL or `len` writable bytes; holds by the header.
        unsafe { put_text(name, len, 1, text) }
    })
}

/// What identifies a device beyond this process.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceGetUuid(uuid: *mut hipUUID, device: hipDevice_t) -> hipError_t {
    call(point::hipDeviceGetUuid, 0, || {
        let runtime = runtime()?;
        let found = facts::uuid(runtime.device(device)?);
        // SAFETY: requires NULL or a writable place; holds by the header.
        unsafe { put(uuid, found) }
    })
}

/// Place of a device on the PCI bus.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceGetPCIBusId(
    pci_bus_id: *mut c_char,
    len: c_int,
    device: c_int,
) -> hipError_t {
    call(point::hipDeviceGetPCIBusId, 0, || {
        let runtime = runtime()?;
        let text = facts::pci_bus_id(runtime.device(device)?);
        // SAFETY: requires NULL or `len` writable bytes; holds by the header.
        unsafe { put_text(pci_bus_id, len, text.len() + 1, &text) }
    })
}

/// Stores a text where there is room for at least `least` bytes, cut to what fits.
///
/// # Safety
///
/// `place` is NULL or has `len` writable bytes.
unsafe fn put_text(place: *mut c_char, len: c_int, least: usize, text: &str) -> Result<(), hipError_t> {
    let len = usize::try_from(len).ok().filter(|len| *len >= least).ok_or(hipErrorInvalidValue)?;
    if place.is_null() {
        return Err(hipErrorInvalidValue);
    }
    let mut bytes = vec![0; len.min(text.len() + 1)];
    facts::store(&mut bytes, text);
    // SAFETY: requires that many writable bytes apart from the text's; holds by contract, NULL was ruled out.
    unsafe { place.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
    Ok(())
}

/// The device at a place on the PCI bus.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceGetByPCIBusId(device: *mut c_int, pci_bus_id: *const c_char) -> hipError_t {
    call(point::hipDeviceGetByPCIBusId, 0, || {
        let runtime = runtime()?;
        if pci_bus_id.is_null() {
            return Err(hipErrorInvalidValue);
        }
        // SAFETY: requires a C string; holds by the header, NULL was ruled out.
        let wanted = unsafe { CStr::from_ptr(pci_bus_id) }.to_bytes();
        let is_wanted = |device: &u32| facts::pci_bus_id(*device).as_bytes().eq_ignore_ascii_case(wanted);
        let found = (0..runtime.devices()).find(is_wanted).ok_or(hipErrorInvalidValue)?;
        // SAFETY: requires NULL or a writable place; holds by the header.
        unsafe { put(device, found as c_int) }
    })
}

/// Memory of a device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceTotalMem(bytes: *mut usize, device: hipDevice_t) -> hipError_t {
    call(point::hipDeviceTotalMem, 0, || {
        let runtime = runtime()?;
        runtime.device(device)?;
        // SAFETY: requires NULL or a writable place; holds by the header.
        unsafe { put(bytes, runtime.device_memory()) }
    })
}

/// The two numbers of a device's architecture.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipDeviceComputeCapability(
    major: *mut c_int,
    minor: *mut c_int,
    device: hipDevice_t,
) -> hipError_t {
    call(point::hipDeviceComputeCapability, 0, || {
        let runtime = runtime()?;
        let first = attribute(runtime, hipDeviceAttributeComputeCapabilityMajor, device)?;
        let second = attribute(runtime, hipDeviceAttributeComputeCapabilityMinor, device)?;
        // SAFETY: requires NULL or a writable place; holds by the header.
        unsafe { put(major, first) }?;
        // SAFETY: as above.
        unsafe { put(minor, second) }
    })
}
