//! What a device says of itself. There is no GPU behind it, so there is no architecture, and speeds say nothing.

use std::ffi::{CString, c_char, c_int};

use crate::bindings::*;

/// No code is built for it.
const ARCHITECTURE: &str = "gfx000";

/// Value of an attribute; none if it is not known. `memory` is what the device has.
pub(crate) fn attribute(attribute: hipDeviceAttribute_t, device: u32, memory: usize) -> Option<c_int> {
    Some(match attribute {
        hipDeviceAttributeAsyncEngineCount => 1,
        hipDeviceAttributeCanMapHostMemory => 1,
        hipDeviceAttributeCanUseHostPointerForRegisteredMem => 1,
        hipDeviceAttributeCanUseStreamWaitValue => 1,
        hipDeviceAttributeClockRate => 1_000_000,
        hipDeviceAttributeComputeCapabilityMajor => 0,
        hipDeviceAttributeComputeCapabilityMinor => 0,
        hipDeviceAttributeComputeMode => 0,
        hipDeviceAttributeConcurrentKernels => 0,
        hipDeviceAttributeConcurrentManagedAccess => 1,
        hipDeviceAttributeCooperativeLaunch => 0,
        hipDeviceAttributeIntegrated => 0,
        hipDeviceAttributeIsLargeBar => 0,
        hipDeviceAttributeKernelExecTimeout => 0,
        hipDeviceAttributeL2CacheSize => 0,
        hipDeviceAttributeManagedMemory => 1,
        hipDeviceAttributeMaxBlockDimX | hipDeviceAttributeMaxBlockDimY | hipDeviceAttributeMaxBlockDimZ => {
            1024
        }
        hipDeviceAttributeMaxGridDimX => c_int::MAX,
        hipDeviceAttributeMaxGridDimY | hipDeviceAttributeMaxGridDimZ => 65535,
        hipDeviceAttributeMaxPitch => c_int::MAX,
        hipDeviceAttributeMaxRegistersPerBlock => 65536,
        hipDeviceAttributeMaxSharedMemoryPerBlock => 65536,
        hipDeviceAttributeMaxThreadsPerBlock => 1024,
        hipDeviceAttributeMaxThreadsPerMultiProcessor => 1024,
        hipDeviceAttributeMemoryBusWidth => 64,
        hipDeviceAttributeMemoryClockRate => 1_000_000,
        hipDeviceAttributeMemoryPoolsSupported => 0,
        hipDeviceAttributeMultiprocessorCount => 1,
        hipDeviceAttributePageableMemoryAccess => 0,
        hipDeviceAttributePciBusId => pci_bus(device),
        hipDeviceAttributePciDeviceId => 0,
        hipDeviceAttributePciDomainID => 0,
        hipDeviceAttributeStreamPrioritiesSupported => 0,
        hipDeviceAttributeTotalConstantMemory => c_int::MAX,
        hipDeviceAttributeTotalGlobalMem => c_int::try_from(memory).unwrap_or(c_int::MAX),
        hipDeviceAttributeUnifiedAddressing => 1,
        hipDeviceAttributeWarpSize => 64,
        _ => return None,
    })
}

/// The attributes in one structure; what the header gives no attribute for is 0.
pub(crate) fn properties(device: u32, name: &str, memory: usize) -> hipDeviceProp_tR0600 {
    let int = |which| attribute(which, device, memory).unwrap_or(0);
    let size = |which| usize::try_from(int(which)).unwrap_or(0);
    let place = std::mem::MaybeUninit::<hipDeviceProp_tR0600>::zeroed();
    // SAFETY: requires that zeros are a value of each field; holds for numbers, arrays of them and raw pointers.
    let mut all = unsafe { place.assume_init() };
    store(&mut all.name, name);
    all.uuid = uuid(device);
    all.totalGlobalMem = memory;
    all.sharedMemPerBlock = size(hipDeviceAttributeMaxSharedMemoryPerBlock);
    all.sharedMemPerMultiprocessor = all.sharedMemPerBlock;
    all.maxSharedMemoryPerMultiProcessor = all.sharedMemPerBlock;
    all.regsPerBlock = int(hipDeviceAttributeMaxRegistersPerBlock);
    all.regsPerMultiprocessor = all.regsPerBlock;
    all.warpSize = int(hipDeviceAttributeWarpSize);
    all.memPitch = size(hipDeviceAttributeMaxPitch);
    all.maxThreadsPerBlock = int(hipDeviceAttributeMaxThreadsPerBlock);
    all.maxThreadsDim =
        [hipDeviceAttributeMaxBlockDimX, hipDeviceAttributeMaxBlockDimY, hipDeviceAttributeMaxBlockDimZ]
            .map(int);
    all.maxGridSize =
        [hipDeviceAttributeMaxGridDimX, hipDeviceAttributeMaxGridDimY, hipDeviceAttributeMaxGridDimZ]
            .map(int);
    all.clockRate = int(hipDeviceAttributeClockRate);
    all.totalConstMem = size(hipDeviceAttributeTotalConstantMemory);
    all.major = int(hipDeviceAttributeComputeCapabilityMajor);
    all.minor = int(hipDeviceAttributeComputeCapabilityMinor);
    all.multiProcessorCount = int(hipDeviceAttributeMultiprocessorCount);
    all.kernelExecTimeoutEnabled = int(hipDeviceAttributeKernelExecTimeout);
    all.integrated = int(hipDeviceAttributeIntegrated);
    all.canMapHostMemory = int(hipDeviceAttributeCanMapHostMemory);
    all.computeMode = int(hipDeviceAttributeComputeMode);
    all.concurrentKernels = int(hipDeviceAttributeConcurrentKernels);
    all.pciBusID = int(hipDeviceAttributePciBusId);
    all.pciDeviceID = int(hipDeviceAttributePciDeviceId);
    all.pciDomainID = int(hipDeviceAttributePciDomainID);
    all.asyncEngineCount = int(hipDeviceAttributeAsyncEngineCount);
    all.deviceOverlap = c_int::from(all.asyncEngineCount > 0);
    all.unifiedAddressing = int(hipDeviceAttributeUnifiedAddressing);
    all.memoryClockRate = int(hipDeviceAttributeMemoryClockRate);
    all.memoryBusWidth = int(hipDeviceAttributeMemoryBusWidth);
    all.l2CacheSize = int(hipDeviceAttributeL2CacheSize);
    all.maxThreadsPerMultiProcessor = int(hipDeviceAttributeMaxThreadsPerMultiProcessor);
    all.streamPrioritiesSupported = int(hipDeviceAttributeStreamPrioritiesSupported);
    all.managedMemory = int(hipDeviceAttributeManagedMemory);
    all.pageableMemoryAccess = int(hipDeviceAttributePageableMemoryAccess);
    all.concurrentManagedAccess = int(hipDeviceAttributeConcurrentManagedAccess);
    all.canUseHostPointerForRegisteredMem = int(hipDeviceAttributeCanUseHostPointerForRegisteredMem);
    all.cooperativeLaunch = int(hipDeviceAttributeCooperativeLaunch);
    all.hostRegisterSupported = 1;
    all.memoryPoolsSupported = int(hipDeviceAttributeMemoryPoolsSupported);
    store(&mut all.gcnArchName, ARCHITECTURE);
    all.isLargeBar = int(hipDeviceAttributeIsLargeBar);
    all
}

/// What identifies a device: the same in every process.
pub(crate) fn uuid(device: u32) -> hipUUID {
    let mut uuid = hipUUID { bytes: [0; 16] };
    for (place, byte) in uuid.bytes.iter_mut().zip(format!("soft-rocm-gpu-{device:02}").into_bytes()) {
        *place = byte as c_char;
    }
    uuid
}

/// Place on the PCI bus. There is none, but programs tell devices apart by it.
pub(crate) fn pci_bus_id(device: u32) -> String {
    format!("0000:{:02x}:00.0", pci_bus(device))
}

fn pci_bus(device: u32) -> c_int {
    device as c_int + 1
}

/// Puts a text and its NUL into a place, cut to what fits.
pub(crate) fn store(place: &mut [c_char], text: &str) {
    let text = CString::new(text).unwrap_or_default();
    let text = text.as_bytes_with_nul();
    for (place, byte) in place.iter_mut().zip(text) {
        *place = *byte as c_char;
    }
    if let Some(last) = place.last_mut() {
        *last = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_to_its_place_and_ends_with_a_nul() {
        let stored = |len: usize| {
            let mut place = vec![b'x' as c_char; len];
            store(&mut place, "abc");
            place.iter().map(|char| *char as u8).collect::<Vec<_>>()
        };
        assert_eq!([stored(1), stored(3), stored(4)], [b"\0".to_vec(), b"ab\0".to_vec(), b"abc\0".to_vec()]);
        // The last byte of a place is always NUL.
        assert_eq!(stored(6), b"abc\0x\0");
        assert_eq!(stored(0), b"");
    }

    #[test]
    fn devices_differ_in_all_that_tells_them_apart() {
        assert_eq!([pci_bus_id(0), pci_bus_id(63)], ["0000:01:00.0", "0000:40:00.0"]);
        assert_eq!(uuid(63).bytes.map(|byte| byte as u8), *b"soft-rocm-gpu-63");
    }

    #[test]
    fn more_memory_than_an_int_holds_is_the_most_it_holds() {
        assert_eq!(attribute(hipDeviceAttributeTotalGlobalMem, 0, 4096), Some(4096));
        assert_eq!(attribute(hipDeviceAttributeTotalGlobalMem, 0, 16 << 30), Some(c_int::MAX));
        assert_eq!(properties(0, "", 16 << 30).totalGlobalMem, 16 << 30);
    }
}
