//! Devices that are NVIDIA's GPUs: their memory, copies, streams, and what the driver refuses.
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
use support::gpus::{STAGE, copy, driver, output_with_gpus, passes_with_gpus, with_driver};
use support::{at, device_bytes, device_memory, host_bytes, pattern, pinned_memory, reports};

#[test]
fn bytes_go_through_gpus_and_back() {
    passes_with_gpus("bytes_go_through_gpus_and_back", &[("FAKE_CUDA_DEVICES", "2")], || {
        let bytes = pattern(STAGE + 12_345);
        let first = device_bytes(&bytes);
        assert_eq!(hipSetDevice(1), hipSuccess);
        let second = device_memory(bytes.len() + 5);
        assert_eq!(copy(at(second, 5), first, bytes.len()), hipSuccess);
        assert_eq!(host_bytes(at(second, 5), bytes.len()), bytes);
        // SAFETY: requires that nobody uses the range; holds.
        assert_eq!(unsafe { hipMemset(at(second, 6), 7, 3) }, hipSuccess);
        // SAFETY: as above.
        assert_eq!(unsafe { hipMemsetD32Async(at(second, 12), 0x0102_0304, 2, ptr::null_mut()) }, hipSuccess);
        let mut expected = bytes[..20].to_vec();
        expected[1..4].fill(7);
        expected[7..15].copy_from_slice(&[4, 3, 2, 1, 4, 3, 2, 1]);
        assert_eq!(host_bytes(at(second, 5), 20), expected);
        assert_eq!(host_bytes(first, bytes.len()), bytes);
    });
}

#[test]
fn overlapping_ranges_are_moved() {
    passes_with_gpus("overlapping_ranges_are_moved", &[], || {
        let bytes = pattern(2 * STAGE + 100);
        for (from, to) in [(0, 100), (100, 0), (0, STAGE + 1), (STAGE + 1, 0)] {
            let device = device_bytes(&bytes);
            let len = bytes.len() - from.max(to);
            assert_eq!(copy(at(device, to), at(device, from), len), hipSuccess);
            let mut expected = bytes.clone();
            expected.copy_within(from..from + len, to);
            assert!(host_bytes(device, bytes.len()) == expected, "{from} {to}");
            assert_eq!(hipFree(device), hipSuccess);
        }
    });
}

#[test]
fn host_code_can_not_touch_it_and_has_no_way_around() {
    let test = "host_code_can_not_touch_it_and_has_no_way_around";
    let Some(output) = output_with_gpus(test, &[], || {
        let device = device_memory(100).cast::<u8>();
        assert!(softrocm_host_address(device.cast(), 100).is_null());
        // SAFETY: not sound, which is the point: the read has to fault.
        unsafe { device.read_volatile() };
    }) else {
        return;
    };
    use std::os::unix::process::ExitStatusExt;
    assert_eq!(output.status.signal(), Some(libc::SIGSEGV), "{output:?}");
}

#[test]
fn streams_wait_for_values_in_its_memory() {
    passes_with_gpus("streams_wait_for_values_in_its_memory", &[], || {
        let device = device_bytes(&[0; 16]);
        let mut streams = [ptr::null_mut(); 2];
        // SAFETY: requires writable places, and values in device memory that lives; holds.
        unsafe {
            for stream in &mut streams {
                assert_eq!(hipStreamCreateWithFlags(stream, hipStreamNonBlocking), hipSuccess);
            }
            let [waiting, other] = streams;
            assert_eq!(
                hipStreamWaitValue64(waiting, device, 1 << 40, hipStreamWaitValueGte, u64::MAX),
                hipSuccess
            );
            assert_eq!(hipStreamWriteValue32(waiting, at(device, 8), 77, 0), hipSuccess);
            assert_eq!(hipStreamQuery(waiting), hipErrorNotReady);
            assert_eq!(hipStreamWriteValue64(other, device, 1 << 40, 0), hipSuccess);
            assert_eq!(hipStreamSynchronize(waiting), hipSuccess);
        }
        assert_eq!(host_bytes(at(device, 8), 8), [77, 0, 0, 0, 0, 0, 0, 0]);
    });
}

#[test]
fn memory_is_the_gpus_and_ends_where_it_ends() {
    let limit = [("FAKE_CUDA_MEMORY", "33554432"), ("FAKE_CUDA_REPORT", "1")];
    let output = output_with_gpus("memory_is_the_gpus_and_ends_where_it_ends", &limit, || {
        let info = || {
            let (mut free, mut total) = (0, 0);
            // SAFETY: requires writable places; holds, they are locals.
            assert_eq!(unsafe { hipMemGetInfo(&mut free, &mut total) }, hipSuccess);
            (free >> 20, total >> 20)
        };
        assert_eq!(info(), (32, 32));
        let first = device_memory((20 << 20) + 1);
        assert_eq!(info(), (10, 32));
        let mut none = ptr::dangling_mut();
        // SAFETY: requires a writable place; holds, it is a local.
        assert_eq!(unsafe { hipMalloc(&mut none, 11 << 20) }, hipErrorOutOfMemory);
        assert!(none.is_null());
        let second = device_memory(10 << 20);
        assert_eq!(info(), (0, 32));
        assert_eq!(copy(at(first, 20 << 20), [1u8].as_ptr().cast(), 2), hipErrorInvalidValue);
        assert_eq!([hipFree(first), hipFree(second)], [hipSuccess; 2]);
        assert_eq!(info(), (32, 32));
        assert_eq!(hipFree(device_memory(32 << 20)), hipSuccess);
    });
    let Some(output) = output else { return };
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("fake cuda: 0 granules mapped, 0 bytes used"), "{text}");
}

#[test]
fn less_memory_and_fewer_devices_can_be_asked_for() {
    let variables =
        [("FAKE_CUDA_DEVICES", "3"), ("SOFT_ROCM_DEVICE_COUNT", "2"), ("SOFT_ROCM_DEVICE_MEM", "7M")];
    passes_with_gpus("less_memory_and_fewer_devices_can_be_asked_for", &variables, || {
        let mut count = 0;
        // SAFETY: requires a writable place; holds, it is a local.
        assert_eq!((unsafe { hipGetDeviceCount(&mut count) }, count), (hipSuccess, 2));
        let mut name = [0; 64];
        // SAFETY: requires that many writable bytes; holds, they are a local's.
        assert_eq!(unsafe { hipDeviceGetName(name.as_mut_ptr(), 64, 1) }, hipSuccess);
        assert_eq!(&name.map(|char| char as u8)[..11], b"Fake GPU 1\0");
        let mut none = ptr::dangling_mut();
        // Whole pages of 2 MiB: 8 MiB.
        // SAFETY: as above.
        assert_eq!(unsafe { hipMalloc(&mut none, (8 << 20) + 1) }, hipErrorOutOfMemory);
        assert_eq!(hipFree(device_memory(8 << 20)), hipSuccess);
    });
}

#[test]
fn a_driver_without_gpus_is_none() {
    passes_with_gpus("a_driver_without_gpus_is_none", &[("FAKE_CUDA_DEVICES", "0")], || {
        let mut count = 7;
        // SAFETY: requires a writable place; holds, it is a local.
        assert_eq!((unsafe { hipGetDeviceCount(&mut count) }, count), (hipErrorNoDevice, 0));
        let mut none = ptr::dangling_mut();
        // SAFETY: as above.
        assert_eq!(unsafe { hipMalloc(&mut none, 1) }, hipErrorInvalidDevice);
    });
}

#[test]
fn host_memory_may_be_pinned_in_part() {
    passes_with_gpus("host_memory_may_be_pinned_in_part", &[], || {
        let bytes = pattern(3 << 20);
        let pinned = pinned_memory(bytes.len(), 0);
        // SAFETY: requires that many writable bytes; holds for the allocation.
        unsafe { pinned.cast::<u8>().copy_from(bytes.as_ptr(), bytes.len()) };
        let device = device_memory(bytes.len());
        assert_eq!(copy(device, pinned, bytes.len()), hipSuccess);
        assert_eq!(hipHostFree(pinned), hipSuccess);
        let mut own = vec![0u8; bytes.len()];
        let start = own.as_mut_ptr().cast::<c_void>();
        assert_eq!(hipHostRegister(at(start, 100), 200, 0), hipSuccess);
        assert_eq!(copy(start, device, bytes.len()), hipSuccess);
        assert!(own == bytes);
        assert_eq!(copy(device, own[150..].as_ptr().cast(), 1000), hipSuccess);
        assert_eq!(host_bytes(device, 1000), own[150..1150]);
        assert_eq!(hipHostUnregister(at(start, 100)), hipSuccess);
        assert_eq!(copy(device, own.as_ptr().cast(), own.len()), hipSuccess);
        assert!(host_bytes(device, own.len()) == bytes);
    });
}

/// A function of the driver that is loaded.
fn of_the_driver<T: Copy>(name: &str) -> T {
    // SAFETY: requires that the initialisers may run; holds, they have.
    let library = unsafe { libloading::Library::new("libcuda.so.1") }.unwrap();
    // SAFETY: requires the function's type; holds for every call below.
    let function = *unsafe { library.get::<T>(name.as_bytes()) }.unwrap();
    std::mem::forget(library);
    function
}

#[test]
fn what_the_program_pinned_itself_stays_pinned() {
    passes_with_gpus("what_the_program_pinned_itself_stays_pinned", &[], || {
        device_memory(1);
        let (push, pin, unpin) = (
            of_the_driver::<unsafe extern "C" fn(*mut c_void) -> i32>("cuCtxPushCurrent_v2"),
            of_the_driver::<unsafe extern "C" fn(*mut c_void, usize, u32) -> i32>("cuMemHostRegister_v2"),
            of_the_driver::<unsafe extern "C" fn(*mut c_void) -> i32>("cuMemHostUnregister"),
        );
        let mut own = vec![0u8; 4096];
        let start = own.as_mut_ptr().cast::<c_void>();
        // SAFETY: requires a context of the driver and memory of the program's; holds.
        unsafe { assert_eq!([push(ptr::without_provenance_mut(1)), pin(start, 4096, 1)], [0; 2]) };
        assert_eq!(hipHostRegister(start, 4096, 0), hipSuccess);
        assert_eq!(hipHostUnregister(start), hipSuccess);
        // SAFETY: as above.
        assert_eq!(unsafe { unpin(start) }, 0);
    });
}

#[test]
fn memory_that_went_while_it_was_registered_is_not_in_the_way() {
    passes_with_gpus("memory_that_went_while_it_was_registered_is_not_in_the_way", &[], || {
        let len = STAGE;
        let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        let device = device_memory(len);
        // As a rule the system gives an address out again at once.
        let was_the_same = (0..1000).any(|_| {
            // SAFETY: requires nothing: the system chooses the place.
            let own = unsafe { libc::mmap(ptr::null_mut(), len, access, flags, -1, 0) };
            assert_eq!(hipHostRegister(own, len, 0), hipSuccess);
            // SAFETY: requires a mapping that nobody uses; holds.
            assert_eq!(unsafe { libc::munmap(own, len) }, 0);
            let pinned = pinned_memory(len, 0);
            assert_eq!(copy(device, pinned, len), hipSuccess);
            assert_eq!(hipHostFree(pinned), hipSuccess);
            pinned == own
        });
        assert!(was_the_same);
    });
}

#[test]
fn what_the_driver_refuses_at_the_start_is_reported() {
    let test = "what_the_driver_refuses_at_the_start_is_reported";
    for (variable, value, expected) in [
        ("FAKE_CUDA_FAIL", "cuInit:1", "cuInit of NVIDIA's driver answered 999"),
        ("FAKE_CUDA_FAIL", "cuDeviceGetCount:1", "cuDeviceGetCount of NVIDIA's driver answered 999"),
        ("FAKE_CUDA_FAIL", "cuDeviceTotalMem:1", "cuDeviceTotalMem of NVIDIA's driver answered 999"),
        ("FAKE_CUDA_FAIL", "cuDeviceGetName:1", "cuDeviceGetName of NVIDIA's driver answered 999"),
        (
            "FAKE_CUDA_FAIL",
            "cuDevicePrimaryCtxRetain:1",
            "cuDevicePrimaryCtxRetain of NVIDIA's driver answered 999",
        ),
        (
            "FAKE_CUDA_FAIL",
            "cuMemGetAllocationGranularity:1",
            "cuMemGetAllocationGranularity of NVIDIA's driver answered 999",
        ),
        ("FAKE_CUDA_FAIL", "cuMemAddressReserve:1", "cuMemAddressReserve of NVIDIA's driver answered 999"),
        ("SOFT_ROCM_DEVICE_COUNT", "2", "SOFT_ROCM_DEVICE_COUNT=2, but NVIDIA's driver has 1"),
    ] {
        let output = output_with_gpus(test, &[(variable, value)], || {
            assert_eq!([hipInit(0), hipSetDevice(0)], [hipErrorNotInitialized; 2]);
        });
        let Some(output) = output else { return };
        assert!(output.status.success(), "{output:?}");
        assert_eq!(reports(&output), format!("SOFT_ROCM_DEVICE=cuda: {expected}"));
    }
}

#[test]
fn a_driver_that_is_missing_or_old_is_reported() {
    let test = "a_driver_that_is_missing_or_old_is_reported";
    let body = || assert_eq!(hipInit(0), hipErrorNotInitialized);
    let old = driver(&["-DcuMemUnmap=cuMemUnmapLater"]);
    let Some(output) = with_driver(|| old.path(), test, &[], body) else { return };
    assert!(output.status.success(), "{output:?}");
    assert_eq!(reports(&output), "SOFT_ROCM_DEVICE=cuda: NVIDIA's driver is too old: it has no cuMemUnmap");
    std::fs::write(old.path().join("libcuda.so.1"), "no library").unwrap();
    let output = with_driver(|| old.path(), test, &[], body).unwrap();
    assert!(output.status.success(), "{output:?}");
    let expected = "SOFT_ROCM_DEVICE=cuda: NVIDIA's driver could not be loaded: ";
    assert!(reports(&output).starts_with(expected), "{output:?}");
}

#[test]
fn what_the_driver_refuses_later_is_an_error_and_nothing_is_lost() {
    let test = "what_the_driver_refuses_later_is_an_error_and_nothing_is_lost";
    for plan in ["cuMemCreate:1", "cuMemMap:1", "cuMemSetAccess:1"] {
        let output = output_with_gpus(test, &[("FAKE_CUDA_FAIL", plan), ("FAKE_CUDA_REPORT", "1")], || {
            for _ in 0..100 {
                let mut none = ptr::dangling_mut();
                // SAFETY: requires a writable place; holds, it is a local.
                assert_eq!(unsafe { hipMalloc(&mut none, 40 << 20) }, hipErrorUnknown);
                assert!(none.is_null());
            }
        });
        let Some(output) = output else { return };
        assert!(output.status.success(), "{plan}: {output:?}");
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(text.contains("fake cuda: 0 granules mapped, 0 bytes used"), "{plan}: {text}");
    }
}
