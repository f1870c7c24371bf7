//! Streams and events: what HIP is asked, and what comes of failures.

use crate::tests::fake;
use crate::tests::fake_handles::streams_and_events;
use crate::{Device, ErrorKind, Event, HipError, Stream, StreamOptions, StreamRef};

#[test]
fn a_stream_is_destroyed_with_its_last_clone_on_its_own_device() {
    fake::install();
    let device = Device::new(1).unwrap();
    let stream = {
        let _guard = device.make_current().unwrap();
        Stream::new().unwrap()
    };
    assert_eq!(stream.device(), device);
    let clone = stream.clone();
    drop(stream);
    assert_eq!(streams_and_events(), (1, 0));
    fake::calls();
    drop(clone);
    assert_eq!(streams_and_events(), (0, 0));
    assert_eq!(fake::calls(), ["hipGetDevice", "hipSetDevice", "hipStreamDestroy", "hipSetDevice"]);
    assert_eq!(fake::current_device(), 0);
}

#[test]
fn options_reach_hip_and_come_back() {
    fake::install();
    let stream = StreamOptions::new().non_blocking(true).priority(-7).create().unwrap();
    assert!(stream.is_non_blocking().unwrap());
    assert_eq!(stream.priority().unwrap(), -1);
    assert!(!Stream::new().unwrap().is_non_blocking().unwrap());
    assert_eq!(Device::current().unwrap().stream_priorities().unwrap(), -1..=1);
}

#[test]
fn a_foreign_stream_is_never_destroyed() {
    fake::install();
    let stream = Stream::new().unwrap();
    // SAFETY: requires a live stream; holds because `stream` lives until the end of the test.
    let foreign: StreamRef<'static> = unsafe { StreamRef::from_raw(stream.as_raw(), stream.device()) };
    drop(Stream::from(foreign));
    drop(Stream::from(StreamRef::default_of(stream.device())));
    assert_eq!(streams_and_events(), (1, 0));
}

#[test]
fn the_default_stream_is_that_of_its_device() {
    fake::install();
    let stream = StreamRef::default_of(Device::new(1).unwrap());
    fake::calls();
    stream.synchronize().unwrap();
    assert_eq!(fake::calls(), ["hipGetDevice", "hipSetDevice", "hipStreamSynchronize", "hipSetDevice"]);
}

#[test]
fn failures_name_the_operation_and_keep_the_device() {
    fake::install();
    let stream = Stream::new().unwrap();
    let event = Event::new().unwrap();
    fake::fail("hipStreamSynchronize", 1, 719);
    let error = stream.synchronize().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Hip);
    assert_eq!(error.hip_error(), Some(HipError::from(719)));
    assert_eq!(
        error.to_string(),
        "StreamRef::synchronize: hipStreamSynchronize failed: hipErrorUnknown (719): unknown error"
    );
    fake::fail("hipStreamQuery", 1, 600);
    assert!(!stream.is_idle().unwrap());
    fake::fail("hipStreamQuery", 1, 719);
    assert!(stream.is_idle().is_err());
    fake::fail("hipEventQuery", 1, 600);
    assert!(!event.is_reached().unwrap());
    fake::fail("hipStreamWaitEvent", 1, 400);
    assert!(stream.wait_event(&event).is_err());
    fake::fail("hipEventRecord", 1, 400);
    assert!(event.record(stream.as_ref()).is_err());
    fake::fail("hipStreamCreateWithPriority", 1, 2);
    assert_eq!(Stream::new().unwrap_err().kind(), ErrorKind::OutOfMemory);
    fake::fail("hipEventCreateWithFlags", 1, 2);
    assert_eq!(Event::timed().unwrap_err().kind(), ErrorKind::OutOfMemory);
    // Neither can be told of.
    fake::fail("hipEventDestroy", 1, 400);
    drop(event);
    fake::fail("hipStreamDestroy", 1, 400);
    drop(stream);
    assert_eq!(fake::current_device(), 0);
}

#[test]
fn times_between_events() {
    fake::install();
    let (start, stop) = (Event::timed().unwrap(), Event::timed().unwrap());
    assert_eq!(stop.elapsed_since(&start).unwrap().as_micros(), 1500);
    fake::fail("hipEventElapsedTime", 1, 600);
    assert_eq!(stop.elapsed_since(&start).unwrap_err().hip_error(), Some(HipError::NOT_READY));
}

#[test]
fn a_host_function_is_called_with_its_data_on_the_streams_device() {
    unsafe extern "C" fn set(data: *mut core::ffi::c_void) {
        // SAFETY: requires a pointer to a bool that nobody else uses; holds because the fake calls during the launch.
        unsafe { *data.cast::<bool>() = true };
    }
    fake::install();
    let stream = StreamRef::default_of(Device::new(1).unwrap());
    fake::calls();
    let mut called = false;
    // SAFETY: requires a function that may be called with the data; holds because the fake calls it at once.
    unsafe { crate::launch_host_function("late", stream, set, (&raw mut called).cast()) }.unwrap();
    assert!(called);
    assert_eq!(fake::calls(), ["hipGetDevice", "hipSetDevice", "hipLaunchHostFunc", "hipSetDevice"]);
    called = false;
    fake::fail("hipLaunchHostFunc", 1, 2);
    // SAFETY: as above.
    let refused = unsafe { crate::launch_host_function("late", stream, set, (&raw mut called).cast()) };
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::OutOfMemory);
    assert!(!called);
}
