//! Every kind of memory: what it is called, who may free it, what copies take it for.
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
use support::{at, device_memory, passes_in_process, pinned_memory};

fn managed(size: usize) -> *mut c_void {
    let mut pointer = ptr::null_mut();
    // SAFETY: requires a writable place; holds, it is a local.
    assert_eq!(unsafe { hipMallocManaged(&mut pointer, size, hipMemAttachHost) }, hipSuccess);
    pointer
}

fn with_flags(size: usize, flags: u32) -> (hipError_t, *mut c_void) {
    let mut pointer = ptr::dangling_mut();
    // SAFETY: requires a writable place; holds, it is a local.
    (unsafe { hipExtMallocWithFlags(&mut pointer, size, flags) }, pointer)
}

/// Pages of the test's own, which no other test registers.
fn pages(count: usize) -> *mut c_void {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: requires that no existing mapping is replaced; holds, the system chooses a free address.
    let address = unsafe { libc::mmap(ptr::null_mut(), count * PAGE, access, flags, -1, 0) };
    assert_ne!(address, libc::MAP_FAILED);
    address
}

const PAGE: usize = 4096;

fn registered(size: usize, flags: u32) -> *mut c_void {
    let pointer = pages(size.div_ceil(PAGE));
    assert_eq!(hipHostRegister(pointer, size, flags), hipSuccess);
    pointer
}

fn signal() -> *mut c_void {
    let (code, pointer) = with_flags(8, hipMallocSignalMemory);
    assert_eq!(code, hipSuccess);
    pointer
}

fn attributes(pointer: *const c_void) -> hipPointerAttribute_t {
    let mut found = hipPointerAttribute_t::default();
    // SAFETY: requires a writable place; holds, it is a local.
    assert_eq!(unsafe { hipPointerGetAttributes(&mut found, pointer) }, hipSuccess);
    found
}

fn flags(pointer: *mut c_void) -> Result<u32, hipError_t> {
    let mut flags = 77;
    // SAFETY: requires a writable place; holds, it is a local.
    match unsafe { hipHostGetFlags(&mut flags, pointer) } {
        hipSuccess => Ok(flags),
        code => Err(code),
    }
}

fn length(pointer: *mut c_void) -> Result<usize, hipError_t> {
    let mut size = 77;
    // SAFETY: requires a writable place; holds, it is a local.
    match unsafe { hipMemPtrGetInfo(pointer, &mut size) } {
        hipSuccess => Ok(size),
        code => Err(code),
    }
}

fn copy(dst: *mut c_void, src: *const c_void, size: usize, kind: hipMemcpyKind) -> hipError_t {
    // SAFETY: requires host sides that are long enough; holds for every call below.
    unsafe { hipMemcpy(dst, src, size, kind) }
}

#[test]
fn each_kind_is_classified() {
    for (pointer, type_, on_host, is_managed, flags) in [
        (device_memory(8), hipMemoryTypeDevice, false, 0, 0),
        (with_flags(8, hipDeviceMallocUncached).1, hipMemoryTypeDevice, false, 0, 0),
        (managed(8), hipMemoryTypeManaged, true, 1, hipMemAttachHost),
        (signal(), hipMemoryTypeHost, true, 0, 0),
        (pinned_memory(8, hipHostMallocMapped), hipMemoryTypeHost, true, 0, hipHostMallocMapped),
        (registered(8, hipHostRegisterPortable), hipMemoryTypeHost, true, 0, hipHostRegisterPortable),
    ] {
        let (mut base, mut size) = (ptr::null_mut(), 0);
        // SAFETY: requires writable places; holds, they are locals.
        let code = unsafe { hipMemGetAddressRange(&mut base, &mut size, at(pointer, 7)) };
        assert_eq!((code, base, size), (hipSuccess, pointer, 8));
        assert_eq!((length(pointer), length(at(pointer, 1))), (Ok(8), Err(hipErrorInvalidValue)));
        for inside in [pointer, at(pointer, 7)] {
            let found = attributes(inside);
            assert_eq!((found.type_, found.device, found.devicePointer), (type_, 0, inside));
            assert_eq!(found.hostPointer, if on_host { inside } else { ptr::null_mut() });
            assert_eq!((found.isManaged, found.allocationFlags), (is_managed, flags));
            let mut address = ptr::null_mut();
            // SAFETY: requires a writable place; holds, it is a local.
            let code = unsafe { hipHostGetDevicePointer(&mut address, inside, 0) };
            let expected =
                if on_host { (hipSuccess, inside) } else { (hipErrorInvalidValue, ptr::null_mut()) };
            assert_eq!((code, address), expected);
        }
        assert_eq!(attributes(at(pointer, 8)).type_, hipMemoryTypeUnregistered);
    }
}

#[test]
fn each_kind_is_ended_by_its_own_function_and_once() {
    // Alone in a process: what is freed could be another test's memory by the time it is asked about.
    passes_in_process("each_kind_is_ended_by_its_own_function_and_once", &[], || {
        type Make = fn() -> *mut c_void;
        type End = extern "C" fn(*mut c_void) -> hipError_t;
        let ends: [(End, hipError_t); 3] = [
            (hipFree, hipErrorInvalidValue),
            (hipHostFree, hipErrorInvalidValue),
            (hipHostUnregister, hipErrorHostMemoryNotRegistered),
        ];
        let kinds: [(Make, usize); 5] = [
            (|| device_memory(8), 0),
            (|| managed(8), 0),
            (signal, 0),
            (|| pinned_memory(8, 0), 1),
            (|| registered(8, 0), 2),
        ];
        for (make, own) in kinds {
            let pointer = make();
            for (which, (end, refused)) in ends.iter().enumerate() {
                assert_eq!(end(at(pointer, 1)), *refused);
                if which != own {
                    assert_eq!(end(pointer), *refused);
                }
            }
            let (end, refused) = ends[own];
            assert_eq!([end(pointer), end(pointer)], [hipSuccess, refused]);
            assert_eq!(attributes(pointer).type_, hipMemoryTypeUnregistered);
            assert_eq!(length(pointer), Err(hipErrorInvalidValue));
        }
        assert_eq!([hipFree(ptr::null_mut()), hipHostFree(ptr::null_mut())], [hipSuccess; 2]);
        assert_eq!(hipHostUnregister(ptr::null_mut()), hipErrorInvalidValue);
    });
}

#[test]
fn memory_that_both_sides_reach_passes_for_either() {
    let (mut plain, device) = ([5u8; 8], device_memory(8));
    let host: *mut c_void = plain.as_mut_ptr().cast();
    for shared in [managed(8), signal(), pinned_memory(8, 0), registered(8, 0)] {
        // SAFETY: requires 8 writable bytes; holds for each of these kinds.
        unsafe { shared.cast::<u64>().write(0x0807_0605_0403_0201) };
        for (dst, src, kinds) in [
            (device, shared.cast_const(), [hipMemcpyHostToDevice, hipMemcpyDeviceToDevice]),
            (shared, device.cast_const(), [hipMemcpyDeviceToHost, hipMemcpyDeviceToDevice]),
            (host, shared.cast_const(), [hipMemcpyHostToHost, hipMemcpyDeviceToHost]),
            (shared, host.cast_const(), [hipMemcpyHostToHost, hipMemcpyHostToDevice]),
        ] {
            assert_eq!(kinds.map(|kind| copy(dst, src, 8, kind)), [hipSuccess; 2]);
            assert_eq!(copy(dst, src, 8, hipMemcpyDefault), hipSuccess);
        }
        assert_eq!(plain, [1, 2, 3, 4, 5, 6, 7, 8]);
        // SAFETY: requires that nobody uses the range; holds.
        assert_eq!(unsafe { hipMemset(at(shared, 1), 9, 1) }, hipSuccess);
        // SAFETY: requires 8 readable bytes; holds for each of these kinds.
        assert_eq!(unsafe { shared.cast::<u64>().read() }, 0x0807_0605_0403_0901);
    }
    for limited in [managed(8), signal(), pinned_memory(8, 0)] {
        assert_eq!(copy(device, at(limited, 1), 8, hipMemcpyDefault), hipErrorInvalidValue);
    }
}

#[test]
fn the_program_may_copy_more_of_its_own_memory_than_it_registered() {
    let own = pages(2);
    let device = device_memory(2 * PAGE);
    assert_eq!(hipHostRegister(at(own, 100), 200, 0), hipSuccess);
    assert_eq!(copy(device, at(own, 150), PAGE, hipMemcpyHostToDevice), hipSuccess);
    assert_eq!(copy(own, device, 2 * PAGE, hipMemcpyDeviceToHost), hipSuccess);
    assert_eq!(copy(at(own, 150), device, PAGE, hipMemcpyDeviceToDevice), hipErrorInvalidValue);
}

#[test]
fn allocations_with_wrong_arguments_are_refused() {
    for (size, flags, expected) in [
        (0, hipDeviceMallocDefault, hipSuccess),
        (0, hipMallocSignalMemory, hipSuccess),
        (7, hipMallocSignalMemory, hipErrorInvalidValue),
        (16, hipMallocSignalMemory, hipErrorInvalidValue),
        (8, 4, hipErrorInvalidValue),
        (8, u32::MAX, hipErrorInvalidValue),
        (1 << 62, hipDeviceMallocFinegrained, hipErrorOutOfMemory),
    ] {
        let (code, pointer) = with_flags(size, flags);
        assert_eq!(code, expected, "{size} {flags}");
        assert!(code == hipErrorInvalidValue || pointer.is_null(), "{size} {flags}");
    }
    let mut pointer = ptr::dangling_mut();
    for (size, flags, expected) in [
        (0, hipMemAttachGlobal, hipErrorInvalidValue),
        (8, 0, hipErrorInvalidValue),
        (8, 4, hipErrorInvalidValue),
        (8, hipMemAttachGlobal | hipMemAttachHost, hipErrorInvalidValue),
        (1 << 62, hipMemAttachGlobal, hipErrorOutOfMemory),
    ] {
        // SAFETY: requires a writable place; holds, it is a local.
        assert_eq!(unsafe { hipMallocManaged(&mut pointer, size, flags) }, expected, "{size} {flags}");
    }
    assert!(pointer.is_null());
    let null = ptr::null_mut();
    // SAFETY: requires NULL or writable places; holds.
    let codes = unsafe {
        [
            hipExtMallocWithFlags(null, 8, 0),
            hipMallocManaged(null, 8, 1),
            hipMemPtrGetInfo(managed(8), null.cast()),
        ]
    };
    assert_eq!(codes, [hipErrorInvalidValue; 3]);
}

#[test]
fn registrations_do_not_overlap_one_another_or_other_memory() {
    let own = pages(4);
    assert_eq!(hipHostRegister(at(own, PAGE + 10), PAGE, 0), hipSuccess);
    let (taken, invalid) = (hipErrorHostMemoryAlreadyRegistered, hipErrorInvalidValue);
    // The system maps nothing there.
    let low = ptr::without_provenance_mut(PAGE);
    for (pointer, size, flags, expected) in [
        (at(own, PAGE + 10), PAGE, 0, taken),
        (at(own, PAGE + 20), 1, 0, taken),
        (own, PAGE + 11, 0, taken),
        (at(own, 2 * PAGE + 9), PAGE, 0, taken),
        (own, 4 * PAGE, 0, taken),
        (at(pinned_memory(8, 0), 1), 2, 0, taken),
        (managed(8), 8, 0, taken),
        (own, PAGE + 10, 0, hipSuccess),
        (at(own, 2 * PAGE + 10), PAGE, hipExtHostRegisterCoarseGrained | hipHostRegisterMapped, hipSuccess),
        (ptr::null_mut(), 1, 0, invalid),
        (at(own, 3 * PAGE + 100), 0, 0, invalid),
        (at(own, 3 * PAGE + 100), 1, 0x10, invalid),
        (at(own, 3 * PAGE + 100), usize::MAX, 0, invalid),
        (device_memory(8), 8, 0, invalid),
        (low, 1, 0, invalid),
        (at(own, 3 * PAGE + 100), 1 << 46, 0, invalid),
    ] {
        assert_eq!(hipHostRegister(pointer, size, flags), expected, "{pointer:?} {size} {flags}");
    }
    assert_eq!(hipHostUnregister(at(own, PAGE)), hipErrorHostMemoryNotRegistered);
    assert_eq!(hipHostUnregister(at(own, PAGE + 10)), hipSuccess);
    assert_eq!(hipHostRegister(at(own, PAGE + 20), 1, 0), hipSuccess);
}

#[test]
fn flags_are_those_that_pinned_and_registered_memory_was_made_with() {
    let pinned = pinned_memory(8, hipHostMallocPortable | hipHostMallocWriteCombined);
    let own = registered(8, hipHostRegisterMapped);
    assert_eq!(flags(at(pinned, 7)), Ok(hipHostMallocPortable | hipHostMallocWriteCombined));
    assert_eq!(flags(own), Ok(hipHostRegisterMapped));
    for wrong in [device_memory(8), managed(8), signal(), at(pinned, 8), ptr::null_mut()] {
        assert_eq!(flags(wrong), Err(hipErrorInvalidValue));
    }
    // SAFETY: requires NULL or a writable place; holds.
    assert_eq!(unsafe { hipHostGetFlags(ptr::null_mut(), pinned) }, hipErrorInvalidValue);
}

/// In a process of its own: memory of another test could come to lie there.
#[test]
fn memory_freed_while_it_was_registered_does_not_stand_in_the_way() {
    passes_in_process("memory_freed_while_it_was_registered_does_not_stand_in_the_way", &[], || {
        const MIB: usize = 1 << 20;
        let own = pages((64 * MIB) / PAGE);
        for piece in 0..64 {
            assert_eq!(hipHostRegister(at(own, piece * MIB), MIB, hipHostRegisterPortable), hipSuccess);
        }
        // SAFETY: requires a mapping that nobody uses; holds.
        assert_eq!(unsafe { libc::munmap(own, 64 * MIB) }, 0);
        // The system gives the same addresses out again, one after the other.
        let mut reused = 0;
        for _ in 0..8 {
            let pinned = pinned_memory(8 * MIB, 0);
            reused += usize::from((own.addr()..own.addr() + 64 * MIB).contains(&pinned.addr()));
            assert_eq!(length(pinned), Ok(8 * MIB));
            for inside in [0, MIB, 4 * MIB, 8 * MIB - 1] {
                assert_eq!(flags(at(pinned, inside)), Ok(0));
            }
            assert_eq!(hipHostUnregister(at(pinned, MIB)), hipErrorHostMemoryNotRegistered);
        }
        assert!(reused > 0);
    });
}
