//! Allocations, copies and pointers through the exported functions.
#![allow(
    non_upper_case_globals,
    clippy::multiple_unsafe_ops_per_block,
    clippy::unwrap_used,
    reason = "names of the C header; one reason for a list of calls; a panic is a failed test"
)]

mod support;

use std::ffi::c_void;
use std::ptr;

use soft_rocm_hip::header::*;
use support::{at, device_bytes, device_memory, host_bytes, pattern, pinned_memory};

fn attributes(pointer: *const c_void) -> (hipError_t, hipPointerAttribute_t) {
    let mut found = hipPointerAttribute_t::default();
    // SAFETY: requires a writable place; holds, it is a local.
    (unsafe { hipPointerGetAttributes(&mut found, pointer) }, found)
}

fn range(pointer: *mut c_void) -> (hipError_t, *mut c_void, usize) {
    let (mut base, mut size) = (ptr::null_mut(), 0);
    // SAFETY: requires writable places; holds, they are locals.
    (unsafe { hipMemGetAddressRange(&mut base, &mut size, pointer) }, base, size)
}

#[test]
fn bytes_survive_the_way_through_the_device() {
    let bytes = pattern(3 << 20);
    let device = device_bytes(&bytes);
    assert_eq!(host_bytes(device, bytes.len()), bytes);
    assert_eq!(host_bytes(at(device, 12345), 1000), bytes[12345..13345]);
    assert_eq!(hipFree(device), hipSuccess);
}

#[test]
fn memory_is_set_to_the_low_byte() {
    let device = device_memory(100);
    // SAFETY: requires that nobody uses the range; holds.
    assert_eq!(unsafe { hipMemset(at(device, 10), 0x1ff, 80) }, hipSuccess);
    let bytes = host_bytes(device, 100);
    assert_eq!((bytes[9], bytes[10], bytes[89], bytes[90]), (0, 255, 255, 0));
    // SAFETY: as above.
    assert_eq!(unsafe { hipMemset(device, 0, 101) }, hipErrorInvalidValue);
}

#[test]
fn nothing_is_a_size() {
    let mut pointer = ptr::dangling_mut();
    // SAFETY: requires a writable place; holds, it is a local.
    assert_eq!(unsafe { hipMalloc(&mut pointer, 0) }, hipSuccess);
    assert!(pointer.is_null());
    pointer = ptr::dangling_mut();
    // SAFETY: as above.
    assert_eq!(unsafe { hipHostMalloc(&mut pointer, 0, 0) }, hipSuccess);
    assert!(pointer.is_null());
    assert_eq!([hipFree(pointer), hipHostFree(pointer)], [hipSuccess; 2]);
    // SAFETY: requires nothing of an empty range.
    assert_eq!(unsafe { hipMemcpy(pointer, pointer, 0, hipMemcpyDefault) }, hipSuccess);
    // SAFETY: as above.
    assert_eq!(unsafe { hipMemset(pointer, 0, 0) }, hipSuccess);
}

#[test]
fn null_places_are_refused() {
    let mut number = 0usize;
    // SAFETY: requires NULL or writable places; holds.
    let answers = unsafe {
        [
            hipMalloc(ptr::null_mut(), 1),
            hipHostMalloc(ptr::null_mut(), 1, 0),
            hipMemGetInfo(ptr::null_mut(), &mut number),
            hipMemGetInfo(&mut number, ptr::null_mut()),
            hipPointerGetAttributes(ptr::null_mut(), (&raw const number).cast()),
            hipMemcpy(ptr::null_mut(), (&raw const number).cast(), 1, hipMemcpyDefault),
        ]
    };
    assert_eq!(answers, [hipErrorInvalidValue; 6]);
}

#[test]
fn pointers_are_classified() {
    let device = device_memory(100);
    let pinned = pinned_memory(100, hipHostMallocPortable);
    let host = 0u8;
    let expected = |type_, device, device_pointer, host_pointer, flags| hipPointerAttribute_t {
        type_,
        device,
        devicePointer: device_pointer,
        hostPointer: host_pointer,
        isManaged: 0,
        allocationFlags: flags,
    };
    let null = ptr::null_mut();
    let foreign = expected(hipMemoryTypeUnregistered, hipInvalidDeviceId, null, null, 0);
    for (pointer, wanted) in [
        (device, expected(hipMemoryTypeDevice, 0, device, null, 0)),
        (at(device, 99), expected(hipMemoryTypeDevice, 0, at(device, 99), null, 0)),
        (at(device, 100), foreign),
        (pinned, expected(hipMemoryTypeHost, 0, pinned, pinned, hipHostMallocPortable)),
        (
            at(pinned, 99),
            expected(hipMemoryTypeHost, 0, at(pinned, 99), at(pinned, 99), hipHostMallocPortable),
        ),
        ((&raw const host).cast_mut().cast(), foreign),
        (ptr::without_provenance_mut(usize::MAX), foreign),
    ] {
        let (code, found) = attributes(pointer);
        assert_eq!((code, format!("{found:?}")), (hipSuccess, format!("{wanted:?}")), "{pointer:?}");
    }
    assert_eq!(attributes(null).0, hipErrorInvalidValue);
    assert_eq!([hipFree(device), hipHostFree(pinned)], [hipSuccess; 2]);
    assert_eq!(attributes(device).1.type_, hipMemoryTypeUnregistered);
    assert_eq!(attributes(pinned).1.type_, hipMemoryTypeUnregistered);
}

#[test]
fn an_interior_pointer_leads_to_its_allocation() {
    let device = device_memory(5000);
    let pinned = pinned_memory(10, 0);
    assert_eq!(range(device), (hipSuccess, device, 5000));
    assert_eq!(range(at(device, 4999)), (hipSuccess, device, 5000));
    assert_eq!(range(at(pinned, 9)), (hipSuccess, pinned, 10));
    let mut local = 0u8;
    for unknown in [at(device, 5000), at(pinned, 10), ptr::null_mut(), (&raw mut local).cast()] {
        assert_eq!(range(unknown).0, hipErrorNotFound, "{unknown:?}");
    }
    // SAFETY: requires NULL or writable places; holds.
    assert_eq!(unsafe { hipMemGetAddressRange(ptr::null_mut(), ptr::null_mut(), device) }, hipSuccess);
    assert_eq!(hipFree(device), hipSuccess);
    assert_eq!(range(device).0, hipErrorNotFound);
}

#[test]
fn memory_is_freed_once_by_its_own_function() {
    let device = device_memory(100);
    let pinned = pinned_memory(100, 0);
    for (wrong, answer) in [
        ("interior", hipFree(at(device, 1))),
        ("pinned by hipFree", hipFree(pinned)),
        ("device by hipHostFree", hipHostFree(device)),
        ("interior pinned", hipHostFree(at(pinned, 1))),
        ("host", hipFree((&raw const answer_of_nothing).cast_mut().cast())),
    ] {
        assert_eq!(answer, hipErrorInvalidValue, "{wrong}");
    }
    assert_eq!([hipFree(device), hipHostFree(pinned)], [hipSuccess; 2]);
    assert_eq!([hipFree(device), hipHostFree(pinned)], [hipErrorInvalidValue; 2]);
}

static answer_of_nothing: u8 = 0;

#[test]
fn freed_memory_can_not_be_copied() {
    let device = device_memory(100);
    assert_eq!(hipFree(device), hipSuccess);
    let mut host = [1u8; 100];
    let pointer: *mut c_void = host.as_mut_ptr().cast();
    // SAFETY: requires usable host memory; holds for the array.
    assert_eq!(unsafe { hipMemcpy(pointer, device, 100, hipMemcpyDefault) }, hipErrorInvalidValue);
    // SAFETY: as above.
    assert_eq!(unsafe { hipMemcpy(device, pointer, 100, hipMemcpyDefault) }, hipErrorInvalidValue);
    // SAFETY: as above.
    assert_eq!(unsafe { hipMemset(device, 0, 100) }, hipErrorInvalidValue);
    assert_eq!(host, [1; 100]);
}

#[test]
fn more_than_the_device_has_is_out_of_memory() {
    for size in [(16 << 30) + 1, usize::MAX] {
        let mut pointer = ptr::dangling_mut();
        // SAFETY: requires a writable place; holds, it is a local.
        assert_eq!(unsafe { hipMalloc(&mut pointer, size) }, hipErrorOutOfMemory);
        assert!(pointer.is_null());
    }
    let mut pointer = ptr::dangling_mut();
    // SAFETY: as above.
    assert_eq!(unsafe { hipHostMalloc(&mut pointer, usize::MAX, 0) }, hipErrorOutOfMemory);
    assert!(pointer.is_null());
}

#[test]
fn pinned_memory_takes_known_flags_and_has_a_device_address() {
    for flags in [0, hipHostMallocMapped | hipHostMallocCoherent, hipHostMallocNonCoherent] {
        let pinned = pinned_memory(100, flags);
        // SAFETY: requires 100 writable bytes; holds for the allocation.
        unsafe { pinned.cast::<u8>().write_bytes(3, 100) };
        let mut device = ptr::null_mut();
        // SAFETY: requires a writable place; holds, it is a local.
        assert_eq!(unsafe { hipHostGetDevicePointer(&mut device, at(pinned, 7), 0) }, hipSuccess);
        assert_eq!(device, at(pinned, 7));
        // SAFETY: as above.
        assert_eq!(unsafe { hipHostGetDevicePointer(&mut device, pinned, 1) }, hipErrorInvalidValue);
        // SAFETY: as above.
        assert_eq!(unsafe { hipHostGetDevicePointer(ptr::null_mut(), pinned, 0) }, hipErrorInvalidValue);
        assert_eq!(hipHostFree(pinned), hipSuccess);
    }
    let mut pointer = ptr::null_mut();
    for flags in [0x8, 0x10, hipHostMallocCoherent | hipHostMallocNonCoherent] {
        // SAFETY: as above.
        assert_eq!(unsafe { hipHostMalloc(&mut pointer, 1, flags) }, hipErrorInvalidValue);
    }
    let device = device_memory(1);
    // SAFETY: as above.
    assert_eq!(unsafe { hipHostGetDevicePointer(&mut pointer, device, 0) }, hipErrorInvalidValue);
}

#[test]
fn the_host_address_reaches_the_same_bytes() {
    let device = device_bytes(&pattern(10000));
    let host = softrocm_host_address(at(device, 100), 9900).cast::<u8>();
    // SAFETY: requires readable bytes; holds for the answered range.
    assert_eq!(unsafe { std::slice::from_raw_parts(host, 9900) }, &pattern(10000)[100..]);
    // SAFETY: requires a writable byte; holds as above.
    unsafe { host.write(77) };
    assert_eq!(host_bytes(device, 101)[100], 77);
}

#[test]
fn the_host_address_is_for_one_live_allocation_of_the_device() {
    let first = device_memory(4096);
    let second = device_memory(4096);
    let pinned = pinned_memory(100, 0);
    // Twice, as the second time answers from the thread's cache.
    for _ in 0..2 {
        assert!(!softrocm_host_address(first, 4096).is_null());
        assert!(!softrocm_host_address(at(first, 4096), 0).is_null());
        for (pointer, size) in [
            (first, 4097),
            (at(first, 1), 4096),
            (at(first, 1), usize::MAX),
            (at(second, 4095), 2),
            (pinned, 1),
            (ptr::null_mut(), 0),
            (ptr::null_mut(), 1),
        ] {
            assert!(softrocm_host_address(pointer, size).is_null(), "{pointer:?} {size}");
        }
    }
    assert_eq!(hipFree(first), hipSuccess);
    assert!(softrocm_host_address(first, 1).is_null());
}

#[test]
fn the_host_address_notices_what_another_thread_frees() {
    let device = device_memory(100);
    assert!(!softrocm_host_address(device, 100).is_null());
    let address = device.expose_provenance();
    let freed = std::thread::spawn(move || hipFree(ptr::with_exposed_provenance_mut(address)));
    assert_eq!(freed.join().unwrap(), hipSuccess);
    assert!(softrocm_host_address(device, 100).is_null());
}
