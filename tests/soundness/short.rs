//! SND-14: transfers that stop short, are interrupted, or fail in the middle.

use std::cell::RefCell;
use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};

use hipfile::ErrorKind;
use hipfile::alloc::DeviceBuffer;
use hipfile_tests::isolate::alone;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use crate::fake::{self, Reply};
use crate::support::{pattern, prepared};

const SIZE: usize = 20_000;

/// What the library does to one call.
#[derive(Clone, Copy, Debug)]
enum Step {
    Moves(usize),
    Interrupted,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![4 => (1..SIZE).prop_map(Step::Moves), 1 => Just(Step::Interrupted)];
    prop::collection::vec(step, 1..20)
}

/// Makes the library go through these steps again and again.
fn script(steps: Vec<Step>) {
    let mut next = steps.into_iter().cycle();
    // Only interruptions would never end.
    let mut in_a_row = 0;
    fake::transfers(move |asked| match next.next() {
        Some(Step::Interrupted) if in_a_row < 5 => {
            in_a_row += 1;
            Reply::Returns(-1, libc::EINTR)
        }
        Some(Step::Moves(size)) => {
            in_a_row = 0;
            Reply::Short(size)
        }
        _ => {
            in_a_row = 0;
            Reply::Short(asked.size)
        }
    });
}

/// SND-14. Any sequence of short counts and interruptions.
#[test]
fn exact_forms_finish_whatever_the_steps() {
    alone("short::exact_forms_finish_whatever_the_steps", || {
        fake::install();
        let bytes = pattern(SIZE, 1);
        let prepared = prepared(&bytes);
        let registered = prepared.driver.register(DeviceBuffer::new(SIZE).unwrap()).unwrap();
        let registered = RefCell::new(registered);
        TestRunner::deterministic()
            .run(&(steps(), 0..SIZE, 0..SIZE), |(steps, start, length)| {
                let end = (start + length).min(SIZE);
                let mut registered = registered.borrow_mut();
                registered.slice_mut(..).unwrap().as_device_mut().fill(0).unwrap();
                script(steps.clone());
                prepared.file.read_exact_at(registered.slice_mut(start..end).unwrap(), start as u64).unwrap();
                let got = registered.slice(..).unwrap().as_device().to_vec().unwrap();
                prop_assert!(got[start..end] == bytes[start..end]);
                prop_assert!(got[..start].iter().chain(&got[end..]).all(|byte| *byte == 0));
                script(steps);
                prepared.file.write_all_at(registered.slice(start..end).unwrap(), start as u64).unwrap();
                prop_assert!(fs::read(&prepared.path).unwrap() == bytes);
                Ok(())
            })
            .unwrap();
    });
}

/// SND-14. The short forms make one call.
#[test]
fn short_forms_are_short_once() {
    alone("short::short_forms_are_short_once", || {
        fake::install();
        let prepared = prepared(&pattern(SIZE, 2));
        let mut memory = DeviceBuffer::new(SIZE).unwrap();
        fake::transfers(|_| Reply::Short(77));
        assert_eq!(prepared.file.read_at(memory.slice_mut(..).unwrap(), 0).unwrap(), 77);
        assert_eq!(prepared.file.write_at(memory.slice(..).unwrap(), 0).unwrap(), 77);
        assert_eq!((fake::calls(fake::Function::Read), fake::calls(fake::Function::Write)), (1, 1));
        fake::transfers(|_| Reply::Returns(-1, libc::EINTR));
        let error = prepared.file.read_at(memory.slice_mut(..).unwrap(), 0).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Interrupted, "a short form leaves trying again to the caller");
    });
}

/// SND-14. However a transfer ends in the middle, the error says how much was done, and so much was.
#[test]
fn progress_is_told_with_the_error() {
    alone("short::progress_is_told_with_the_error", || {
        fake::install();
        let bytes = pattern(SIZE, 3);
        let prepared = prepared(&bytes);
        let mut memory = DeviceBuffer::zeroed(SIZE).unwrap();
        let endings: [(Reply, ErrorKind); 4] = [
            (Reply::Returns(-1, libc::EIO), ErrorKind::Os),
            (Reply::Returns(-999, 0), ErrorKind::Hip),
            (Reply::Returns(-5030, 0), ErrorKind::Internal),
            (Reply::Returns(isize::MAX, 0), ErrorKind::LibraryFault),
        ];
        for (ending, kind) in endings {
            for before in [0, 1, 3, 7] {
                let mut left = before;
                fake::transfers(move |_| {
                    left -= 1;
                    if left >= 0 { Reply::Short(1000) } else { ending }
                });
                let error = prepared.file.read_exact_at(memory.slice_mut(..).unwrap(), 0).unwrap_err();
                assert_eq!((error.kind(), error.bytes_done()), (kind, before as usize * 1000), "{error}");
                assert!(memory.to_vec().unwrap()[..error.bytes_done()] == bytes[..error.bytes_done()]);
                memory.fill(0).unwrap();
            }
        }
        fake::transfers(|_| Reply::Returns(0, 0));
        let error = prepared.file.read_exact_at(memory.slice_mut(..).unwrap(), 0).unwrap_err();
        assert_eq!((error.kind(), error.bytes_done()), (ErrorKind::UnexpectedEof, 0));
        let error = prepared.file.write_all_at(memory.slice(..).unwrap(), 0).unwrap_err();
        assert_eq!((error.kind(), error.bytes_done()), (ErrorKind::WriteZero, 0));
    });
}

/// SND-14. Offsets of continued calls go on from where the bytes stopped, in the file and in the memory.
#[test]
fn continued_calls_go_on_where_the_last_stopped() {
    alone("short::continued_calls_go_on_where_the_last_stopped", || {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        fake::install();
        let prepared = prepared(&pattern(SIZE, 4));
        let mut registered = prepared.driver.register(DeviceBuffer::new(SIZE).unwrap()).unwrap();
        fake::transfers(|asked| {
            let done = NEXT.fetch_add(1234, Ordering::SeqCst);
            assert_eq!((asked.file_offset, asked.buffer_offset), (500 + done as i64, 100 + done as i64));
            assert_eq!(asked.size, SIZE - 1000 - done);
            Reply::Short(1234)
        });
        prepared.file.read_exact_at(registered.slice_mut(100..SIZE - 900).unwrap(), 500).unwrap();
        assert!(NEXT.load(Ordering::SeqCst) >= SIZE - 1000);
    });
}
