//! SND-04, SND-05, SND-06, SND-09, SND-13, SND-21: what a library may answer, and when it is not asked.

use std::fs;

use hipfile::alloc::{self, DeviceBuffer};
use hipfile::{Driver, Error, ErrorKind, Feature, OpenOptions, Parameter};
use hipfile_tests::isolate::{LEAKS, alone, isolated, shimmed};
use hipfile_tests::shim::{self, Action};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use crate::fake::{self, Function, Reply};
use crate::support::{pattern, prepared};

/// Codes that no release of hipFile or HIP knows, and some that one does.
const CODES: [u32; 14] =
    [1, 2, 911, 912, 1055, 2000, 4999, 5021, 5030, 5032, 5040, 5999, i32::MAX as u32, u32::MAX];

/// SND-04: a code is kept as the number it is, from every function that gives one.
#[test]
fn unknown_codes_survive() {
    alone("answers::unknown_codes_survive", || {
        fake::install();
        let prepared = prepared(&[1; 4096]);
        let open = || -> Error { Driver::open().unwrap_err() };
        let file = || OpenOptions::new().read(true).open(&prepared.driver, "/proc/self/exe").unwrap_err();
        let memory = || prepared.driver.register(DeviceBuffer::new(4096).unwrap()).unwrap_err();
        let calls: [(Function, &dyn Fn() -> Error); 2] =
            [(Function::RegisterFile, &file), (Function::RegisterMemory, &memory)];
        for (function, call) in calls {
            for code in CODES {
                fake::answer(function, code, 0);
                let error = call();
                assert_eq!(error.raw_code(), Some(i64::from(code)), "{function:?}: {error}");
                assert!(error.to_string().contains(&code.to_string()), "{function:?} {code}: {error}");
                assert_eq!(error.hip_error(), None, "{function:?} {code}");
            }
            for code in CODES {
                fake::answer(function, 5011, code);
                let error = call();
                assert_eq!(error.hip_error().map(|hip| hip.code()), Some(code), "{function:?}: {error}");
                assert!(error.to_string().contains(&code.to_string()), "{function:?} {code}: {error}");
            }
            fake::honest(function);
        }
        drop(prepared);
        for code in CODES {
            fake::answer(Function::Open, code, 0);
            assert_eq!(open().raw_code(), Some(i64::from(code)));
        }
    });
}

/// SND-05: every result of a transfer is one thing: a count within what was asked for, or an error that keeps it.
#[test]
fn every_result_has_one_meaning() {
    alone("answers::every_result_has_one_meaning", || {
        fake::install();
        let prepared = prepared(&[1; 4096]);
        let mut memory = DeviceBuffer::new(4096).unwrap();
        let mut check = |value: isize, errno: i32| {
            fake::transfers(move |_| Reply::Returns(value, errno));
            let read = prepared.file.read_at(memory.slice_mut(..).unwrap(), 0);
            let write = prepared.file.write_at(memory.slice(..).unwrap(), 0);
            for result in [read, write] {
                match result {
                    Ok(count) => assert_eq!((value, count <= 4096), (count as isize, true)),
                    Err(error) if value > 4096 => assert_eq!(error.kind(), ErrorKind::LibraryFault),
                    Err(error) if value == -1 && errno != 0 => {
                        assert_eq!((error.os_error(), error.hip_error()), (Some(errno), None));
                    }
                    Err(error) if value == -1 => {
                        assert_eq!(
                            (error.os_error(), error.hip_error().map(|hip| hip.code())),
                            (None, Some(1))
                        );
                    }
                    Err(error) => {
                        assert!(value < -1, "{value} is {error}");
                        assert_eq!(error.os_error(), None, "{value}: {error}");
                        let (op, hip) = (error.op_error(), error.hip_error());
                        assert_eq!(hip.is_some(), (-5000..-1).contains(&value), "{value}: {error}");
                        assert!(op.is_none() || value < -5000, "{value}: {error}");
                        // Its sign is kept where the number is no code at all.
                        let kept = error.raw_code().map(i64::unsigned_abs);
                        assert_eq!(kept, Some(value.unsigned_abs() as u64), "{value}: {error}");
                    }
                }
            }
        };
        let edges =
            [0, 1, 4095, 4096, 4097, -1, -2, -999, -1054, -1055, -4999, -5000, -5001, -5022, -5039, -5040];
        for value in edges.into_iter().chain([isize::MAX, isize::MIN + 1, 0x7fff_f000, -2000, -6000]) {
            for errno in [0, libc::EINVAL, libc::EIO] {
                check(value, errno);
            }
        }
        let mut runner = TestRunner::deterministic();
        let values = (prop_oneof![-6000_isize..5000, (isize::MIN + 1)..=isize::MAX], 0..133_i32);
        for _ in 0..2000 {
            let (value, errno) = values.new_tree(&mut runner).unwrap().current();
            check(value, errno);
        }
    });
}

/// SND-05: the smallest number there is cannot be negated.
#[test]
fn the_smallest_result_is_an_error() {
    alone("answers::the_smallest_result_is_an_error", || {
        fake::install();
        let prepared = prepared(&[1; 4096]);
        let mut memory = DeviceBuffer::new(4096).unwrap();
        fake::transfers(|_| Reply::Returns(isize::MIN, 0));
        assert!(prepared.file.read_at(memory.slice_mut(..).unwrap(), 0).is_err());
        assert!(prepared.file.read_exact_at(memory.slice_mut(..).unwrap(), 0).is_err());
    });
}

/// SND-06: `errno` is what the call left, neither what was there before nor what came after.
#[test]
fn errno_is_that_of_the_call() {
    alone("answers::errno_is_that_of_the_call", || {
        fake::install();
        let prepared = prepared(&[1; 4096]);
        let mut memory = DeviceBuffer::new(4096).unwrap();
        // A failure before, whose errno stays.
        let stale = || assert!(fs::metadata("/nonexistent").is_err());
        fake::transfers(|_| Reply::LeavesErrno(-1));
        stale();
        let error = prepared.file.read_at(memory.slice_mut(..).unwrap(), 0).unwrap_err();
        assert_eq!((error.os_error(), error.hip_error().map(|hip| hip.code())), (None, Some(1)));
        fake::transfers(|_| Reply::Returns(-1, libc::EIO));
        stale();
        let error = prepared.file.read_at(memory.slice_mut(..).unwrap(), 0).unwrap_err();
        assert_eq!(error.os_error(), Some(libc::EIO));
        assert_eq!(
            std::io::Error::from(error).raw_os_error(),
            None,
            "context would be lost by a bare number"
        );
    });
}

/// SND-12, SND-13: what is empty or does not fit never reaches the library.
#[test]
fn nothing_and_the_impossible_are_not_asked_for() {
    alone("answers::nothing_and_the_impossible_are_not_asked_for", || {
        fake::install();
        let prepared = prepared(&[1; 4096]);
        let (driver, file) = (&prepared.driver, &prepared.file);
        let mut memory = DeviceBuffer::new(4096).unwrap();
        let mut registered = driver.register(DeviceBuffer::new(4096).unwrap()).unwrap();
        let registrations = fake::calls(Function::RegisterMemory);
        for at in [0, 1, 4096] {
            for offset in [0, 4096, i64::MAX as u64] {
                assert_eq!(file.read_at(memory.slice_mut(at..at).unwrap(), offset).unwrap(), 0);
                assert_eq!(file.write_at(memory.slice(at..at).unwrap(), offset).unwrap(), 0);
                assert_eq!(file.read_at(registered.slice_mut(at..at).unwrap(), offset).unwrap(), 0);
                file.read_exact_at(registered.slice_mut(at..at).unwrap(), offset).unwrap();
                file.write_all_at(registered.slice(at..at).unwrap(), offset).unwrap();
            }
        }
        for offset in [i64::MAX as u64 - 4095, i64::MAX as u64, 1 << 63, u64::MAX, u64::MAX - 4095] {
            for result in [
                file.read_at(memory.slice_mut(..).unwrap(), offset).map(drop),
                file.write_at(memory.slice(..).unwrap(), offset).map(drop),
                file.read_exact_at(registered.slice_mut(..).unwrap(), offset),
                file.write_all_at(registered.slice(..).unwrap(), offset),
            ] {
                assert_eq!(result.unwrap_err().kind(), ErrorKind::InvalidInput, "{offset}");
            }
        }
        assert!(memory.slice(4097..).is_err());
        assert!(registered.slice_mut(1..usize::MAX).is_err());
        assert!(driver.register(DeviceBuffer::new(0).unwrap()).is_err());
        assert!(driver.register_range(&mut memory, 16..16).is_err());
        assert!(driver.register_range(&mut memory, 0..4097).is_err());
        assert_eq!((fake::calls(Function::Read), fake::calls(Function::Write)), (0, 0));
        assert_eq!(fake::calls(Function::RegisterMemory), registrations);
    });
}

/// SND-03, SND-09: a library that will not deregister, whatever it says: nothing panics, memory is leaked and counted.
#[test]
fn refused_deregistration_leaks() {
    isolated("answers::refused_deregistration_leaks", &[LEAKS], || {
        fake::install();
        let prepared = prepared(&[1; 4096]);
        let mut expected = 0;
        for (err, hip) in
            [(5030, 0), (5999, 0), (5011, 719), (5011, 0), (1, 0), (u32::MAX, u32::MAX), (5023, 0)]
        {
            let mut borrowed = DeviceBuffer::new(4096).unwrap();
            let owned = prepared.driver.register(DeviceBuffer::new(4096).unwrap()).unwrap();
            let guard = prepared.driver.register(&mut borrowed).unwrap();
            fake::answer(Function::DeregisterMemory, err, hip);
            drop(guard);
            drop(owned);
            expected += 1;
            assert_eq!(alloc::leaked().allocations, expected, "{err} {hip}");
            drop(borrowed);
            expected += 1;
            assert_eq!(alloc::leaked().allocations, expected, "{err} {hip}");
            fake::honest(Function::DeregisterMemory);
        }
        assert_eq!(alloc::leaked().bytes, expected * 4096);
    });
}

/// SND-09: every Drop with everything failing: no panic, no abort, the process goes on.
#[test]
fn drops_survive_a_library_that_fails_at_everything() {
    shimmed("answers::drops_survive_a_library_that_fails_at_everything", &[LEAKS], || {
        fake::install();
        let prepared = prepared(&pattern(4096, 1));
        let owned = prepared.driver.register(DeviceBuffer::new(4096).unwrap()).unwrap();
        let plain = DeviceBuffer::new(4096).unwrap();
        let raw = DeviceBuffer::new(4096).unwrap();
        // SAFETY: requires device memory that outlives the guard; holds because `raw` is forgotten below.
        let unowned =
            unsafe { hipfile::Registered::from_raw(&prepared.driver, raw.as_ptr(), 4096, 0) }.unwrap();
        std::mem::forget(raw);
        for function in [Function::DeregisterMemory, Function::DeregisterFile, Function::Close] {
            fake::answer(function, 5030, 0);
        }
        shim::always("hipFree", Action::Error(999));
        shim::always("hipSetDevice", Action::Error(999));
        drop(owned);
        drop(unowned);
        drop(plain);
        assert_eq!(alloc::leaked().allocations, 3, "{:?}", alloc::leaked());
        // What was leaked keeps the driver that knows of it, so another one is what is closed.
        drop(Driver::open().unwrap());
        assert_eq!(fake::calls(Function::Close), 1);
        drop(prepared);
    });
}

/// SND-21: what the library answers about properties and parameters is its own, down to the bytes it leaves.
#[test]
fn what_no_release_implements_may_answer_anything() {
    alone("answers::what_no_release_implements_may_answer_anything", || {
        fake::install();
        let driver = Driver::open().unwrap();
        assert!(!hipfile::supports(Feature::Properties).unwrap());
        assert_eq!(driver.properties().unwrap_err().kind(), ErrorKind::Unsupported);
        assert_eq!(Parameter::POLL_MODE.set(true).unwrap_err().kind(), ErrorKind::Unsupported);
        fake::answer(Function::Settings, 5011, 3);
        assert!(hipfile::supports(Feature::Properties).unwrap(), "a failure is not an absence");
        let failed = driver.properties().unwrap_err();
        assert_eq!((failed.kind(), failed.hip_error().map(|hip| hip.code())), (ErrorKind::Hip, Some(3)));
        fake::answer(Function::Settings, 5999, 0);
        assert_eq!(Parameter::POLL_MODE.get().unwrap_err().raw_code(), Some(5999));

        fake::answer(Function::Settings, 0, 0);
        let untouched = driver.properties().unwrap();
        assert_eq!((untouched.max_direct_io, untouched.max_batch_len), (0, 0), "nothing is left undefined");
        assert_eq!(
            (Parameter::MAX_DIRECT_IO.get().unwrap(), Parameter::POLL_MODE.get().unwrap()),
            (0, false)
        );
        assert_eq!(Parameter::LOG_DIR.get().unwrap(), "");

        fake::settings::fill(0xff);
        let most = driver.properties().unwrap();
        assert_eq!((most.max_direct_io, most.max_batch_len), (u64::MAX, u32::MAX));
        assert_eq!((most.storage.bits(), most.features.bits()), (u32::MAX, u32::MAX), "no bit is lost");
        assert_eq!(Parameter::MAX_DIRECT_IO.get().unwrap(), u64::MAX);
        assert!(Parameter::POLL_MODE.get().unwrap(), "any byte but 0 is true");
        let endless = Parameter::LOG_DIR.get().unwrap_err();
        assert_eq!(endless.kind(), ErrorKind::LibraryFault);
        assert_eq!(
            endless.to_string(),
            "read parameter hipFileParamLogDir: the library gave a text that does not end within 4096 bytes"
        );
    });
}

/// SND-21: nothing in the safe crate needs what no release implements.
#[test]
fn what_no_release_implements_is_not_called() {
    alone("answers::what_no_release_implements_is_not_called", || {
        fake::install();
        let prepared = prepared(&pattern(4096, 2));
        let mut registered = prepared.driver.register(DeviceBuffer::new(4096).unwrap()).unwrap();
        prepared.file.read_exact_at(registered.slice_mut(..).unwrap(), 0).unwrap();
        prepared.file.alignment().unwrap();
        hipfile::version().unwrap();
        hipfile::supports(Feature::Stats).unwrap();
        let _ = hipfile::stats();
        drop(registered);
        drop(prepared);
        assert_eq!(fake::calls(Function::Settings), 0);
    });
}
