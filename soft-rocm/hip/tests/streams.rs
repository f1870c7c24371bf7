//! Streams and functions of the program that they call.
#![allow(
    clippy::multiple_unsafe_ops_per_block,
    clippy::unwrap_used,
    reason = "lists of calls; a panic is a failed test"
)]

mod support;

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::sync::{Barrier, Mutex};

use soft_rocm_hip::header::*;
use support::passes_in_process;
use support::streams::{launch, launch_concurrent, pause, resume, stream};

/// HF-HIP-29
#[test]
fn functions_run_in_the_order_of_their_submission() {
    let stream = stream(hipStreamNonBlocking);
    let log = Mutex::new(Vec::new());
    for number in 0..1000 {
        let log = &log;
        launch(stream, move || log.lock().unwrap().push(number));
    }
    assert_eq!(hipStreamSynchronize(stream), hipSuccess);
    assert!(log.lock().unwrap().iter().copied().eq(0..1000));
    assert_eq!(hipStreamDestroy(stream), hipSuccess);
}

/// HF-HIP-32
#[test]
fn a_destroyed_stream_does_its_work_and_is_unknown() {
    let stream = stream(hipStreamNonBlocking);
    let (sender, received) = mpsc::channel();
    pause(stream);
    launch(stream, move || sender.send(1).unwrap());
    assert_eq!(hipStreamQuery(stream), hipErrorNotReady);
    assert_eq!(hipStreamDestroy(stream), hipSuccess);
    assert_eq!(received.recv(), Ok(1));
    assert_unknown(stream);
}

fn assert_unknown(stream: hipStream_t) {
    let mut int = 0;
    let mut uint = 0;
    unsafe extern "C" fn function(_: *mut c_void) {}
    // SAFETY: requires writable places and functions; holds.
    let answers = unsafe {
        [
            hipStreamDestroy(stream),
            hipStreamQuery(stream),
            hipStreamSynchronize(stream),
            hipStreamGetDevice(stream, &mut int),
            hipStreamGetPriority(stream, &mut int),
            hipStreamGetFlags(stream, &mut uint),
            hipLaunchHostFunc(stream, Some(function), ptr::null_mut()),
            softrocm_launch_concurrent(stream, Some(function), ptr::null_mut()),
            softrocm_stream_pause(stream),
            softrocm_stream_resume(stream),
        ]
    };
    assert_eq!(answers, [hipErrorInvalidHandle; 10], "{stream:?}");
}

/// HF-HIP-33
#[test]
fn any_value_may_be_given_for_a_handle() {
    let mut local = 0u64;
    let stream = stream(hipStreamDefault);
    let near = [stream.wrapping_byte_add(1000), stream.wrapping_byte_sub(1000)];
    for pointer in [3, 8, 0xffff, usize::MAX, usize::MAX - 7, 1 << 47].map(ptr::without_provenance_mut) {
        assert_unknown(pointer);
    }
    assert_unknown((&raw mut local).cast());
    near.into_iter().for_each(assert_unknown);
    assert_eq!(hipStreamDestroy(stream), hipSuccess);
    for special in [0, 1, 2].map(ptr::without_provenance_mut) {
        assert_eq!(hipStreamDestroy(special), hipErrorInvalidHandle);
        assert_eq!(hipStreamSynchronize(special), hipSuccess);
    }
}

#[test]
fn a_stream_keeps_what_it_was_created_with() {
    let mut stream = ptr::null_mut();
    let (mut flags, mut priority, mut device) = (9, 9, 9);
    let (mut least, mut greatest) = (9, 9);
    // SAFETY: requires writable places; holds, they are locals.
    unsafe {
        assert_eq!(hipDeviceGetStreamPriorityRange(&mut least, &mut greatest), hipSuccess);
        assert_eq!(hipDeviceGetStreamPriorityRange(ptr::null_mut(), ptr::null_mut()), hipSuccess);
        assert_eq!((least, greatest), (1, -1));
        for (asked, kept) in [(-100, -1), (-1, -1), (0, 0), (1, 1), (100, 1)] {
            assert_eq!(hipStreamCreateWithPriority(&mut stream, hipStreamNonBlocking, asked), hipSuccess);
            assert_eq!(hipStreamGetPriority(stream, &mut priority), hipSuccess);
            assert_eq!(hipStreamGetFlags(stream, &mut flags), hipSuccess);
            assert_eq!(hipStreamGetDevice(stream, &mut device), hipSuccess);
            assert_eq!((flags, priority, device), (hipStreamNonBlocking, kept, 0));
            assert_eq!(hipStreamDestroy(stream), hipSuccess);
        }
        assert_eq!(hipStreamCreate(&mut stream), hipSuccess);
        for stream in [stream, ptr::null_mut()] {
            assert_eq!(hipStreamGetFlags(stream, &mut flags), hipSuccess);
            assert_eq!(
                (flags, hipStreamGetFlags(stream, ptr::null_mut())),
                (hipStreamDefault, hipErrorInvalidValue)
            );
            assert_eq!(hipStreamGetDevice(stream, ptr::null_mut()), hipErrorInvalidValue);
            assert_eq!(hipStreamGetPriority(stream, ptr::null_mut()), hipErrorInvalidValue);
        }
        assert_eq!(hipStreamDestroy(stream), hipSuccess);
        assert_eq!(hipStreamCreate(ptr::null_mut()), hipErrorInvalidValue);
        assert_eq!(hipStreamCreateWithFlags(&mut stream, 2), hipErrorInvalidValue);
    }
}

#[test]
fn streams_belong_to_the_device_that_was_current_and_functions_see_it() {
    let two = [("SOFT_ROCM_DEVICE_COUNT", "2")];
    passes_in_process("streams_belong_to_the_device_that_was_current_and_functions_see_it", &two, || {
        assert_eq!(hipSetDevice(1), hipSuccess);
        let stream = stream(hipStreamDefault);
        assert_eq!(hipSetDevice(0), hipSuccess);
        let seen = AtomicUsize::new(9);
        let look = || {
            let mut device = 9;
            // SAFETY: requires a writable place; holds, it is a local.
            assert_eq!(unsafe { hipGetDevice(&mut device) }, hipSuccess);
            seen.store(device as usize, Ordering::SeqCst);
            assert_eq!(hipSetDevice(0), hipSuccess);
        };
        for run in [launch, launch_concurrent] {
            run(stream, &look);
            run(stream, &look);
            assert_eq!(hipStreamSynchronize(stream), hipSuccess);
            assert_eq!(seen.swap(9, Ordering::SeqCst), 1);
        }
        // The other device does not wait for it.
        pause(stream);
        launch(stream, look);
        assert_eq!(hipDeviceSynchronize(), hipSuccess);
        resume(stream);
        assert_eq!(hipSetDevice(1), hipSuccess);
        assert_eq!(hipDeviceSynchronize(), hipSuccess);
        assert_eq!(seen.load(Ordering::SeqCst), 1);
    });
}

#[test]
fn concurrent_functions_overlap_and_others_wait_for_them() {
    let stream = stream(hipStreamNonBlocking);
    let both = Barrier::new(3);
    let ended = AtomicUsize::new(0);
    let seen = AtomicUsize::new(0);
    launch(stream, || seen.store(1, Ordering::SeqCst));
    for _ in 0..3 {
        launch_concurrent(stream, || {
            assert_eq!(seen.load(Ordering::SeqCst), 1);
            both.wait();
            ended.fetch_add(1, Ordering::SeqCst);
        });
    }
    launch(stream, || seen.store(10 + ended.load(Ordering::SeqCst), Ordering::SeqCst));
    launch_concurrent(stream, || {
        seen.fetch_add(100, Ordering::SeqCst);
    });
    assert_eq!(hipStreamSynchronize(stream), hipSuccess);
    assert_eq!(seen.load(Ordering::SeqCst), 113);
    assert_eq!(hipStreamDestroy(stream), hipSuccess);
}

/// HF-HIP-34
#[test]
fn functions_may_call_hip_but_not_wait() {
    let stream = stream(hipStreamDefault);
    let ended = AtomicUsize::new(0);
    let function = || {
        assert_eq!(hipInit(0), hipSuccess);
        for waiting in [stream, ptr::null_mut()] {
            assert_eq!(hipStreamSynchronize(waiting), hipErrorNotPermitted);
        }
        assert_eq!(hipDeviceSynchronize(), hipErrorNotPermitted);
        assert_eq!(hipStreamQuery(stream), hipErrorNotReady);
        // Copies, fills and frees work on what is there.
        let device = support::device_bytes(b"abc");
        assert_eq!(support::host_bytes(device, 3), b"abc");
        assert_eq!(hipFree(device), hipSuccess);
        let pinned = support::pinned_memory(1, 0);
        assert_eq!(hipHostFree(pinned), hipSuccess);
        launch(stream, || {
            ended.fetch_add(1, Ordering::SeqCst);
        });
    };
    for run in [launch, launch_concurrent] {
        run(stream, &function);
        assert_eq!([hipStreamSynchronize(stream), hipStreamSynchronize(stream)], [hipSuccess; 2]);
    }
    assert_eq!(ended.load(Ordering::SeqCst), 2);
    assert_eq!(hipStreamDestroy(stream), hipSuccess);
}

#[test]
fn callbacks_are_told_the_stream_and_the_outcome() {
    unsafe extern "C" fn callback(stream: hipStream_t, status: hipError_t, seen: *mut c_void) {
        // SAFETY: requires that it is what was handed over; holds.
        let seen = unsafe { &*seen.cast::<Mutex<Option<(usize, hipError_t)>>>() };
        *seen.lock().unwrap() = Some((stream.addr(), status));
    }
    let stream = stream(hipStreamDefault);
    let seen = Mutex::new(None);
    let data = (&raw const seen).cast_mut().cast();
    // SAFETY: requires data for the callback; holds until the stream was waited for.
    unsafe {
        assert_eq!(hipStreamAddCallback(stream, Some(callback), data, 1), hipErrorInvalidValue);
        assert_eq!(hipStreamAddCallback(stream, None, data, 0), hipErrorInvalidValue);
        assert_eq!(hipLaunchHostFunc(stream, None, data), hipErrorInvalidValue);
        assert_eq!(softrocm_launch_concurrent(stream, None, data), hipErrorInvalidValue);
        assert_eq!(hipStreamAddCallback(stream, Some(callback), data, 0), hipSuccess);
    }
    assert_eq!(hipStreamSynchronize(stream), hipSuccess);
    assert_eq!(*seen.lock().unwrap(), Some((stream.addr(), hipSuccess)));
    assert_eq!(hipStreamDestroy(stream), hipSuccess);
}

#[test]
fn not_ready_is_no_last_error() {
    let stream = stream(hipStreamNonBlocking);
    let _ = hipGetLastError();
    pause(stream);
    launch(stream, || ());
    assert_eq!([hipStreamQuery(stream), hipGetLastError()], [hipErrorNotReady, hipSuccess]);
    resume(stream);
    assert_eq!([hipStreamSynchronize(stream), hipStreamQuery(stream)], [hipSuccess; 2]);
    assert_eq!(hipStreamDestroy(stream), hipSuccess);
}

#[test]
fn every_thread_has_a_stream_of_its_own() {
    // Not a constant of the bindings, since it is a pointer.
    let own = || ptr::without_provenance_mut(2);
    let (sender, received) = mpsc::channel::<()>();
    launch(own(), move || received.recv().unwrap());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let ran = AtomicUsize::new(0);
            launch(own(), || ran.store(1, Ordering::SeqCst));
            assert_eq!(hipStreamSynchronize(own()), hipSuccess);
            assert_eq!(ran.load(Ordering::SeqCst), 1);
        });
    });
    assert_eq!(hipStreamQuery(own()), hipErrorNotReady);
    sender.send(()).unwrap();
    assert_eq!(hipStreamSynchronize(own()), hipSuccess);
}
