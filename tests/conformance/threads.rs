//! HF-THR: calls from many threads at once.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::case::{Case, Need, case};
use crate::file::{File, PAGE, pattern};
use crate::hip::Memory;
use crate::raw::{self, Moved, OK, e};

use hipfile_tests::shim::{self, Action};

pub fn cases() -> Vec<Case> {
    vec![
        case("HF-THR-01 every function from every thread at once", everything_at_once),
        case("HF-THR-02 a close to 0 does not disturb a transfer that runs", || {
            let file = File::of(&pattern(PAGE, 1));
            let handle = file.registered();
            let memory = Memory::filled(PAGE, 0).registered();
            shim::always("pread", Action::Hold);
            std::thread::scope(|scope| {
                let reader = scope.spawn(|| raw::read(handle, memory.at, PAGE, 0, 0));
                shim::wait_until_held("pread");
                assert_eq!(raw::driver_close(), OK);
                assert_eq!(raw::count(), 0);
                assert_eq!(raw::read(handle, memory.at, PAGE, 0, 0), Moved::Os(libc::EINVAL));
                shim::release("pread");
                assert_eq!(reader.join().unwrap(), Moved::Number(PAGE as isize));
            });
            assert_eq!(memory.bytes(), pattern(PAGE, 1));
            assert_eq!(raw::driver_open(), OK);
            assert_eq!(raw::register(file.number()).0, OK);
            assert_eq!(raw::buffer_register(memory.at, PAGE), OK);
        })
        .fallback()
        .shim(),
        case("HF-THR-03 concurrent opens and closes end at their difference", || {
            for _ in 0..100 {
                assert_eq!(raw::driver_open(), OK);
            }
            std::thread::scope(|scope| {
                for thread in 0..8 {
                    scope.spawn(move || {
                        for _ in 0..1000 {
                            assert_eq!(raw::driver_open(), OK);
                            assert_eq!(raw::driver_close(), OK);
                        }
                        let last = if thread % 2 == 0 { raw::driver_open() } else { raw::driver_close() };
                        assert_eq!(last, OK);
                    });
                }
            });
            assert_eq!(raw::count(), 100);
        }),
        case("HF-THR-05 of two racing final closes exactly one succeeds", || {
            for _ in 0..1000 {
                assert_eq!(raw::driver_open(), OK);
                let start = Barrier::new(2);
                let close = || {
                    start.wait();
                    raw::driver_close()
                };
                let answers = std::thread::scope(|scope| {
                    let other = scope.spawn(close);
                    [close(), other.join().unwrap()]
                });
                assert!(answers.contains(&OK) && answers.contains(&e(5001)), "{answers:?}");
                assert_eq!(raw::count(), 0);
            }
        })
        .needs(Need::Ours),
        case("HF-THR-04 one buffer registered and deregistered by many threads", || {
            assert_eq!(raw::driver_open(), OK);
            let memory = Memory::new(PAGE);
            let file = File::of(&[1; PAGE]);
            let handle = file.registered();
            let at = memory.at;
            std::thread::scope(|scope| {
                for _ in 0..8 {
                    scope.spawn(move || {
                        for _ in 0..500 {
                            assert!([OK, e(5023)].contains(&raw::buffer_register(at, PAGE)));
                            assert_eq!(raw::read(handle, at, PAGE, 0, 0), Moved::Number(PAGE as isize));
                            assert!([OK, e(5024), e(5030)].contains(&raw::buffer_deregister(at)));
                        }
                    });
                }
            });
            let _ = raw::buffer_deregister(at);
            assert_eq!(raw::buffer_deregister(at), e(5024));
        }),
    ]
}

/// Threads that register, transfer, deregister, open and close, with a driver that stays open.
fn everything_at_once() {
    assert_eq!(raw::driver_open(), OK);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for seed in 0..6 {
            let stop = &stop;
            scope.spawn(move || {
                let file = File::of(&pattern(PAGE, seed));
                while !stop.load(Ordering::Relaxed) {
                    let handle = file.registered();
                    let memory = Memory::new(PAGE).registered();
                    assert_eq!(raw::read(handle, memory.at, PAGE, 0, 0), Moved::Number(PAGE as isize));
                    assert_eq!(memory.bytes(), pattern(PAGE, seed));
                    assert_eq!(raw::write(handle, memory.at, PAGE, 0, 0), Moved::Number(PAGE as isize));
                    assert_eq!(raw::buffer_deregister(memory.at), OK);
                    raw::deregister(handle);
                }
                assert_eq!(file.bytes(), pattern(PAGE, seed));
            });
        }
        for _ in 0..2 {
            let stop = &stop;
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    assert_eq!(raw::driver_open(), OK);
                    assert!(raw::count() >= 1);
                    assert_eq!(raw::string(5022).0, "One or more arguments have an invalid value");
                    raw::version();
                    if raw::has_stats() {
                        raw::stats3();
                    }
                    assert_eq!(raw::driver_close(), OK);
                }
            });
        }
        std::thread::sleep(std::time::Duration::from_secs(1));
        stop.store(true, Ordering::Relaxed);
    });
    assert_eq!(raw::count(), 1);
}
