//! SND-01, SND-09: owned transfers whose end HIP does not tell. Each way of knowing is tried; where none is left, memory, file
//! and slots stay for ever and are counted.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::mpsc::TryRecvError;
use std::task::{Context, Poll, Wake, Waker};

use hipfile::alloc;
use hipfile::{Done, Error, ErrorKind, OwnedTransfer, TransferError};
use hipfile_tests::isolate::LEAKS;
use hipfile_tests::soft;

use crate::fake;
use crate::fake::streams::{Fate, fates, steps};
use crate::support::{
    Prepared, Watched, assert_never_given_out, content, library_knows, pattern, prepared, stream,
};

const SIZE: usize = 64 * 1024;

/// What HIP refuses, one thing more each time. The first host function is the library's step, the second stands behind it.
const REFUSED: [&str; 4] = [
    "",
    "hipLaunchHostFunc:hip=719@2+",
    "hipLaunchHostFunc:hip=719@2+; hipEventCreateWithFlags:hip=2",
    "hipLaunchHostFunc:hip=719@2+; hipEventRecord:hip=719",
];

/// SND-01. A host function, else an event, else a wait: the slot is written before any of them tells of the end, also where
/// the submission failed.
#[test]
fn each_way_of_knowing_the_end_is_tried() {
    soft::only("lost::each_way_of_knowing_the_end_is_tried", &[LEAKS], || {
        fake::install();
        let prepared = prepared(&pattern(SIZE, 1));
        let stream = stream();
        let mut before = 0;
        for plan in REFUSED {
            for fails in [false, true] {
                for drops in [false, true] {
                    let (memory, gone) = Watched::new(SIZE);
                    let region = prepared.driver.register(memory).unwrap().into_region();
                    let moved = SIZE as isize;
                    fates(move || {
                        if fails { Fate::RefusedAndWritten(5011, 719, moved) } else { Fate::EndsLate(moved) }
                    });
                    soft::plan_hip(plan);
                    let transfer = prepared.file.read_owned(&stream, region, 0);
                    let ended = if drops {
                        drop(transfer);
                        None
                    } else {
                        Some(transfer.wait())
                    };
                    match &ended {
                        None => {}
                        Some(Ok(done)) => assert_eq!((done.bytes, fails), (SIZE, false)),
                        Some(Err(error)) => {
                            assert!(fails && error.region().is_some(), "{plan}: {error}");
                            assert_eq!(error.error().hip_error().map(|hip| hip.code()), Some(719));
                        }
                    }
                    drop(ended);
                    gone.recv().unwrap();
                    assert_eq!(steps(), before + 1, "{plan}: the memory went before the slot was written");
                    before += 1;
                    soft::plan_hip("");
                }
            }
        }
        assert_eq!(alloc::leaked().allocations, 0);
    });
}

/// SND-01, SND-09. HIP does not even wait: all of it stays, is counted, and is written to later.
#[test]
fn what_nobody_can_know_is_leaked_and_counted() {
    soft::only("lost::what_nobody_can_know_is_leaked_and_counted", &[LEAKS], || {
        fake::install();
        let prepared = prepared(&pattern(SIZE, 2));
        let stream = stream();
        for (number, fails) in (1..).zip([false, true]) {
            let (memory, gone) = Watched::new(SIZE);
            let region = prepared.driver.register(memory).unwrap().into_region();
            let address = region.as_ptr();
            fates(move || if fails { Fate::RefusedAndWritten(5011, 719, 1) } else { Fate::EndsLate(1) });
            soft::plan_hip(
                "hipLaunchHostFunc:hip=719@2+; hipEventRecord:hip=719; hipStreamSynchronize:hip=719",
            );
            let transfer = prepared.file.read_owned(&stream, region, 0);
            assert!(transfer.is_finished());
            let (error, region) = transfer.wait().unwrap_err().into_parts();
            assert!(region.is_none(), "{error}");
            assert_eq!(error.kind(), ErrorKind::Hip, "{error}");
            assert_names(&error, &prepared);
            soft::plan_hip("");
            while steps() < number {
                std::thread::yield_now();
            }
            assert_eq!((alloc::leaked().allocations, alloc::leaked().bytes), (number, number * SIZE as u64));
            assert_eq!(gone.try_recv(), Err(TryRecvError::Empty));
            assert!(library_knows(address));
            assert_never_given_out(address.addr(), SIZE);
            assert_eq!(Arc::strong_count(&prepared.file), 1 + number as usize);
        }
    });
}

/// The error of a transfer that is lost says which one.
fn assert_names(error: &Error, prepared: &Prepared) {
    assert_eq!((error.operation(), error.path()), ("read", Some(&*prepared.path)), "{error}");
    assert_eq!((error.offset(), error.requested()), (Some(0), Some(SIZE)), "{error}");
}

struct Unpark(std::thread::Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Awaits, on this thread.
fn block_on(mut transfer: OwnedTransfer) -> Result<Done, TransferError> {
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    loop {
        match Pin::new(&mut transfer).poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(ended) => return ended,
            Poll::Pending => std::thread::park(),
        }
    }
}

/// Has a transfer end, and says how it did if that is told.
type Way = fn(OwnedTransfer) -> Option<Result<Done, TransferError>>;

/// SND-01, SND-09. The device is lost under a transfer: whoever waits, asks, awaits or has dropped it, is told or counted, and
/// what the device still does happens in memory that nobody else has.
#[test]
fn lost_devices_end_operations() {
    soft::only("lost::lost_devices_end_operations", &[LEAKS], || {
        let bytes = pattern(SIZE, 3);
        let prepared = prepared(&bytes);
        let ways: [(&str, Way); 5] = [
            ("wait", |transfer| Some(transfer.wait())),
            ("try_wait", |transfer| Some(transfer.try_wait().unwrap())),
            ("poll", |transfer| Some(block_on(transfer))),
            ("is_finished", |transfer| {
                assert!(transfer.is_finished());
                Some(transfer.wait())
            }),
            ("drop", |_| None),
        ];
        for (number, (way, end)) in (1..).zip(ways) {
            let stream = stream();
            let (memory, gone) = Watched::new(SIZE);
            let region = prepared.driver.register(memory).unwrap().into_region();
            let address = region.as_ptr();
            let paused = soft::pause(stream.as_raw());
            let transfer = prepared.file.read_owned(&stream, region, 0);
            soft::plan_hip("hipStreamQuery:hip=719");
            if let Some(ended) = end(transfer) {
                let (error, region) = ended.unwrap_err().into_parts();
                assert!(region.is_none(), "{way}: {error}");
                assert_names(&error, &prepared);
                assert_eq!(error.hip_error().map(|hip| hip.code()), Some(719), "{way}: {error}");
            }
            while alloc::leaked().allocations < number {
                std::thread::yield_now();
            }
            assert_eq!(alloc::leaked().bytes, number * SIZE as u64, "{way}");
            soft::plan_hip("");
            let others = assert_never_given_out(address.addr(), SIZE);
            drop(paused);
            drop(others);
            stream.synchronize().unwrap();
            assert!(content(address.addr(), SIZE) == bytes, "{way}");
            assert!(library_knows(address), "{way}");
            assert_never_given_out(address.addr(), SIZE);
            assert_eq!(gone.try_recv(), Err(TryRecvError::Empty), "{way}");
        }
    });
}

/// SND-09. A future is told of a device that is lost while nobody asks.
#[test]
fn lost_devices_wake_futures() {
    soft::only("lost::lost_devices_wake_futures", &[LEAKS], || {
        let prepared = prepared(&pattern(SIZE, 4));
        let stream = stream();
        let region = prepared.driver.register(Watched::new(SIZE).0).unwrap().into_region();
        let paused = soft::pause(stream.as_raw());
        let mut transfer = prepared.file.read_owned(&stream, region, 0);
        let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
        assert!(Pin::new(&mut transfer).poll(&mut Context::from_waker(&waker)).is_pending());
        soft::plan_hip("hipStreamQuery:hip=719");
        let error = block_on(transfer).unwrap_err();
        assert_eq!(error.error().hip_error().map(|hip| hip.code()), Some(719), "{error}");
        soft::plan_hip("");
        drop(paused);
        stream.synchronize().unwrap();
        assert_eq!(alloc::leaked().allocations, 1);
    });
}
