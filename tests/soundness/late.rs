//! SND-01: late values that arrive while the library is still submitting the transfer, and what it makes of a mixture.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hipfile::alloc::{DeviceBuffer, Stream};
use hipfile::{ErrorKind, LateValues, Region, RegisteredStream, Request, StreamFlags};
use hipfile_tests::isolate::alone;

use crate::fake::streams::{Fate, fates};
use crate::fake::{self, Function, calls};
use crate::support::{Prepared, pattern, prepared};

const SIZE: usize = 64 * 1024;
const LATE: LateValues = LateValues { len: 4096, file_offset: 8192, region_offset: 4096 };

fn scene() -> (Prepared, RegisteredStream, Region) {
    fake::install();
    let prepared = prepared(&pattern(SIZE, 1));
    let stream =
        RegisteredStream::new(&prepared.driver, Stream::new().unwrap(), StreamFlags::empty()).unwrap();
    let region = prepared.driver.register(DeviceBuffer::zeroed(SIZE).unwrap()).unwrap().into_region();
    (prepared, stream, region)
}

/// Lets the library refuse each of the first `times` submissions with this code, once the values have come if `after`.
fn refuse(stream: &RegisteredStream, code: u32, times: u64, after: bool) {
    let stream = stream.stream().clone();
    let before = calls(Function::ReadAsync);
    fates(move || {
        if calls(Function::ReadAsync) - before > times {
            return Fate::Honest;
        }
        if after {
            // The function that asks for the values is all that is on the stream.
            stream.synchronize().unwrap();
        }
        Fate::Refused(code, 0)
    });
}

/// SND-01: refused over old and new values: it is submitted again, with the new ones.
#[test]
fn a_mixture_that_was_refused_is_submitted_again() {
    alone("late::a_mixture_that_was_refused_is_submitted_again", || {
        let (prepared, stream, mut region) = scene();
        for code in [5022, 5030] {
            let before = calls(Function::ReadAsync);
            refuse(&stream, code, 1, true);
            let read = Request::read(&prepared.file, region, 0).late(|_| LATE).submit(&stream);
            let done = read.wait().unwrap();
            assert_eq!((done.bytes, calls(Function::ReadAsync) - before), (4096, 2));
            region = done.region;
            let bytes = region.slice(4096..8192).unwrap().as_device().to_vec().unwrap();
            assert!(bytes == pattern(SIZE, 1)[8192..12_288]);
        }
    });
}

/// SND-01: once, not for ever: then it was no mixture.
#[test]
fn what_is_refused_again_is_refused() {
    alone("late::what_is_refused_again_is_refused", || {
        let (prepared, stream, region) = scene();
        refuse(&stream, 5022, u64::MAX, true);
        let failed =
            Request::read(&prepared.file, region, 0).late(|_| LATE).submit(&stream).wait().unwrap_err();
        assert_eq!((failed.error().kind(), calls(Function::ReadAsync)), (ErrorKind::InvalidInput, 2));
        assert!(failed.region().is_some());
    });
}

/// SND-01: values that have not come yet are not to blame, and other answers may mean that something is on the stream.
#[test]
fn other_refusals_are_final() {
    alone("late::other_refusals_are_final", || {
        let (prepared, stream, region) = scene();
        // A closure that ends when the submission has returned.
        let returned = Arc::new(AtomicBool::new(false));
        let wait = Arc::clone(&returned);
        refuse(&stream, 5022, u64::MAX, false);
        let read = Request::read(&prepared.file, region, 0)
            .late(move |_| {
                while !wait.load(Ordering::SeqCst) {
                    std::thread::yield_now();
                }
                LATE
            })
            .submit(&stream);
        returned.store(true, Ordering::SeqCst);
        let failed = read.wait().unwrap_err();
        assert_eq!((failed.error().kind(), calls(Function::ReadAsync)), (ErrorKind::InvalidInput, 1));

        refuse(&stream, 5011, u64::MAX, true);
        let region = failed.into_parts().1.unwrap();
        let failed =
            Request::read(&prepared.file, region, 0).late(|_| LATE).submit(&stream).wait().unwrap_err();
        assert_eq!((failed.error().kind(), calls(Function::ReadAsync)), (ErrorKind::Hip, 2));
    });
}
