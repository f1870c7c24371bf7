//! Events, and the order they make between streams.
#![allow(
    clippy::multiple_unsafe_ops_per_block,
    clippy::unwrap_used,
    reason = "lists of calls; a panic is a failed test"
)]

mod support;

use std::ptr;
use std::sync::Mutex;

use soft_rocm_hip::header::*;
use support::passes_in_process;
use support::streams::{event, launch, pause, resume, stream};

#[test]
fn an_event_is_ready_when_its_stream_has_passed_it() {
    let (stream, event) = (stream(hipStreamNonBlocking), event(hipEventDefault));
    assert_eq!([hipEventQuery(event), hipEventSynchronize(event)], [hipSuccess; 2], "nothing was recorded");
    pause(stream);
    launch(stream, || ());
    assert_eq!(hipEventRecord(event, stream), hipSuccess);
    let _ = hipGetLastError();
    assert_eq!([hipEventQuery(event), hipGetLastError()], [hipErrorNotReady, hipSuccess]);
    resume(stream);
    assert_eq!([hipEventSynchronize(event), hipEventQuery(event)], [hipSuccess; 2]);
    // What comes after it does not count.
    pause(stream);
    launch(stream, || ());
    assert_eq!(hipEventQuery(event), hipSuccess);
    // A new record does.
    assert_eq!(hipEventRecord(event, stream), hipSuccess);
    assert_eq!(hipEventQuery(event), hipErrorNotReady);
    resume(stream);
    assert_eq!(
        [hipStreamDestroy(stream), hipEventSynchronize(event), hipEventDestroy(event)],
        [hipSuccess; 3]
    );
}

#[test]
fn a_stream_waits_for_what_was_recorded_before_it_was_told_to() {
    let streams = [stream(hipStreamNonBlocking), stream(hipStreamNonBlocking)];
    let event = event(hipEventDisableTiming);
    let log = Mutex::new(Vec::new());
    let note = |stream, number| {
        let log = &log;
        launch(stream, move || log.lock().unwrap().push(number));
    };
    assert_eq!(hipStreamWaitEvent(streams[1], event, 0), hipSuccess, "nothing was recorded");
    pause(streams[0]);
    note(streams[0], 1);
    assert_eq!(hipEventRecord(event, streams[0]), hipSuccess);
    assert_eq!(hipStreamWaitEvent(streams[1], event, 0), hipSuccess);
    assert_eq!(hipStreamWaitEvent(streams[0], event, 0), hipSuccess, "a stream may wait for itself");
    note(streams[0], 3);
    // Forgotten for those who wait from now on only.
    assert_eq!(hipEventDestroy(event), hipSuccess);
    note(streams[1], 2);
    assert_eq!(hipStreamQuery(streams[1]), hipErrorNotReady);
    assert!(log.lock().unwrap().is_empty());
    resume(streams[0]);
    for stream in streams {
        assert_eq!(hipStreamSynchronize(stream), hipSuccess);
        assert_eq!(hipStreamDestroy(stream), hipSuccess);
    }
    let log = log.into_inner().unwrap();
    assert!(log == [1, 2, 3] || log == [1, 3, 2], "{log:?}");
}

#[test]
fn streams_may_wait_for_each_other_in_turn() {
    let streams = [stream(hipStreamNonBlocking), stream(hipStreamNonBlocking)];
    let event = event(hipEventDefault);
    let count = Mutex::new(0);
    for turn in 0..200 {
        let (stream, other, count) = (streams[turn % 2], streams[(turn + 1) % 2], &count);
        launch(stream, move || {
            assert_eq!(*count.lock().unwrap(), turn);
            *count.lock().unwrap() += 1;
        });
        assert_eq!(hipEventRecord(event, stream), hipSuccess);
        assert_eq!(hipStreamWaitEvent(other, event, 0), hipSuccess);
    }
    assert_eq!(hipDeviceSynchronize(), hipSuccess);
    assert_eq!(*count.lock().unwrap(), 200);
    streams.into_iter().for_each(|stream| assert_eq!(hipStreamDestroy(stream), hipSuccess));
}

#[test]
fn time_passes_between_events() {
    let stream = stream(hipStreamNonBlocking);
    let (start, stop, timeless) =
        (event(hipEventDefault), event(hipEventBlockingSync), event(hipEventDisableTiming));
    let mut ms = -1.0f32;
    // SAFETY: requires a writable place; holds, it is a local.
    let mut elapsed = |start, stop| (unsafe { hipEventElapsedTime(&mut ms, start, stop) }, ms);
    assert_eq!(elapsed(start, stop).0, hipErrorInvalidHandle, "nothing was recorded");
    assert_eq!(hipEventRecord(start, stream), hipSuccess);
    launch(stream, || std::thread::sleep(std::time::Duration::from_millis(20)));
    pause(stream);
    assert_eq!([hipEventRecord(stop, stream), hipEventRecord(timeless, stream)], [hipSuccess; 2]);
    assert_eq!(elapsed(start, stop).0, hipErrorNotReady);
    resume(stream);
    assert_eq!(hipEventSynchronize(timeless), hipSuccess);
    let (result, ms) = elapsed(start, stop);
    assert!(result == hipSuccess && ms >= 20.0, "{result:?} {ms}");
    assert_eq!(elapsed(stop, start), (hipSuccess, -ms));
    assert_eq!(elapsed(start, start), (hipSuccess, 0.0));
    assert_eq!(elapsed(start, timeless).0, hipErrorInvalidHandle);
    // SAFETY: requires NULL or a writable place; holds.
    assert_eq!(unsafe { hipEventElapsedTime(ptr::null_mut(), start, stop) }, hipErrorInvalidValue);
    assert_eq!(hipStreamDestroy(stream), hipSuccess);
    [start, stop, timeless].into_iter().for_each(|event| assert_eq!(hipEventDestroy(event), hipSuccess));
}

/// HF-HIP-33
#[test]
fn any_value_may_be_given_for_an_event() {
    let (stream, destroyed) = (stream(hipStreamDefault), event(hipEventDefault));
    assert_eq!(hipEventDestroy(destroyed), hipSuccess);
    let mut ms = 0.0;
    let wrong = [0, 1, 8, usize::MAX].map(ptr::without_provenance_mut);
    for event in wrong.into_iter().chain([destroyed, stream.cast(), (&raw mut ms).cast()]) {
        // SAFETY: requires a writable place; holds, it is a local.
        let elapsed = unsafe { hipEventElapsedTime(&mut ms, event, event) };
        let answers = [
            hipEventDestroy(event),
            hipEventQuery(event),
            hipEventSynchronize(event),
            hipEventRecord(event, stream),
            hipStreamWaitEvent(stream, event, 0),
            elapsed,
        ];
        assert_eq!(answers, [hipErrorInvalidHandle; 6], "{event:?}");
    }
    let event = event(hipEventDefault);
    assert_eq!(hipStreamDestroy(event.cast()), hipErrorInvalidHandle);
    assert_eq!(hipEventRecord(event, event.cast()), hipErrorInvalidHandle);
    assert_eq!(hipStreamWaitEvent(event.cast(), event, 0), hipErrorInvalidHandle);
    assert_eq!(hipStreamWaitEvent(stream, event, 1), hipErrorInvalidValue);
    assert_eq!([hipEventDestroy(event), hipStreamDestroy(stream)], [hipSuccess; 2]);
}

#[test]
fn flags_of_events_are_checked() {
    let mut place = ptr::null_mut();
    // SAFETY: requires NULL or a writable place; holds.
    unsafe {
        assert_eq!(hipEventCreate(ptr::null_mut()), hipErrorInvalidValue);
        assert_eq!(hipEventCreateWithFlags(&mut place, 8), hipErrorInvalidValue);
        let shared = hipEventInterprocess | hipEventDisableTiming;
        assert_eq!(hipEventCreateWithFlags(&mut place, shared), hipErrorNotSupported);
        assert!(place.is_null());
        let all = hipEventBlockingSync
            | hipEventDisableTiming
            | hipEventDisableSystemFence
            | hipEventReleaseToDevice
            | hipEventReleaseToSystem;
        assert_eq!(hipEventCreateWithFlags(&mut place, all), hipSuccess);
        assert_eq!(hipEventDestroy(place), hipSuccess);
        assert_eq!(hipEventCreate(&mut place), hipSuccess);
    }
    assert_eq!(hipEventDestroy(place), hipSuccess);
}

#[test]
fn an_event_records_on_its_device_and_is_waited_for_on_any() {
    let two = [("SOFT_ROCM_DEVICE_COUNT", "2")];
    passes_in_process("an_event_records_on_its_device_and_is_waited_for_on_any", &two, || {
        let (first, event) = (stream(hipStreamDefault), event(hipEventDefault));
        assert_eq!(hipSetDevice(1), hipSuccess);
        let second = stream(hipStreamDefault);
        assert_eq!(hipEventRecord(event, second), hipErrorInvalidHandle);
        assert_eq!(hipEventRecord(event, ptr::null_mut()), hipErrorInvalidHandle);
        pause(first);
        assert_eq!(hipEventRecord(event, first), hipSuccess);
        assert_eq!(hipStreamWaitEvent(second, event, 0), hipSuccess);
        assert_eq!(hipStreamQuery(second), hipErrorNotReady);
        resume(first);
        assert_eq!(hipStreamSynchronize(second), hipSuccess);
    });
}
