//! Streams that the library knows.

use hipfile::alloc::{Device, Stream, StreamRef};
use hipfile::{ErrorKind, OpError, RegisteredStream, StreamFlags};
use hipfile_tests::isolate::LEAKS;
use hipfile_tests::soft;

use super::{PAGE, World, bytes};

#[test]
fn one_registration_at_a_time() {
    let world = World::new(PAGE);
    let stream = Stream::new().unwrap();
    let register = |flags| RegisteredStream::new(&world.driver, stream.clone(), flags);
    let registered = register(StreamFlags::FIXED_SIZE).unwrap();
    let error = register(StreamFlags::empty()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyRegistered);
    assert_eq!(error.to_string(), "register stream: the stream is already registered");
    drop(registered);
    assert_eq!(register(StreamFlags::empty()).unwrap().flags(), StreamFlags::empty());
    let unknown = register(StreamFlags::from_bits_retain(16)).unwrap_err();
    assert_eq!((unknown.kind(), unknown.op_error()), (ErrorKind::InvalidInput, Some(OpError::InvalidValue)));
    assert_eq!(
        unknown.to_string(),
        "register stream: the library does not take stream flags 0x10: an argument has an invalid value (5022 hipFileInvalidValue)"
    );
}

/// To the library the default streams of all devices are one.
#[test]
fn default_streams_are_registered_once() {
    let world = World::new(PAGE);
    let default = || Stream::from(StreamRef::default_of(Device::current().unwrap()));
    let registered = RegisteredStream::new(&world.driver, default(), StreamFlags::FIXED_VALUES).unwrap();
    let error = RegisteredStream::new(&world.driver, default(), StreamFlags::empty()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyRegistered);
    let done = world.file.read_owned(&registered, world.region(PAGE, 0), 0).wait().unwrap();
    assert!(bytes(&done.region) == world.content);
}

/// SND-09: clones and operations share the registration; the driver cannot be closed under it.
#[test]
fn a_registration_in_use_stays() {
    soft::only("streams::registration::a_registration_in_use_stays", &[], || {
        let world = World::new(PAGE);
        let stream = world.stream(StreamFlags::empty());
        let region = world.region(PAGE, 0);
        let held = soft::pause(stream.stream().as_raw());
        let transfer = world.file.read_owned(&stream, region, 0);
        let (error, stream) = stream.deregister().unwrap_err().into_parts();
        assert_eq!(error.kind(), ErrorKind::Busy);
        assert_eq!(error.to_string(), "deregister stream: clones or operations still use the stream");
        let World { driver, file, .. } = world;
        drop(held);
        drop(transfer.wait().unwrap());
        drop(file);
        let refused = driver.close().unwrap_err();
        assert_eq!(refused.error().kind(), ErrorKind::Busy);
        let stream = stream.deregister().unwrap();
        stream.synchronize().unwrap();
        refused.into_inner().close().unwrap();
    });
}

/// A registration that can't be ended keeps its stream for ever: another stream at the same address would inherit it.
#[test]
fn a_stream_that_stays_registered_is_not_destroyed() {
    soft::only("streams::registration::a_stream_that_stays_registered_is_not_destroyed", &[LEAKS], || {
        let world = World::new(PAGE);
        let stream = world.stream(StreamFlags::FIXED_VALUES);
        let raw = stream.stream().as_raw();
        soft::plan_hipfile("hipFileStreamDeregister:hipfile=5030");
        let (error, stream) = stream.deregister().unwrap_err().into_parts();
        assert_eq!(
            (error.operation(), error.op_error()),
            ("deregister stream", Some(OpError::InternalError))
        );
        drop(stream);
        soft::plan_hipfile("");
        // SAFETY: requires a live stream that is not destroyed any more; holds because it was leaked, as this shows.
        let left: StreamRef<'static> = unsafe { StreamRef::from_raw(raw, Device::current().unwrap()) };
        left.synchronize().unwrap();
        let error = RegisteredStream::new(&world.driver, left.into(), StreamFlags::empty()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AlreadyRegistered);
    });
}

#[test]
fn a_failed_registration_is_told() {
    soft::only("streams::registration::a_failed_registration_is_told", &[], || {
        let world = World::new(PAGE);
        soft::plan_hip("hipStreamGetDevice:hip=2");
        let register = || RegisteredStream::new(&world.driver, Stream::new().unwrap(), StreamFlags::empty());
        let error = register().unwrap_err();
        assert_eq!((error.operation(), error.kind()), ("register stream", ErrorKind::OutOfMemory));
        soft::plan_hip("");
        register().unwrap().deregister().unwrap();
    });
}
