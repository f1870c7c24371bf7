//! SND-01, SND-02, SND-05, SND-20: transfers in a scope. What they borrow, and the slots that C writes to, is there until the
//! stream has passed them, however the scope is left.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

use hipfile::alloc::DeviceBuffer;
use hipfile::{ErrorKind, RegisteredStream, StreamFlags};
use hipfile_tests::isolate::{LEAKS, aborts, alone, fork, leave};
use hipfile_tests::soft;

use crate::fake::streams::{Fate, Values, fates, last_values, steps};
use crate::fake::{self, Function};
use crate::support::{pattern, prepared, stream};

const SIZE: usize = 64 * 1024;

/// SND-01, SND-02: a scope is left while its stream is held: with everything forgotten that can be, and by a panic.
#[test]
fn a_scope_waits_for_a_held_stream() {
    soft::only("scopes::a_scope_waits_for_a_held_stream", &[LEAKS], || {
        let prepared = prepared(&pattern(SIZE, 1));
        let stream = stream();
        for panics in [false, true] {
            let mut memory = DeviceBuffer::zeroed(SIZE).unwrap();
            let resumed = AtomicBool::new(false);
            let paused = soft::pause(stream.as_raw());
            std::thread::scope(|threads| {
                let (submitted, wait) = std::sync::mpsc::channel();
                threads.spawn(|| {
                    wait.into_iter().next().unwrap();
                    resumed.store(true, Ordering::SeqCst);
                    drop(paused);
                });
                let left = catch_unwind(AssertUnwindSafe(|| {
                    stream.scope(|scope| {
                        let slice = memory.slice_mut(..).unwrap();
                        mem::forget(prepared.file.read_at_in(scope, slice, 0).unwrap());
                        submitted.send(()).unwrap();
                        assert!(!panics, "as planned");
                    });
                }));
                assert_eq!(left.is_err(), panics);
                assert!(resumed.load(Ordering::SeqCst), "the scope ended before the stream went on");
            });
            assert!(memory.to_vec().unwrap() == pattern(SIZE, 1));
        }
    });
}

/// SND-01. A submission fails half-way, and the library still writes the slot, 50 ms after the stream came there.
#[test]
fn a_slot_is_written_after_its_submission_failed() {
    soft::only("scopes::a_slot_is_written_after_its_submission_failed", &[], || {
        fake::install();
        let prepared = prepared(&pattern(SIZE, 2));
        let mut memory = DeviceBuffer::zeroed(SIZE).unwrap();
        let stream = stream();
        for (number, panics) in (1..).zip([false, true]) {
            fates(|| Fate::RefusedAndWritten(5011, 719, SIZE as isize));
            let left = catch_unwind(AssertUnwindSafe(|| {
                stream.scope(|scope| {
                    let refused =
                        prepared.file.read_at_in(scope, memory.slice_mut(..).unwrap(), 0).unwrap_err();
                    assert!(!panics, "as planned");
                    refused
                })
            }));
            assert_eq!(steps(), number, "the scope ended before the slot was written");
            assert_eq!(left.is_err(), panics);
            if let Ok(refused) = left {
                assert_eq!(refused.hip_error().map(|hip| hip.code()), Some(719), "{refused}");
            }
        }
        let all = Values { size: SIZE, file_offset: 0, buffer_offset: 0 };
        assert_eq!(last_values(), Some(all), "and the slots were there to be read");
    });
}

/// SND-01. The same where HIP does not answer whether the stream has passed: what was lent can't be given back.
#[test]
fn a_slot_that_may_be_written_for_ever_ends_the_process() {
    let test = "scopes::a_slot_that_may_be_written_for_ever_ends_the_process";
    if !soft::is_here() {
        return println!("{test} skipped: it needs the software ROCm");
    }
    aborts::<&str, &str>(test, &[], "the stream may still use what the scope borrowed", || {
        fake::install();
        let prepared = prepared(&pattern(SIZE, 2));
        let mut memory = DeviceBuffer::zeroed(SIZE).unwrap();
        fates(|| Fate::RefusedAndWritten(5011, 719, 1));
        soft::plan_hip("hipStreamSynchronize:hip=719");
        let refused =
            stream().scope(|scope| prepared.file.read_at_in(scope, memory.slice_mut(..).unwrap(), 0));
        println!("the scope ended: {refused:?}");
    });
}

/// SND-05. Whatever is left in the result slot is one thing: a count within what was asked for, or an error.
#[test]
fn every_stored_result_has_one_meaning() {
    alone("scopes::every_stored_result_has_one_meaning", || {
        fake::install();
        let prepared = prepared(&pattern(SIZE, 3));
        let mut memory = DeviceBuffer::zeroed(SIZE).unwrap();
        let stream = stream();
        let size = SIZE as isize;
        let edges = [
            0,
            1,
            size - 1,
            size,
            size + 1,
            isize::MAX,
            isize::MIN,
            isize::MIN + 1,
            -1,
            -2,
            -1055,
            -4999,
            -5000,
        ];
        for stored in edges.into_iter().chain([-5001, -5022, -5030, -5039, -5040, -6000, -0x7fff_f000]) {
            fates(move || Fate::Ends(stored));
            let ended = stream
                .scope(|scope| prepared.file.read_at_in(scope, memory.slice_mut(..).unwrap(), 0))
                .unwrap()
                .result()
                .expect("the scope has ended");
            match ended {
                Ok(count) => {
                    assert!((0..=size).contains(&stored) && count as isize == stored, "{stored}: {count}")
                }
                Err(error) if stored > size => assert_eq!(error.kind(), ErrorKind::LibraryFault, "{stored}"),
                Err(error) if stored == -1 => {
                    assert_eq!(
                        (error.kind(), error.os_error()),
                        (ErrorKind::Os, None),
                        "errno is lost: {error}"
                    );
                }
                Err(error) => assert!(stored < -1, "{stored} is {error}"),
            }
        }
    });
}

/// SND-01, SND-16. A forked child leaves the scope at once: no stream knows its copy of the memory, and none would answer.
#[test]
fn a_forked_child_leaves_a_scope() {
    soft::only("scopes::a_forked_child_leaves_a_scope", &[], || {
        let prepared = prepared(&pattern(SIZE, 4));
        let mut memory = DeviceBuffer::zeroed(SIZE).unwrap();
        let stream = stream();
        let (child, transfer) = stream.scope(|scope| {
            let paused = soft::pause(stream.as_raw());
            let transfer = prepared.file.read_at_in(scope, memory.slice_mut(..).unwrap(), 0).unwrap();
            let child = fork();
            if child.is_none() {
                mem::forget(paused);
            }
            (child, transfer)
        });
        let Some(child) = child else { leave(transfer.result().is_none()) };
        assert!(child.passed());
        assert_eq!(transfer.result().unwrap().unwrap(), SIZE);
        assert!(memory.to_vec().unwrap() == pattern(SIZE, 4));
    });
}

/// SND-07. Other code closes the driver under a transfer that is held. The library keeps what the transfer needs; the next
/// one is an error.
#[test]
fn the_driver_is_closed_under_a_scope() {
    soft::only("scopes::the_driver_is_closed_under_a_scope", &[], || {
        let prepared = prepared(&pattern(SIZE, 5));
        let stream = RegisteredStream::new(&prepared.driver, stream(), StreamFlags::empty()).unwrap();
        let mut memory = prepared.driver.register(DeviceBuffer::zeroed(SIZE).unwrap()).unwrap();
        let (head, tail) = memory.slice_mut(..).unwrap().split_at_mut(SIZE / 2).unwrap();
        let (first, second) = stream.stream().scope(|scope| {
            let paused = soft::pause(stream.stream().as_raw());
            let first = prepared.file.read_at_in(scope, head, 0).unwrap();
            let api = hipfile::sys::api::get().unwrap();
            // SAFETY: requires that nothing relies on the open; nothing but what is tested does.
            assert_eq!(unsafe { (api.hipFileDriverClose)() }.err.0, 0);
            let second = prepared.file.read_at_in(scope, tail, SIZE as u64 / 2);
            drop(paused);
            (first, second)
        });
        assert_eq!(first.result().unwrap().unwrap(), SIZE / 2);
        assert!(second.is_err(), "the library does not know the file any more");
        assert!(
            memory.slice(..SIZE / 2).unwrap().as_device().to_vec().unwrap() == pattern(SIZE, 5)[..SIZE / 2]
        );
    });
}

/// SND-12, SND-13. What is empty, does not fit or is elsewhere is not put on a stream.
#[test]
fn nothing_and_the_impossible_are_not_put_on_a_stream() {
    alone("scopes::nothing_and_the_impossible_are_not_put_on_a_stream", || {
        fake::install();
        let prepared = prepared(&pattern(SIZE, 6));
        let file = &prepared.file;
        let mut memory = DeviceBuffer::zeroed(SIZE).unwrap();
        let stream = stream();
        for at in [0, 1, SIZE] {
            let ended =
                stream.scope(|scope| file.read_at_in(scope, memory.slice_mut(at..at).unwrap(), 9)).unwrap();
            assert_eq!(ended.result().unwrap().unwrap(), 0);
        }
        for offset in [i64::MAX as u64 - SIZE as u64 + 1, i64::MAX as u64, 1 << 63, u64::MAX] {
            let refused = stream.scope(|scope| file.read_at_in(scope, memory.slice_mut(..).unwrap(), offset));
            assert_eq!(refused.unwrap_err().kind(), ErrorKind::InvalidInput, "{offset}");
            let refused = stream.scope(|scope| file.write_at_in(scope, memory.slice(..).unwrap(), offset));
            assert_eq!(refused.unwrap_err().kind(), ErrorKind::InvalidInput, "{offset}");
        }
        assert_eq!((fake::calls(Function::ReadAsync), fake::calls(Function::WriteAsync)), (0, 0));
    });
}
