//! What the environment, limits and forks do to a process.
#![allow(
    non_upper_case_globals,
    clippy::multiple_unsafe_ops_per_block,
    clippy::unwrap_used,
    reason = "names of the C header; one reason for a list of calls; a panic is a failed test"
)]

mod support;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use soft_rocm_hip::header::*;
use support::{device_memory, dies_in_process, host_bytes, in_process, passes_in_process, pinned_memory};

#[test]
fn a_wrong_value_is_reported_once_and_nothing_works() {
    let wrong = [("SOFT_ROCM_DEVICE_MEM", "lots")];
    let output = in_process("a_wrong_value_is_reported_once_and_nothing_works", &wrong, || {
        let mut place = ptr::null_mut();
        // SAFETY: requires a writable place; holds, it is a local.
        assert_eq!(unsafe { hipMalloc(&mut place, 1) }, hipErrorNotInitialized);
        assert_eq!([hipInit(0), hipFree(ptr::null_mut()), hipSetDevice(0)], [hipErrorNotInitialized; 3]);
        assert_eq!(hipGetLastError(), hipErrorNotInitialized);
    });
    let Some(output) = output else { return };
    assert!(output.status.success(), "{output:?}");
    let lines: Vec<_> = std::str::from_utf8(&output.stderr).unwrap().lines().collect();
    let expected = "soft-rocm: SOFT_ROCM_DEVICE_MEM=lots: \
                    expected a number of bytes above 0, with or without a suffix K, M or G";
    assert_eq!(lines, [expected]);
}

#[test]
fn memory_that_can_not_be_mapped_is_reported() {
    let output = in_process(
        "memory_that_can_not_be_mapped_is_reported",
        &[("SOFT_ROCM_DEVICE_MEM", "4194304G")],
        || {
            assert_eq!(hipInit(0), hipErrorNotInitialized);
        },
    );
    let Some(output) = output else { return };
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.starts_with("soft-rocm: cannot map 4503599627370496 bytes of device memory: "), "{text}");
}

#[test]
fn the_environment_is_read_at_first_use_only() {
    passes_in_process(
        "the_environment_is_read_at_first_use_only",
        &[("SOFT_ROCM_DEVICE_COUNT", "2")],
        || {
            assert_eq!(hipSetDevice(1), hipSuccess);
            // SAFETY: requires that no other thread uses the environment; holds, this test has the process to itself.
            unsafe { std::env::set_var("SOFT_ROCM_DEVICE_COUNT", "1") };
            assert_eq!(hipSetDevice(1), hipSuccess);
        },
    );
}

#[test]
fn host_code_can_not_read_device_memory() {
    dies_in_process("host_code_can_not_read_device_memory", &[], libc::SIGSEGV, || {
        let device = device_memory(100).cast::<u8>();
        // SAFETY: not sound, which is the point: the read has to fault.
        unsafe { device.read_volatile() };
    });
}

#[test]
fn host_code_can_not_write_device_memory_even_if_it_may_read_it() {
    let lenient = [("SOFT_ROCM_STRICT", "0")];
    let name = "host_code_can_not_write_device_memory_even_if_it_may_read_it";
    dies_in_process(name, &lenient, libc::SIGSEGV, || {
        let device = device_memory(100);
        // SAFETY: requires that nobody uses the range; holds.
        assert_eq!(unsafe { hipMemset(device, 7, 100) }, hipSuccess);
        // SAFETY: requires a readable byte; holds as host code may read.
        if unsafe { device.cast::<u8>().read_volatile() } != 7 {
            std::process::exit(3);
        }
        // SAFETY: not sound, which is the point: the write has to fault.
        unsafe { device.cast::<u8>().write_volatile(1) };
    });
}

#[test]
fn freed_pinned_memory_faults() {
    dies_in_process("freed_pinned_memory_faults", &[], libc::SIGSEGV, || {
        let pinned = pinned_memory(100, 0).cast::<u8>();
        // SAFETY: requires a readable byte; holds for the allocation.
        unsafe { pinned.read_volatile() };
        assert_eq!(hipHostFree(pinned.cast()), hipSuccess);
        // SAFETY: not sound, which is the point: the read has to fault.
        unsafe { pinned.read_volatile() };
    });
}

#[test]
fn device_memory_is_no_file_to_limits_and_takes_no_descriptor() {
    passes_in_process("device_memory_is_no_file_to_limits_and_takes_no_descriptor", &[], || {
        let descriptors = || std::fs::read_dir("/proc/self/fd").unwrap().count();
        let before = descriptors();
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: requires a writable place; holds, it is a local.
        unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit) };
        limit.rlim_cur = 4096;
        // SAFETY: requires a readable place; holds, it is a local.
        unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &limit) };
        let device = device_memory(1 << 20);
        // SAFETY: requires that nobody uses the range; holds.
        assert_eq!(unsafe { hipMemset(device, 9, 1 << 20) }, hipSuccess);
        let mut after = limit;
        // SAFETY: requires a writable place; holds, it is a local.
        unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &mut after) };
        assert_eq!((after.rlim_cur, after.rlim_max), (4096, limit.rlim_max));
        assert_eq!(descriptors(), before);
    });
}

#[test]
fn host_memory_is_taken_for_touched_pages_and_given_back() {
    passes_in_process("host_memory_is_taken_for_touched_pages_and_given_back", &[], || {
        let resident = || {
            let status = std::fs::read_to_string("/proc/self/status").unwrap();
            let line = status.lines().find_map(|line| line.strip_prefix("RssShmem:")).unwrap();
            line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() << 10
        };
        let device = device_memory(8 << 30);
        assert!(resident() < 1 << 20);
        // SAFETY: requires that nobody uses the range; holds.
        assert_eq!(unsafe { hipMemset(device, 1, 64 << 20) }, hipSuccess);
        assert!(resident() >= 64 << 20);
        assert_eq!(hipFree(device), hipSuccess);
        assert!(resident() < 1 << 20);
    });
}

/// Runs `body` in a forked child, and answers its result; 98 if it panics, 99 if it hangs.
fn in_fork(body: impl FnOnce() -> i32) -> i32 {
    // SAFETY: requires that the child makes no call that needs another thread; holds, the library's are made for that.
    match unsafe { libc::fork() } {
        0 => {
            // SAFETY: requires nothing.
            unsafe { libc::alarm(10) };
            let result = catch_unwind(AssertUnwindSafe(body)).unwrap_or(98);
            // SAFETY: requires nothing.
            unsafe { libc::_exit(result) }
        }
        child => {
            let mut status = 0;
            // SAFETY: requires a writable place; holds, it is a local.
            assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
            if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { 99 }
        }
    }
}

#[test]
fn a_child_of_a_user_gets_an_error_from_every_call() {
    passes_in_process("a_child_of_a_user_gets_an_error_from_every_call", &[], || {
        let device = device_memory(100);
        let child = in_fork(|| {
            let (mut place, mut size, mut number) = (ptr::null_mut(), 0, 0);
            let mut found = hipPointerAttribute_t::default();
            // SAFETY: requires writable places; holds, they are locals.
            let codes = unsafe {
                [
                    hipInit(0),
                    hipRuntimeGetVersion(&mut number),
                    hipDriverGetVersion(&mut number),
                    hipGetDeviceCount(&mut number),
                    hipGetDevice(&mut number),
                    hipSetDevice(0),
                    hipDeviceGetAttribute(&mut number, hipDeviceAttributeWarpSize, 0),
                    hipDeviceGet(&mut number, 0),
                    hipDeviceGetName([0; 9].as_mut_ptr(), 9, 0),
                    hipDeviceGetUuid(&mut hipUUID { bytes: [0; 16] }, 0),
                    hipDeviceGetPCIBusId([0; 20].as_mut_ptr(), 20, 0),
                    hipDeviceGetByPCIBusId(&mut number, c"0000:01:00.0".as_ptr()),
                    hipDeviceTotalMem(&mut size, 0),
                    hipDeviceComputeCapability(&mut number, &mut 0, 0),
                    hipGetDevicePropertiesR0600(std::mem::MaybeUninit::uninit().as_mut_ptr(), 0),
                    hipGetDeviceFlags(&mut 0),
                    hipSetDeviceFlags(0),
                    hipDeviceReset(),
                    hipDeviceCanAccessPeer(&mut number, 0, 0),
                    hipDeviceEnablePeerAccess(0, 0),
                    hipDeviceDisablePeerAccess(0),
                    hipDeviceSynchronize(),
                    hipStreamSynchronize(ptr::null_mut()),
                    hipGetProcAddress(c"hipFree".as_ptr(), &mut place, 0, 0, ptr::null_mut()),
                    hipMalloc(&mut place, 1),
                    hipFree(device),
                    hipMallocManaged(&mut place, 1, hipMemAttachGlobal),
                    hipExtMallocWithFlags(&mut place, 8, hipMallocSignalMemory),
                    hipHostRegister((&raw mut size).cast(), 1, 0),
                    hipHostUnregister((&raw mut size).cast()),
                    hipHostGetFlags(&mut 0, (&raw mut size).cast()),
                    hipMemPtrGetInfo(device, &mut 0),
                    hipMemcpyPeer(device, 0, device, 0, 1),
                    hipHostMalloc(&mut place, 1, 0),
                    hipHostFree(ptr::null_mut()),
                    hipHostGetDevicePointer(&mut place, device, 0),
                    hipMemcpy(device, device, 1, hipMemcpyDefault),
                    hipMemset(device, 0, 1),
                    hipMemGetInfo(&mut size, &mut 0),
                    hipPointerGetAttributes(&mut found, device),
                    hipMemGetAddressRange(&mut place, &mut size, device),
                ]
            };
            let refused = codes.iter().filter(|code| **code == hipErrorNotInitialized).count();
            let named = !hipGetErrorName(hipSuccess).is_null();
            let hidden = softrocm_host_address(device, 1).is_null();
            if refused == codes.len() && named && hidden { 42 } else { refused as i32 }
        });
        assert_eq!(child, 42);
        assert_eq!(host_bytes(device, 100), [0; 100]);
    });
}

#[test]
fn a_child_of_a_process_that_did_not_use_it_can() {
    passes_in_process("a_child_of_a_process_that_did_not_use_it_can", &[], || {
        let child = in_fork(|| {
            let device = device_memory(100);
            let grandchild = in_fork(|| hipFree(device).0 as i32);
            if grandchild == hipErrorNotInitialized.0 as i32 { hipFree(device).0 as i32 } else { 97 }
        });
        assert_eq!(child, 0);
        assert_eq!(hipInit(0), hipSuccess);
    });
}

#[test]
fn a_child_never_hangs_on_what_other_threads_held() {
    passes_in_process("a_child_never_hangs_on_what_other_threads_held", &[], || {
        for _ in 0..2 {
            std::thread::spawn(|| {
                loop {
                    let device = device_memory(4096);
                    assert_eq!(hipFree(device), hipSuccess);
                }
            });
        }
        assert_eq!(hipInit(0), hipSuccess);
        for _ in 0..200 {
            let child = in_fork(|| {
                let mut place = ptr::null_mut();
                // SAFETY: requires a writable place; holds, it is a local.
                unsafe { hipMalloc(&mut place, 1) }.0 as i32
            });
            assert_eq!(child, hipErrorNotInitialized.0 as i32);
        }
    });
}
