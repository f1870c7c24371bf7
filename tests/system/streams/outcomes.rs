//! How owned transfers end: short, with nothing, with errors; the region always comes back.

use std::error::Error as _;
use std::io;
use std::sync::Arc;

use hipfile::alloc::{DeviceBuffer, HipError, Stream};
use hipfile::{
    Error, ErrorKind, OpError, OpenOptions, RegisteredStream, Request, StreamFlags, TransferError,
};
use hipfile_tests::isolate::{alone, in_child, isolated};
use hipfile_tests::{library, soft};

use super::{FALLBACK, PAGE, World, bytes, only_fast};
use crate::common::filled;

/// SND-14
#[test]
fn reads_are_short_at_the_end_of_the_file() {
    let world = World::new(PAGE + 100);
    let stream = world.stream(StreamFlags::FIXED_VALUES);
    for (offset, expected) in [(0, PAGE + 100), (PAGE, 100), (PAGE + 100, 0), (10 * PAGE, 0)] {
        let region = world.region(2 * PAGE, 0x5a);
        let done = world.file.read_owned(&stream, region, offset as u64).wait().unwrap();
        assert_eq!(done.bytes, expected, "from {offset}");
        let start = offset.min(world.content.len());
        assert!(bytes(&done.region)[..expected] == world.content[start..]);
    }
    // A write goes on behind the end.
    let done = world.file.write_owned(&stream, world.region(PAGE, 9), 3 * PAGE as u64).wait().unwrap();
    assert_eq!((done.bytes, world.file_content().len()), (PAGE, 4 * PAGE));
}

/// SND-13: no bytes, no call, and no waiting for the stream.
#[test]
fn regions_without_bytes_end_at_once() {
    soft::only("streams::outcomes::regions_without_bytes_end_at_once", &[], || {
        let world = World::new(PAGE);
        let stream = world.stream(StreamFlags::empty());
        let mut pool = world.region(PAGE, 1);
        let _held = soft::pause(stream.stream().as_raw());
        soft::plan_hipfile("hipFileReadAsync:hipfile=5001;hipFileWriteAsync:hipfile=5001");
        let mut empty = || pool.split_to(0).unwrap();
        for offset in [0, 7, i64::MAX.unsigned_abs()] {
            let read = world.file.read_owned(&stream, empty(), offset);
            assert!(read.is_finished());
            let done = read.wait().unwrap();
            assert_eq!((done.bytes, done.region.len()), (0, 0));
            assert_eq!(world.file.write_owned(&stream, empty(), offset).wait().unwrap().bytes, 0);
        }
        let late = Request::read(&world.file, empty(), 0).late(|_| panic!("not called"));
        assert_eq!(late.submit(&stream).wait().unwrap().bytes, 0);
    });
}

/// SND-12
#[test]
fn offsets_past_the_end_of_any_file_are_refused() {
    let world = World::new(PAGE);
    let stream = Stream::new().unwrap();
    let mut region = world.region(PAGE, 7);
    for offset in [u64::MAX, i64::MAX.unsigned_abs() - PAGE as u64 + 1] {
        let (error, back) = world.file.write_owned(&stream, region, offset).wait().unwrap_err().into_parts();
        assert_eq!(
            (error.kind(), error.offset(), error.requested()),
            (ErrorKind::InvalidInput, Some(offset), Some(PAGE))
        );
        region = back.unwrap();
    }
    assert_eq!(bytes(&region), [7; PAGE]);
}

/// SND-05, HF-ASYNC-15: the number of the error is lost on the way.
#[test]
fn a_failed_system_call_of_the_fallback() {
    isolated("streams::outcomes::a_failed_system_call_of_the_fallback", &FALLBACK, || {
        let world = World::new(PAGE);
        let stream = world.stream(StreamFlags::FIXED_VALUES);
        let folder = OpenOptions::new().read(true).open(&world.driver, "/").unwrap();
        let failed = Arc::new(folder).read_owned(&stream, world.region(PAGE, 7), 0).wait().unwrap_err();
        let error = failed.error();
        assert_eq!((error.kind(), error.os_error(), error.raw_code()), (ErrorKind::Os, None, Some(-1)));
        let text = "read / at offset 0, 4096 bytes: a system call failed, and on a stream the library does not tell how (-1)";
        assert_eq!((error.to_string(), failed.to_string()), (text.to_owned(), text.to_owned()));
        assert_eq!(bytes(failed.region().unwrap()), [7; PAGE]);
    });
}

/// A file that is not open for it is told before it is put on the stream, where the reason would be lost.
#[test]
fn the_wrong_direction_is_told() {
    let world = World::new(PAGE);
    let stream = world.stream(StreamFlags::FIXED_VALUES);
    let reader = Arc::new(OpenOptions::new().read(true).open(&world.driver, &world.path).unwrap());
    let (error, region) =
        reader.write_owned(&stream, world.region(PAGE, 7), 0).wait().unwrap_err().into_parts();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    let text =
        format!("write {} at offset 0, 4096 bytes: the file is not open for writing", world.path.display());
    assert_eq!(error.to_string(), text);
    let mut region = region.unwrap();
    assert_eq!(bytes(&region), [7; PAGE]);
    // Nothing to write needs no file that is open for it.
    let nothing = region.split_to(0).unwrap();
    assert_eq!(reader.write_owned(&stream, nothing, 0).wait().unwrap().bytes, 0);

    let memory = DeviceBuffer::zeroed(PAGE).unwrap();
    let error =
        stream.stream().scope(|scope| reader.write_at_in(scope, memory.slice(..).unwrap(), 0)).unwrap_err();
    assert_eq!(error.to_string(), text);
    assert!(world.file_content() == world.content);
}

/// HF-ASYNC-15
#[test]
fn a_failed_system_call_of_the_fast_path() {
    only_fast("streams::outcomes::a_failed_system_call_of_the_fast_path", || {
        let world = World::new(PAGE);
        let stream = world.stream(StreamFlags::FIXED_VALUES);
        soft::plan_hip("hipAmdFileRead:errno=EIO");
        let read = world.file.read_owned(&stream, world.region(PAGE, 7), 0).wait();
        if library::has_0_5() {
            let failed = read.unwrap_err();
            assert_eq!(failed.error().kind(), ErrorKind::Internal);
            assert_eq!(failed.error().op_error(), Some(OpError::InternalError));
            assert!(failed.region().is_some());
        } else {
            assert!(bytes(&read.unwrap().region) == world.content, "it is not called");
        }
    });
}

/// SND-01: what the library answers at once is told by the operation, with the region, and nothing stays registered or held.
#[test]
fn failed_submissions_give_the_region_back() {
    soft::only("streams::outcomes::failed_submissions_give_the_region_back", &FALLBACK, || {
        let world = World::new(PAGE);
        let stream = Stream::new().unwrap();
        let region = world.region(PAGE, 7);
        soft::plan_hipfile("hipFileReadAsync:hipfile=5030;hipFileWriteAsync:hip=2");
        let (error, region) = world.file.read_owned(&stream, region, 0).wait().unwrap_err().into_parts();
        assert_eq!((error.kind(), error.op_error()), (ErrorKind::Internal, Some(OpError::InternalError)));
        let failed = world.file.write_owned(&stream, region.unwrap(), 0).wait().unwrap_err();
        let codes = (failed.error().kind(), failed.error().hip_error());
        assert_eq!(codes, (ErrorKind::OutOfMemory, Some(HipError::OUT_OF_MEMORY)));
        soft::plan_hipfile("");

        // Below the library, half-way: its first step is not taken by the stream.
        soft::plan_hip("hipLaunchHostFunc:hip=2@1");
        let region = failed.into_parts().1.unwrap();
        let failed = world.file.read_owned(&stream, region, 0).wait().unwrap_err();
        assert_eq!(failed.error().hip_error(), Some(HipError::OUT_OF_MEMORY));
        soft::plan_hip("");

        let region = failed.into_parts().1.unwrap();
        assert_eq!(bytes(&region), [7; PAGE]);
        let done = world.file.read_owned(&stream, region, 0).wait().unwrap();
        assert!(bytes(&done.region) == world.content);
        done.region.try_into_registered::<DeviceBuffer>().unwrap().deregister().unwrap();
    });
}

#[test]
fn errors_go_where_errors_go() {
    let world = World::new(PAGE);
    let stream = Stream::new().unwrap();
    let fail = || -> TransferError {
        world.file.read_owned(&stream, world.region(1, 0), u64::MAX).wait().unwrap_err()
    };
    let text = fail().to_string();
    assert!(fail().source().is_none());
    assert_eq!(fail().into_error().to_string(), text);
    assert_eq!(Error::from(fail()).to_string(), text);
    let io = io::Error::from(fail());
    assert_eq!((io.kind(), io.to_string()), (io::ErrorKind::InvalidInput, text));
}

/// SND-16: in a forked child everything is refused with a typed error, the region comes back, and drops do nothing.
#[test]
fn a_forked_child_is_told() {
    alone("streams::outcomes::a_forked_child_is_told", || {
        let world = World::new(PAGE);
        let stream = world.stream(StreamFlags::empty());
        let (mut memory, region) = (filled(PAGE, 0), world.region(PAGE, 0));
        let refused = in_child(move || {
            let forked = |error: &Error| assert_eq!(error.kind(), ErrorKind::Forked, "{error}");
            let (error, region) = world.file.read_owned(&stream, region, 0).wait().unwrap_err().into_parts();
            forked(&error);
            assert!(region.is_some(), "nothing was started");
            let transfer =
                stream.stream().scope(|scope| world.file.read_at_in(scope, memory.slice_mut(..).unwrap(), 0));
            forked(&transfer.unwrap_err());
            forked(&world.file.read_at_after(&stream, memory.slice_mut(..).unwrap(), 0).unwrap_err());
            let plain = stream.stream().clone();
            forked(&RegisteredStream::new(&world.driver, plain, StreamFlags::empty()).unwrap_err());
            let (error, stream) = stream.deregister().unwrap_err().into_parts();
            forked(&error);
            drop(stream);
            true
        });
        assert!(refused);
    });
}
