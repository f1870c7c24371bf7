//! What devices say of themselves, what can be set on them, and copies between them.
#![allow(
    non_upper_case_globals,
    clippy::multiple_unsafe_ops_per_block,
    clippy::unwrap_used,
    reason = "names of the C header; one reason for a list of calls; a panic is a failed test"
)]

mod support;

use std::ffi::{CStr, c_char, c_int};
use std::ptr;

use soft_rocm_hip::header::*;
use support::{at, device_bytes, device_memory, host_bytes, passes_in_process, pattern, pinned_memory};

const TWO: [(&str, &str); 2] = [("SOFT_ROCM_DEVICE_COUNT", "2"), ("SOFT_ROCM_DEVICE_MEM", "3G")];

fn attribute(which: hipDeviceAttribute_t, device: i32) -> Result<i32, hipError_t> {
    let mut value = -1;
    // SAFETY: requires a writable place; holds, it is a local.
    match unsafe { hipDeviceGetAttribute(&mut value, which, device) } {
        hipSuccess => Ok(value),
        code => Err(code),
    }
}

fn properties(device: i32) -> hipDeviceProp_tR0600 {
    let mut place = std::mem::MaybeUninit::uninit();
    // SAFETY: requires a writable place; holds, it is a local.
    assert_eq!(unsafe { hipGetDevicePropertiesR0600(place.as_mut_ptr(), device) }, hipSuccess);
    // SAFETY: requires a value; holds, the call stored one.
    unsafe { place.assume_init() }
}

fn text(bytes: &[c_char]) -> &CStr {
    // SAFETY: requires a NUL inside; holds for every text of the library.
    unsafe { CStr::from_ptr(bytes.as_ptr()) }
}

/// Code and text of one of the two functions that answer a text, with this much room.
fn answer(
    function: unsafe extern "C" fn(*mut c_char, c_int, c_int) -> hipError_t,
    len: usize,
    device: i32,
) -> Result<String, hipError_t> {
    let mut place = vec![b'x' as c_char; len + 1];
    // SAFETY: requires that many writable bytes; holds for the vector.
    match unsafe { function(place.as_mut_ptr(), len as c_int, device) } {
        hipSuccess => Ok(text(&place).to_str().unwrap().to_owned()),
        code => {
            assert!(place.iter().all(|char| *char == b'x' as c_char));
            Err(code)
        }
    }
}

#[test]
fn every_attribute_of_the_header_has_a_value_and_no_other() {
    let header = include_str!("../../include/hip/hip_runtime_api.h");
    let ids: Vec<u32> = header
        .lines()
        .filter_map(|line| line.trim().strip_prefix("hipDeviceAttribute")?.split_once(" = "))
        .map(|(_, id)| id.trim_end_matches(',').parse().unwrap())
        .collect();
    assert!(ids.len() > 30, "{ids:?}");
    for id in (0..200).chain(9990..10100).chain([u32::MAX]) {
        let known = ids.contains(&id);
        let found = attribute(hipDeviceAttribute_t(id), 0);
        assert_eq!(found.is_ok(), known, "{id}");
        assert!(known || found == Err(hipErrorInvalidValue), "{id}: {found:?}");
    }
    assert_eq!(attribute(hipDeviceAttributeWarpSize, 1), Err(hipErrorInvalidDevice));
    assert_eq!(attribute(hipDeviceAttributeWarpSize, -1), Err(hipErrorInvalidDevice));
    // SAFETY: requires NULL or a writable place; holds.
    let code = unsafe { hipDeviceGetAttribute(ptr::null_mut(), hipDeviceAttributeWarpSize, 0) };
    assert_eq!(code, hipErrorInvalidValue);
}

#[test]
fn the_structure_says_what_the_other_functions_say() {
    passes_in_process("the_structure_says_what_the_other_functions_say", &TWO, || {
        for device in [0, 1] {
            let all = properties(device);
            let name = answer(hipDeviceGetName, 256, device).unwrap();
            assert_eq!(text(&all.name).to_str().unwrap(), name);
            assert_eq!(name, format!("Software ROCm device {device}"));
            let mut uuid = hipUUID { bytes: [0; 16] };
            // SAFETY: requires a writable place; holds, it is a local.
            assert_eq!(unsafe { hipDeviceGetUuid(&mut uuid, device) }, hipSuccess);
            assert_eq!(uuid.bytes, all.uuid.bytes);
            assert_eq!(uuid.bytes.map(|byte| byte as u8)[14..], *format!("{device:02}").as_bytes());
            let mut bytes = 0;
            // SAFETY: requires a writable place; holds, it is a local.
            assert_eq!(unsafe { hipDeviceTotalMem(&mut bytes, device) }, hipSuccess);
            assert_eq!((bytes, all.totalGlobalMem), (3 << 30, 3 << 30));
            let (mut major, mut minor) = (-1, -1);
            // SAFETY: requires writable places; holds, they are locals.
            assert_eq!(unsafe { hipDeviceComputeCapability(&mut major, &mut minor, device) }, hipSuccess);
            assert_eq!((major, minor), (all.major, all.minor));
            for (which, value) in [
                (hipDeviceAttributeWarpSize, all.warpSize),
                (hipDeviceAttributeMaxThreadsPerBlock, all.maxThreadsPerBlock),
                (hipDeviceAttributeMaxGridDimX, all.maxGridSize[0]),
                (hipDeviceAttributeMultiprocessorCount, all.multiProcessorCount),
                (hipDeviceAttributePciBusId, all.pciBusID),
                (hipDeviceAttributeManagedMemory, all.managedMemory),
                (hipDeviceAttributeTotalGlobalMem, i32::MAX),
            ] {
                assert_eq!(attribute(which, device), Ok(value), "{which:?}");
            }
            assert_eq!(text(&all.gcnArchName), c"gfx000");
            assert_eq!((all.reserved, all.hipReserved), ([0; 63], [0; 32]));
        }
    });
}

#[test]
fn devices_are_found_by_their_place_on_the_bus() {
    passes_in_process("devices_are_found_by_their_place_on_the_bus", &TWO, || {
        let find = |place: &CStr| {
            let mut device = -1;
            // SAFETY: requires a C string and a writable place; holds.
            (unsafe { hipDeviceGetByPCIBusId(&mut device, place.as_ptr()) }, device)
        };
        for (device, place) in [(0, c"0000:01:00.0"), (1, c"0000:02:00.0")] {
            assert_eq!(answer(hipDeviceGetPCIBusId, 13, device).unwrap(), place.to_str().unwrap());
            assert_eq!(find(place), (hipSuccess, device));
        }
        for wrong in [c"0000:03:00.0", c"0000:01:00", c"", c"0000:01:00.00"] {
            assert_eq!(find(wrong), (hipErrorInvalidValue, -1));
        }
        // SAFETY: requires NULL, a C string or a writable place; holds.
        let codes = unsafe {
            [
                hipDeviceGetByPCIBusId(ptr::null_mut(), c"0000:01:00.0".as_ptr()),
                hipDeviceGetByPCIBusId(&mut 0, ptr::null()),
            ]
        };
        assert_eq!(codes, [hipErrorInvalidValue; 2]);
    });
}

#[test]
fn texts_are_cut_or_refused_where_there_is_too_little_room() {
    assert_eq!(answer(hipDeviceGetName, 9, 0).as_deref(), Ok("Software"));
    assert_eq!(answer(hipDeviceGetName, 1, 0).as_deref(), Ok(""));
    assert_eq!(answer(hipDeviceGetName, 0, 0), Err(hipErrorInvalidValue));
    assert_eq!(answer(hipDeviceGetPCIBusId, 12, 0), Err(hipErrorInvalidValue));
    let null = ptr::null_mut();
    // SAFETY: requires NULL or enough room; holds.
    let codes = unsafe { [hipDeviceGetName(null, 10, 0), hipDeviceGetPCIBusId(null, 20, 0)] };
    assert_eq!(codes, [hipErrorInvalidValue; 2]);
}

#[test]
fn questions_about_a_device_need_one_and_a_place() {
    let (mut number, mut size, mut uuid) = (0, 0, hipUUID { bytes: [0; 16] });
    let mut prop = std::mem::MaybeUninit::uninit();
    for wrong in [1, -1, i32::MAX] {
        // SAFETY: requires writable places; holds, they are locals.
        let codes = unsafe {
            [
                hipDeviceGet(&mut number, wrong),
                hipGetDevicePropertiesR0600(prop.as_mut_ptr(), wrong),
                hipDeviceGetName([0; 9].as_mut_ptr(), 9, wrong),
                hipDeviceGetUuid(&mut uuid, wrong),
                hipDeviceGetPCIBusId([0; 20].as_mut_ptr(), 20, wrong),
                hipDeviceTotalMem(&mut size, wrong),
                hipDeviceComputeCapability(&mut number, &mut 0, wrong),
                hipDeviceCanAccessPeer(&mut number, 0, wrong),
                hipDeviceCanAccessPeer(&mut number, wrong, 0),
                hipDeviceEnablePeerAccess(wrong, 0),
                hipDeviceDisablePeerAccess(wrong),
                hipMemcpyPeer(ptr::null_mut(), wrong, ptr::null(), 0, 0),
                hipMemcpyPeer(ptr::null_mut(), 0, ptr::null(), wrong, 0),
            ]
        };
        assert_eq!(codes, [hipErrorInvalidDevice; 13], "{wrong}");
    }
    let null = ptr::null_mut();
    // SAFETY: requires NULL or writable places; holds.
    let codes = unsafe {
        [
            hipDeviceGet(null, 0),
            hipGetDevicePropertiesR0600(ptr::null_mut(), 0),
            hipDeviceGetUuid(ptr::null_mut(), 0),
            hipDeviceTotalMem(ptr::null_mut(), 0),
            hipDeviceComputeCapability(null, &mut number, 0),
            hipDeviceComputeCapability(&mut number, null, 0),
            hipDeviceCanAccessPeer(null, 0, 0),
            hipGetDeviceFlags(ptr::null_mut()),
        ]
    };
    assert_eq!(codes, [hipErrorInvalidValue; 8]);
    // SAFETY: requires a writable place; holds, it is a local.
    assert_eq!((unsafe { hipDeviceGet(&mut number, 0) }, number), (hipSuccess, 0));
}

fn flags() -> u32 {
    let mut flags = 77;
    // SAFETY: requires a writable place; holds, it is a local.
    assert_eq!(unsafe { hipGetDeviceFlags(&mut flags) }, hipSuccess);
    flags
}

#[test]
fn flags_and_access_belong_to_the_current_device() {
    passes_in_process("flags_and_access_belong_to_the_current_device", &TWO, || {
        let can = |device, peer| {
            let mut can = -1;
            // SAFETY: requires a writable place; holds, it is a local.
            assert_eq!(unsafe { hipDeviceCanAccessPeer(&mut can, device, peer) }, hipSuccess);
            can
        };
        assert_eq!([can(0, 1), can(1, 0), can(0, 0), can(1, 1)], [1, 1, 0, 0]);
        assert_eq!(hipSetDeviceFlags(hipDeviceScheduleYield | hipDeviceMapHost), hipSuccess);
        assert_eq!(hipSetDeviceFlags(3), hipErrorInvalidValue);
        assert_eq!(hipDeviceDisablePeerAccess(1), hipErrorPeerAccessNotEnabled);
        assert_eq!(hipDeviceEnablePeerAccess(1, 1), hipErrorInvalidValue);
        assert_eq!(hipDeviceEnablePeerAccess(0, 0), hipErrorInvalidDevice);
        assert_eq!(hipDeviceEnablePeerAccess(1, 0), hipSuccess);
        assert_eq!(hipDeviceEnablePeerAccess(1, 0), hipErrorPeerAccessAlreadyEnabled);
        assert_eq!((hipSetDevice(1), flags()), (hipSuccess, hipDeviceScheduleAuto));
        assert_eq!(hipDeviceEnablePeerAccess(1, 0), hipErrorInvalidDevice);
        assert_eq!(hipDeviceEnablePeerAccess(0, 0), hipSuccess);
        assert_eq!((hipSetDevice(0), flags()), (hipSuccess, hipDeviceScheduleYield | hipDeviceMapHost));
        assert_eq!(hipDeviceDisablePeerAccess(1), hipSuccess);
        assert_eq!(hipDeviceDisablePeerAccess(1), hipErrorPeerAccessNotEnabled);
    });
}

#[test]
fn bytes_are_copied_from_device_to_device() {
    passes_in_process("bytes_are_copied_from_device_to_device", &TWO, || {
        let bytes = pattern(10000);
        let source = device_bytes(&bytes);
        assert_eq!(hipSetDevice(1), hipSuccess);
        let target = device_memory(10100);
        let copy = |to, from, size| {
            // SAFETY: requires device memory; holds, other memory is refused.
            unsafe { hipMemcpyPeer(to, 1, from, 0, size) }
        };
        assert_eq!(copy(at(target, 100), source, 10000), hipSuccess);
        assert_eq!(host_bytes(at(target, 100), 10000), bytes);
        let mut host = [0u8; 10];
        for (to, from, size) in [
            (at(target, 101), source, 10000),
            (target, at(source, 1), 10000),
            (host.as_mut_ptr().cast(), source, 10),
            (target, host.as_mut_ptr().cast(), 10),
            (target, ptr::null_mut(), 10),
        ] {
            assert_eq!(copy(to, from, size), hipErrorInvalidValue);
        }
        assert_eq!(copy(pinned_memory(10, 0), source, 10), hipSuccess);
    });
}

#[test]
fn a_reset_frees_what_the_current_device_has() {
    passes_in_process("a_reset_frees_what_the_current_device_has", &TWO, || {
        let kind = |pointer| {
            let mut found = hipPointerAttribute_t::default();
            // SAFETY: requires a writable place; holds, it is a local.
            assert_eq!(unsafe { hipPointerGetAttributes(&mut found, pointer) }, hipSuccess);
            found.type_
        };
        assert_eq!(hipSetDevice(1), hipSuccess);
        let stays = device_memory(100);
        assert_eq!(hipSetDevice(0), hipSuccess);
        let (goes, pinned, mut managed) = (device_memory(100), pinned_memory(100, 0), ptr::null_mut());
        // SAFETY: requires a writable place; holds, it is a local.
        assert_eq!(unsafe { hipMallocManaged(&mut managed, 100, hipMemAttachGlobal) }, hipSuccess);
        assert_eq!([hipSetDeviceFlags(1), hipDeviceEnablePeerAccess(1, 0)], [hipSuccess; 2]);
        assert_eq!(hipDeviceReset(), hipSuccess);
        let kinds = [goes, managed, pinned, stays].map(|pointer| kind(pointer.cast_const()));
        let gone = hipMemoryTypeUnregistered;
        assert_eq!(kinds, [gone, gone, hipMemoryTypeHost, hipMemoryTypeDevice]);
        assert_eq!(hipFree(goes), hipErrorInvalidValue);
        assert_eq!((flags(), hipDeviceDisablePeerAccess(1)), (0, hipErrorPeerAccessNotEnabled));
    });
}
