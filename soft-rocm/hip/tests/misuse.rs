//! Illegal use of memory: what is reported, and how the process ends.
#![allow(
    non_upper_case_globals,
    clippy::multiple_unsafe_ops_per_block,
    clippy::unwrap_used,
    reason = "names of the C header; one reason for a list of calls; a panic is a failed test"
)]

mod support;

use std::ffi::c_void;
use std::os::unix::process::ExitStatusExt;
use std::ptr;

use soft_rocm_hip::header::*;
use support::misuse::{ABORT, CASE, Pointer, Refused, case, freed};
use support::{at, device_memory, in_process, pinned_memory, registered_memory, reports};

fn copy(to: *mut c_void, from: *const c_void, size: usize) -> hipError_t {
    // SAFETY: requires host sides that are long enough; holds for every call below.
    unsafe { hipMemcpy(to, from, size, hipMemcpyDefault) }
}

fn copy_between_devices(to: *mut c_void, from: *const c_void, size: usize) -> hipError_t {
    // SAFETY: requires device memory; holds, other memory is refused.
    unsafe { hipMemcpyPeer(to, 0, from, 0, size) }
}

fn fill(pointer: *mut c_void, size: usize) -> hipError_t {
    // SAFETY: requires that nobody uses the range; holds.
    unsafe { hipMemset(pointer, 0, size) }
}

/// What is illegal, and what is said about it.
const ILLEGAL: [(Refused, &str); 20] = [
    (
        || copy(device_memory(100), [0u8; 101].as_ptr().cast(), 101),
        "hipMemcpy: @ + 101 ends 1 bytes behind device memory @ + 100 of device 0",
    ),
    (
        || copy([0u8; 9].as_mut_ptr().cast(), at(device_memory(100), 92), 9),
        "hipMemcpy: @ + 9 ends 1 bytes behind device memory @ + 100 of device 0",
    ),
    (
        || copy(at(device_memory(100), 200), [0u8; 1].as_ptr().cast(), 1),
        "hipMemcpy: @ + 1 ends 101 bytes behind device memory @ + 100 of device 0",
    ),
    (
        || copy(device_memory(100), at(pinned_memory(50, 0), 25), 26),
        "hipMemcpy: @ + 26 ends 1 bytes behind pinned host memory @ + 50 of device 0",
    ),
    (
        || copy(freed(), [0u8; 9].as_ptr().cast(), 9),
        "hipMemcpy: @ + 9 is in device memory @ + 100 of device 0, which thread # freed #",
    ),
    (
        || copy([0u8; 9].as_mut_ptr().cast(), at(device_memory(4096), 8192), 9),
        "hipMemcpy: @ + 9 is device memory that is not allocated",
    ),
    (|| fill(device_memory(8), 9), "hipMemset: @ + 9 ends 1 bytes behind device memory @ + 8 of device 0"),
    (
        // SAFETY: as for a fill.
        || unsafe { hipMemsetD8(device_memory(8), 0, 9) },
        "hipMemsetD8: @ + 9 ends 1 bytes behind device memory @ + 8 of device 0",
    ),
    (
        // SAFETY: as for a fill.
        || unsafe { hipMemsetD16(device_memory(8), 0, 5) },
        "hipMemsetD16: @ + 10 ends 2 bytes behind device memory @ + 8 of device 0",
    ),
    (
        // SAFETY: requires device memory; holds, other memory is refused.
        || unsafe { hipMemcpyDtoD(device_memory(8), freed(), 8) },
        "hipMemcpyDtoD: @ + 8 is in device memory @ + 100 of device 0, which thread # freed #",
    ),
    (
        || copy_between_devices(device_memory(8), freed(), 8),
        "hipMemcpyPeer: @ + 8 is in device memory @ + 100 of device 0, which thread # freed #",
    ),
    (|| hipFree(freed()), "hipFree: @ is in device memory @ + 100 of device 0, which thread # freed #"),
    (
        || hipFree(at(device_memory(8), 1)),
        "hipFree: @ is inside device memory @ + 8 of device 0, not its start",
    ),
    (|| hipFree(pinned_memory(8, 0)), "hipFree: @ is pinned host memory @ + 8 of device 0; use hipHostFree"),
    (
        || hipFree(registered_memory()),
        "hipFree: @ is registered host memory @ + 64 of device 0; use hipHostUnregister",
    ),
    (|| hipFree(CASE.as_ptr().cast_mut().cast()), "hipFree: @ is no allocation of this library"),
    (|| hipHostFree(device_memory(8)), "hipHostFree: @ is device memory @ + 8 of device 0; use hipFree"),
    (
        || hipHostUnregister(at(registered_memory(), 1)),
        "hipHostUnregister: @ is inside registered host memory @ + 64 of device 0, not its start",
    ),
    (
        || read_file(freed(), 8),
        "hipAmdFileRead: @ + 8 is in device memory @ + 100 of device 0, which thread # freed #",
    ),
    (
        || read_file(device_memory(8), 9),
        "hipAmdFileRead: @ + 9 ends 1 bytes behind device memory @ + 8 of device 0",
    ),
];

#[cfg(feature = "ais")]
fn read_file(pointer: *mut c_void, size: u64) -> hipError_t {
    let handle = hipAmdFileHandle_t { fd: 0 };
    // SAFETY: requires writable places; holds, they are locals.
    unsafe { hipAmdFileRead(handle, pointer, size, 0, &mut 0, &mut 0) }
}

/// Without the function there is nothing to see; a case has to end as the others do.
#[cfg(not(feature = "ais"))]
fn read_file(pointer: *mut c_void, size: u64) -> hipError_t {
    copy(pointer, [0u8; 9].as_ptr().cast(), size as usize)
}

/// The report without what differs from run to run.
fn settled(report: &str) -> String {
    match report.split_once("which thread ") {
        Some((before, after)) => {
            assert!(after.contains(" freed ") && after.contains(" ago; aborting"), "{report}");
            format!("{before}which thread # freed #; aborting (SOFT_ROCM_STRICT=abort)")
        }
        None => report.to_owned(),
    }
}

/// HF-HIP-43
#[test]
fn illegal_use_is_reported_and_stopped_on_request() {
    let name = "illegal_use_is_reported_and_stopped_on_request";
    for (number, (_, expected)) in ILLEGAL.iter().enumerate() {
        let variables = [ABORT, (CASE, &number.to_string())];
        let output = in_process(name, &variables, || {
            let _ = ILLEGAL[case()].0();
        });
        let Some(output) = output else { return };
        assert_eq!(output.status.signal(), Some(libc::SIGABRT), "{number}: {output:?}");
        let call = if cfg!(feature = "ais") { "hipAmdFileRead" } else { "hipMemcpy" };
        let expected =
            format!("{expected}; aborting (SOFT_ROCM_STRICT=abort)").replace("hipAmdFileRead", call);
        assert_eq!(settled(&reports(&output)), expected, "{number}");
    }
}

#[test]
fn illegal_use_is_an_error_otherwise() {
    let output = in_process("illegal_use_is_an_error_otherwise", &[], || {
        for (number, (refused, report)) in ILLEGAL.iter().enumerate() {
            let expected = match report.split(':').next().unwrap() {
                "hipHostUnregister" => hipErrorHostMemoryNotRegistered,
                "hipAmdFileRead" if cfg!(feature = "ais") => hipErrorUnknown,
                _ => hipErrorInvalidValue,
            };
            assert_eq!(refused(), expected, "{number}");
        }
    });
    let Some(output) = output else { return };
    assert!(output.status.success(), "{output:?}");
    assert_eq!(reports(&output), "");
}

#[test]
fn other_errors_do_not_stop_a_process() {
    let output = in_process("other_errors_do_not_stop_a_process", &[ABORT], || {
        let (device, null, mut host) = (device_memory(8), ptr::null_mut(), [0u8; 8]);
        let host = host.as_mut_ptr().cast();
        assert_eq!(copy(device, host, 8), hipSuccess);
        // SAFETY: requires host sides that are long enough; holds.
        assert_eq!(unsafe { hipMemcpy(device, host, 8, hipMemcpyDeviceToHost) }, hipErrorInvalidValue);
        assert_eq!(
            [copy(device, null, 8), copy(null, host, 8), copy(device, host, 0)],
            [hipErrorInvalidValue, hipErrorInvalidValue, hipSuccess]
        );
        assert_eq!([hipFree(null), hipHostFree(null), hipFree(device)], [hipSuccess; 3]);
        assert_eq!(hipHostUnregister(null), hipErrorInvalidValue);
        assert_eq!(hipHostRegister(host, 8, 0x100), hipErrorInvalidValue);
    });
    let Some(output) = output else { return };
    assert!(output.status.success(), "{output:?}");
    assert_eq!(reports(&output), "");
}

/// What host code does to device memory, and what is said about it.
const TOUCHES: [(Pointer, &str); 3] = [
    (
        || at(device_memory(100), 5),
        "host code touches @ which is device memory @ + 100 of device 0; copy it with hipMemcpy",
    ),
    (
        || at(device_memory(100), 100),
        "host code touches device memory: @ + 1 ends 1 bytes behind device memory @ + 100 of device 0",
    ),
    (
        freed,
        "host code touches device memory: @ + 1 is in device memory @ + 100 of device 0, which thread # freed #",
    ),
];

#[test]
fn host_code_that_touches_device_memory_is_explained_and_dies_of_it() {
    let name = "host_code_that_touches_device_memory_is_explained_and_dies_of_it";
    for (number, (_, expected)) in TOUCHES.iter().enumerate() {
        let variables = [ABORT, (CASE, &number.to_string())];
        let output = in_process(name, &variables, || {
            let pointer = TOUCHES[case()].0().cast::<u8>();
            // SAFETY: not sound, which is the point: the write has to fault.
            unsafe { pointer.write_volatile(1) };
        });
        let Some(output) = output else { return };
        assert_eq!(output.status.signal(), Some(libc::SIGSEGV), "{number}: {output:?}");
        let report = reports(&output);
        let report = match report.split_once("which thread ") {
            Some((before, _)) => format!("{before}which thread # freed #"),
            None => report,
        };
        assert_eq!(report, expected.replace("@ which", "@, which"), "{number}");
    }
}

#[test]
fn faults_elsewhere_take_the_course_they_had() {
    extern "C" fn leave(_: i32) {
        // SAFETY: requires nothing.
        unsafe { libc::_exit(77) };
    }
    let name = "faults_elsewhere_take_the_course_they_had";
    for number in 0..2 {
        let variables = [ABORT, (CASE, &number.to_string())];
        let output = in_process(name, &variables, || {
            // SAFETY: requires a handler that may run at any time; holds, it just leaves.
            unsafe { libc::signal(libc::SIGSEGV, leave as *const () as usize) };
            assert_eq!(hipInit(0), hipSuccess);
            match case() {
                // SAFETY: not sound, which is the point: the write has to fault.
                0 => unsafe { ptr::without_provenance_mut::<u8>(4096).write_volatile(1) },
                // SAFETY: requires nothing.
                _ => assert_eq!(unsafe { libc::raise(libc::SIGSEGV) }, 0),
            }
        });
        let Some(output) = output else { return };
        assert_eq!((output.status.code(), reports(&output).as_str()), (Some(77), ""), "{number}");
    }
}
