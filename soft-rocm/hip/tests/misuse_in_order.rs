//! Illegal use of memory by what is put on a stream: at submission, and when the stream comes to it.
#![allow(
    non_upper_case_globals,
    clippy::multiple_unsafe_ops_per_block,
    clippy::unwrap_used,
    reason = "names of the C header; one reason for a list of calls; a panic is a failed test"
)]

mod support;

use std::ffi::c_void;
use std::os::unix::process::ExitStatusExt;
use std::process::Output;
use std::ptr;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use soft_rocm_hip::header::*;
use support::misuse::{ABORT, CASE, Pointer, Refused, case, freed};
use support::streams::{Shared, pause, resume, stream};
use support::{device_memory, in_process, passes_in_process, reports};

const TWO: (&str, &str) = ("SOFT_ROCM_DEVICE_COUNT", "2");

fn copy(to: Pointer, size: usize) -> hipError_t {
    let (source, to) = (device_memory(size), to());
    // SAFETY: requires a usable source; holds for device memory of that size.
    unsafe { hipMemcpyAsync(to, source, size, hipMemcpyDeviceToDevice, ptr::null_mut()) }
}

fn copy_and_wait(to: Pointer, size: usize) -> hipError_t {
    let (source, to) = (device_memory(size), to());
    // SAFETY: as above.
    unsafe { hipMemcpyWithStream(to, source, size, hipMemcpyDeviceToDevice, ptr::null_mut()) }
}

fn copy_to_peer(to: Pointer, size: usize) -> hipError_t {
    let (source, to) = (device_memory(size), to());
    // SAFETY: as above.
    unsafe { hipMemcpyPeerAsync(to, 0, source, 0, size, ptr::null_mut()) }
}

fn fill(to: *mut c_void, size: usize) -> hipError_t {
    // SAFETY: requires that nobody uses the range; holds.
    unsafe { hipMemsetAsync(to, 1, size, ptr::null_mut()) }
}

fn fill_words(to: *mut c_void, count: usize) -> hipError_t {
    // SAFETY: as above.
    unsafe { hipMemsetD32Async(to, 1, count, ptr::null_mut()) }
}

/// What is refused at submission, and how its report begins.
const SUBMISSIONS: [(Refused, &str); 9] = [
    (|| copy(|| device_memory(8), 9), "hipMemcpyAsync: @ + 9 ends 1 bytes behind"),
    (|| copy_and_wait(freed, 9), "hipMemcpyWithStream: @ + 9 is in device memory @ + 100 of device 0, which"),
    (|| copy_to_peer(freed, 9), "hipMemcpyPeerAsync: @ + 9 is in device memory @ + 100 of device 0, which"),
    (|| fill(device_memory(8), 9), "hipMemsetAsync: @ + 9 ends 1 bytes behind"),
    (
        // SAFETY: as for a fill.
        || unsafe { hipMemsetD16Async(device_memory(8), 1, 5, ptr::null_mut()) },
        "hipMemsetD16Async: @ + 10 ends 2 bytes behind",
    ),
    (
        // SAFETY: requires a usable source; holds, it is freed and refused.
        || unsafe { hipMemcpyDtoDAsync(device_memory(8), freed(), 8, ptr::null_mut()) },
        "hipMemcpyDtoDAsync: @ + 8 is in device memory @ + 100 of device 0, which",
    ),
    (|| fill_words(device_memory(8), 3), "hipMemsetD32Async: @ + 12 ends 4 bytes behind"),
    (
        || hipFreeAsync(freed(), ptr::null_mut()),
        "hipFreeAsync: @ is in device memory @ + 100 of device 0, which",
    ),
    (
        || hipFreeAsync(device_memory(8).wrapping_byte_add(1), ptr::null_mut()),
        "hipFreeAsync: @ is inside device memory @ + 8 of device 0",
    ),
];

/// Runs one of the cases in a process of its own; none in such a process.
fn aborted(test: &str, number: usize, run: fn(usize)) -> Option<Output> {
    let variables = [ABORT, TWO, (CASE, &number.to_string())];
    let output = in_process(test, &variables, || run(case()))?;
    assert_eq!(output.status.signal(), Some(libc::SIGABRT), "{number}: {output:?}");
    Some(output)
}

#[test]
fn a_submission_is_judged() {
    for (number, (_, expected)) in SUBMISSIONS.iter().enumerate() {
        let run = |number: usize| assert_eq!(SUBMISSIONS[number].0(), hipSuccess);
        let Some(output) = aborted("a_submission_is_judged", number, run) else { return };
        assert!(reports(&output).starts_with(expected), "{output:?}");
    }
}

#[test]
fn a_submission_is_refused_otherwise() {
    for (refused, expected) in SUBMISSIONS {
        assert_eq!(refused(), hipErrorInvalidValue, "{expected}");
    }
}

/// Frees memory of one device while a stream of another still has a copy of it to make.
fn free_too_early() -> (hipStream_t, hipError_t) {
    let memory = device_memory(100);
    assert_eq!(hipSetDevice(1), hipSuccess);
    let (stream, target) = (stream(0), device_memory(100));
    pause(stream);
    // SAFETY: requires device memory; holds, the stream looks again at its turn.
    let submitted = unsafe { hipMemcpyPeerAsync(target, 1, memory, 0, 100, stream) };
    assert_eq!([submitted, hipFree(memory)], [hipSuccess; 2]);
    resume(stream);
    (stream, hipStreamSynchronize(stream))
}

#[test]
fn memory_that_went_before_its_turn_is_an_illegal_address() {
    passes_in_process("memory_that_went_before_its_turn_is_an_illegal_address", &[TWO], || {
        let (stream, answer) = free_too_early();
        assert_eq!(answer, hipErrorIllegalAddress);
        // It was said once.
        assert_eq!(hipStreamSynchronize(stream), hipSuccess);
    });
}

#[test]
fn memory_that_went_before_its_turn_is_judged() {
    let run = |_| assert_eq!(free_too_early().1, hipSuccess);
    let Some(output) = aborted("memory_that_went_before_its_turn_is_judged", 0, run) else { return };
    let expected = "hipMemcpyAsync: @ + 100 is in device memory @ + 100 of device 0, which thread ";
    assert!(reports(&output).starts_with(expected), "{output:?}");
}

#[test]
fn ends_wait_for_all_that_may_use_the_memory() {
    passes_in_process("ends_wait_for_all_that_may_use_the_memory", &[TWO], || {
        let mut managed = ptr::null_mut();
        // SAFETY: requires a writable place; holds, it is a local.
        assert_eq!(unsafe { hipMallocManaged(&mut managed, 64, hipMemAttachGlobal) }, hipSuccess);
        let registered = support::registered_memory();
        assert_eq!(hipSetDevice(1), hipSuccess);
        let (stream, target) = (stream(hipStreamNonBlocking), device_memory(64));
        assert_eq!(hipSetDevice(0), hipSuccess);
        let ends: [(*mut c_void, extern "C" fn(*mut c_void) -> hipError_t); 2] =
            [(managed, hipFree), (registered, hipHostUnregister)];
        for (memory, end) in ends {
            pause(stream);
            // SAFETY: requires memory that lasts until the copy is done; holds, its end waits.
            let submitted = unsafe { hipMemcpyAsync(target, memory, 64, hipMemcpyHostToDevice, stream) };
            assert_eq!(submitted, hipSuccess);
            let memory = Shared(memory);
            let (says, hears) = std::sync::mpsc::channel();
            let memory = &memory;
            let ended = std::thread::scope(|scope| {
                scope.spawn(move || says.send(end(memory.get())).unwrap());
                // It has not ended as long as the stream is held.
                assert_eq!(hears.recv_timeout(Duration::from_millis(20)), Err(RecvTimeoutError::Timeout));
                resume(stream);
                hears.recv().unwrap()
            });
            assert_eq!(ended, hipSuccess);
            assert_eq!(hipStreamQuery(stream), hipSuccess);
        }
    });
}
