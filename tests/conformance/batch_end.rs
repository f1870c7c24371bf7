//! HF-BATCH: canceling, destroying, and the driver that closes.

use std::time::Duration;

use crate::batches::{AT_ONCE, Batch, CANCELED, COMPLETE, Entry, Event, MOST, Wait};
use crate::case::{Case, case};
use crate::file::{File, PAGE, pattern};
use crate::hip::Memory;
use crate::raw::{self, OK, e};

use hipfile_tests::shim::{self, Action};

const SIZE: usize = MOST as usize * PAGE;

pub fn cases() -> Vec<Case> {
    let mut cases = vec![
        case("HF-BATCH-13 HF-BATCH-30 canceling an empty batch is OK, again and again", || {
            let batch = Batch::new(4);
            for _ in 0..3 {
                assert_eq!(batch.cancel(), OK);
                assert_eq!(batch.status(1, 4, Wait::Forever), (OK, 0, Vec::new()));
            }
        }),
        case("HF-BATCH-14 destroying an empty batch, NULL, and what is no batch", || {
            for at in [Batch::new(1).at, 0, 1, 0x5a5a_5a50] {
                Batch { at }.destroy();
                Batch { at }.destroy();
            }
            assert_eq!(raw::count(), 0);
        }),
        case(
            "HF-DRV-30 HF-BATCH-31 a batch made at count 0 lives on when the driver opens, and dies at its close",
            || {
                let batch = Batch::new(2);
                let file = File::of(&pattern(PAGE, 1));
                let memory = Memory::new(PAGE);
                let handle = file.registered();
                assert_eq!(batch.run(&[Entry::new(handle, memory.at, PAGE)])[0].status, COMPLETE);
                assert_eq!(raw::driver_open(), OK);
                assert_eq!(raw::driver_close(), OK);
                assert_eq!(batch.status(0, 1, AT_ONCE), (OK, 0, Vec::new()), "this close did not reach 0");
                assert_eq!(raw::driver_close(), OK);
                for _ in 0..2 {
                    assert_eq!(batch.status(0, 1, AT_ONCE), (e(5022), 1, Vec::new()));
                    assert_eq!(
                        (batch.cancel(), batch.submit(&[Entry::new(handle, memory.at, PAGE)])),
                        (e(5022), e(5022))
                    );
                    batch.destroy();
                    assert_eq!(raw::driver_open(), OK);
                }
            },
        ),
        case(
            "HF-BATCH-13 HF-BATCH-30 a full batch canceled at once yields one event for each operation",
            || {
                let file = File::of(&pattern(SIZE, 2));
                let handle = file.registered();
                let memory = Memory::new(SIZE).registered();
                let batch = Batch::new(MOST);
                for round in 0..20 {
                    let entry = |index| Entry::new(handle, memory.at, PAGE).cookie(index);
                    assert_eq!(batch.submit(&(0..MOST as usize).map(entry).collect::<Vec<_>>()), OK);
                    assert_eq!(batch.cancel(), OK);
                    let events = batch.events(MOST);
                    for (index, event) in events.iter().enumerate() {
                        let ended =
                            [(COMPLETE, PAGE as isize), (CANCELED, 0)].contains(&(event.status, event.ret));
                        assert!(event.cookie == index && ended, "{round}: {event:?}");
                    }
                    assert_eq!(batch.status(1, 1, Wait::Forever), (OK, 0, Vec::new()));
                }
            },
        ),
    ];
    cases.extend(running().into_iter().map(|case| case.fallback().shim()));
    cases.into_iter().map(|case| case.since(0, 5)).collect()
}

/// A full batch of reads, at least one of which waits in `pread`.
fn full_and_held() -> (File, Memory, Batch) {
    let file = File::of(&pattern(SIZE, 3));
    let memory = Memory::filled(SIZE, 0).registered();
    let handle = file.registered();
    let batch = Batch::new(MOST);
    shim::always("pread", Action::Hold);
    let entry = |index: usize| {
        let offset = (index * PAGE) as i64;
        Entry::new(handle, memory.at, PAGE).at(offset, offset).cookie(index)
    };
    assert_eq!(batch.submit(&(0..MOST as usize).map(entry).collect::<Vec<_>>()), OK);
    shim::wait_until_held("pread");
    (file, memory, batch)
}

/// What a canceled batch did: complete operations moved their page, canceled ones nothing.
fn as_told(memory: &Memory, events: &[Event]) {
    let bytes = memory.bytes();
    for event in events {
        let at = event.cookie * PAGE;
        let page = &bytes[at..at + PAGE];
        match event.status {
            COMPLETE => assert!(event.ret == PAGE as isize && *page == pattern(SIZE, 3)[at..at + PAGE]),
            status => {
                assert_eq!((status, event.ret), (CANCELED, 0));
                assert!(page.iter().all(|byte| *byte == 0));
            }
        }
    }
}

fn running() -> Vec<Case> {
    vec![
        case("HF-BATCH-13 canceling returns while operations run; those end as they would have", || {
            let (_file, memory, batch) = full_and_held();
            assert_eq!((batch.cancel(), batch.cancel()), (OK, OK));
            let (answer, canceled, mut events) = batch.status(0, MOST, AT_ONCE);
            assert_eq!(answer, OK);
            assert!(canceled > 0 && canceled < MOST, "{canceled}");
            assert!(events.iter().all(|event| event.status == CANCELED));
            assert_eq!(raw::buffer_deregister(memory.at), e(5030), "in use by those that run");
            shim::release("pread");
            let ended = batch.events(MOST - canceled);
            assert!(ended.iter().all(|event| event.status == COMPLETE), "{ended:?}");
            events.extend(ended);
            events.sort_unstable();
            assert!(events.iter().enumerate().all(|(index, event)| event.cookie == index));
            as_told(&memory, &events);
            assert_eq!(raw::buffer_deregister(memory.at), OK);
        }),
        case("HF-BATCH-30 canceled operations hold their slots until fetched, not file and buffer", || {
            let (file, memory, batch) = full_and_held();
            assert_eq!(batch.cancel(), OK);
            let again = [Entry::new(raw::registered(dup(&file)), memory.at, 1)];
            assert_eq!(batch.submit(&again), e(5037));
            shim::release("pread");
            while raw::buffer_deregister(memory.at) != OK {
                std::thread::yield_now();
            }
            assert_eq!(batch.submit(&again), e(5037));
            as_told(&memory, &batch.events(MOST));
            assert_eq!(batch.run(&again)[0].status, COMPLETE, "HF-BATCH-15: used again after cancel");
        }),
        case("HF-BATCH-28 canceling wakes a waiter", || {
            let (_file, _memory, batch) = full_and_held();
            std::thread::scope(|scope| {
                let waiter = scope.spawn(|| batch.status(1, MOST, Wait::Forever));
                assert_eq!(batch.cancel(), OK);
                let (answer, count, events) = waiter.join().unwrap();
                assert_eq!(answer, OK);
                assert!(count > 0 && events.iter().all(|event| event.status == CANCELED));
                shim::release("pread");
            });
        }),
        case(
            "HF-BATCH-14 HF-BATCH-28 destroying waits for what runs, wakes a waiter, drops the rest",
            || {
                let (_file, memory, batch) = full_and_held();
                std::thread::scope(|scope| {
                    let waiter = scope.spawn(|| batch.status(MOST, MOST, Wait::Forever));
                    let destroyer = scope.spawn(|| batch.destroy());
                    // The handle is unknown before the call returned.
                    while batch.cancel() != e(5022) {
                        std::thread::yield_now();
                    }
                    assert!(!destroyer.is_finished(), "an operation runs");
                    shim::release("pread");
                    destroyer.join().unwrap();
                    // It came to the batch before the destroyer, or it did not.
                    assert!([OK, e(5022)].contains(&waiter.join().unwrap().0));
                });
                assert_eq!(raw::buffer_deregister(memory.at), OK, "nothing runs any more");
                batch.destroy();
            },
        ),
        case(
            "HF-DRV-30 HF-BATCH-28 the close that reaches 0 waits for what runs, wakes a waiter, drops the rest",
            || {
                let (file, memory, batch) = full_and_held();
                std::thread::scope(|scope| {
                    let waiter = scope.spawn(|| batch.status(MOST, MOST, Wait::Forever));
                    let closer = scope.spawn(raw::driver_close);
                    std::thread::sleep(Duration::from_millis(50));
                    assert!(!closer.is_finished(), "an operation runs");
                    shim::release("pread");
                    assert_eq!(closer.join().unwrap(), OK);
                    assert!([OK, e(5022)].contains(&waiter.join().unwrap().0));
                });
                assert_eq!(raw::count(), 0);
                assert_eq!(batch.status(0, 1, AT_ONCE), (e(5022), 1, Vec::new()));
                assert_eq!(raw::driver_open(), OK);
                assert_eq!((raw::buffer_register(memory.at, SIZE), raw::register(file.number()).0), (OK, OK));
                assert_eq!(batch.cancel(), e(5022));
            },
        ),
        case("HF-BATCH-32 a process that exits with operations waiting keeps its status", || {
            let held = full_and_held();
            shim::release("pread");
            std::mem::forget(held);
            std::process::exit(7);
        })
        .ends_with(7),
    ]
}

fn dup(file: &File) -> i32 {
    // SAFETY: requires a descriptor; holds because the file owns one.
    unsafe { libc::dup(file.number()) }
}
