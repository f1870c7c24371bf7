//! HF-BATCH: what accepted operations do, and the events they yield.

use std::time::{Duration, Instant};

use crate::batches::{AT_ONCE, Batch, COMPLETE, Entry, Event, FAILED, MOST, READ, WRITE, Wait};
use crate::case::{Case, Need, case};
use crate::file::{File, PAGE, pattern};
use crate::hip::Memory;
use crate::raw::{self, OK, e};
use crate::witness::paths_of;

use hipfile_tests::shim::{self, Action};

const SIZE: usize = MOST as usize * PAGE;

pub fn cases() -> Vec<Case> {
    [moved(), failures(), waiting()].into_iter().flatten().map(|case| case.since(0, 5)).collect()
}

fn complete(cookie: usize, ret: usize) -> Event {
    Event { cookie, status: COMPLETE, ret: ret as isize }
}

/// 128 pages in both directions, each of its own place, in an order that is not that of the places.
fn pages() {
    let file = File::of(&pattern(SIZE, 1));
    let handle = file.registered();
    let memory = Memory::filled(SIZE, 0).registered();
    let batch = Batch::new(MOST);
    let most = MOST as usize;
    let place = |index: usize| ((index * 37 % most) * PAGE) as i64;
    let entry =
        |index: usize| Entry::new(handle, memory.at, PAGE).at(place(index), place(index)).cookie(!index);
    let entries: Vec<_> = (0..most).map(entry).collect();
    let mut expected: Vec<_> = (0..most).map(|index| complete(!index, PAGE)).collect();
    expected.sort_unstable();
    assert_eq!(batch.run(&entries), expected);
    assert!(memory.bytes() == pattern(SIZE, 1));
    memory.put(0, &pattern(SIZE, 2));
    let writes: Vec<_> = entries.iter().map(|entry| entry.write()).collect();
    assert_eq!(batch.run(&writes), expected);
    assert!(file.bytes() == pattern(SIZE, 2));
    batch.destroy();
}

fn moved() -> Vec<Case> {
    vec![
        case("HF-BATCH-07 HF-BATCH-08 HF-BATCH-15 a full batch moves every page, twice", pages),
        case("HF-BATCH-07 and on the fallback", pages).fallback(),
        case("HF-BATCH-07 HF-BATCH-21 and on the fast path", pages)
            .fast()
            .env("HIPFILE_ALLOW_COMPAT_MODE", "false"),
        case("HF-BATCH-15 a handle serves batch after batch", || {
            let file = File::of(&pattern(SIZE, 3));
            let handle = file.registered();
            let memory = Memory::new(SIZE).registered();
            let batch = Batch::new(8);
            for round in 0..50 {
                let entries: Vec<_> = (0..8)
                    .map(|part| Entry::new(handle, memory.at, 100).at(part * 100, part * 100).cookie(round))
                    .collect();
                assert_eq!(batch.run(&entries), [complete(round, 100); 8]);
            }
            assert_eq!(batch.status(8, 8, Wait::Forever), (OK, 0, Vec::new()));
        }),
        case("HF-BATCH-21 operations take the paths of synchronous ones, with retry", || {
            let file = File::of(&pattern(SIZE, 4));
            let handle = file.registered();
            let memory = Memory::new(SIZE).registered();
            let batch = Batch::new(4);
            let paths =
                |entry: Entry| paths_of(|| assert_eq!(batch.run(&[entry]), [complete(0, entry.size)]));
            let page = Entry::new(handle, memory.at, PAGE);
            assert_eq!((paths(page).fast_reads, paths(page.write()).fast_writes), (1, 1));
            let odd = page.at(1, 0);
            assert_eq!((paths(odd).fallback_reads, paths(odd.write()).fallback_writes), (1, 1));
            shim::always("hipAmdFileRead", Action::Status(i64::from(libc::ENODEV)));
            let retried = paths(page);
            assert_eq!((retried.fast_reads, retried.fallback_reads), (1, 1));
        })
        .fast()
        .shim(),
        case("HF-BATCH-22 size 0 and the end of the file are complete, with what was moved", || {
            let file = File::of(&pattern(10_000, 5));
            let handle = file.registered();
            let memory = Memory::filled(SIZE, 0x11).registered();
            let entry = |size, offset| Entry::new(handle, memory.at, size).at(offset, 0);
            let batch = Batch::new(4);
            assert_eq!(batch.run(&[entry(0, 0)]), [complete(0, 0)]);
            assert_eq!(batch.run(&[entry(0, 0).write()]), [complete(0, 0)]);
            assert_eq!(batch.run(&[entry(PAGE, 1 << 30)]), [complete(0, 0)]);
            assert_eq!(batch.run(&[entry(1000, 9_500)]), [complete(0, 500)]);
            assert_eq!(memory.get(0..500), pattern(10_000, 5)[9_500..]);
            assert_eq!((file.size(), memory.get(500..501)), (10_000, vec![0x11]));
        })
        .fallback(),
        case("HF-BATCH-23 pointers that are not registered serve, inner ones too", || {
            let file = File::of(&pattern(SIZE, 6));
            let handle = file.registered();
            let memory = Memory::filled(4 * PAGE, 0);
            let batch = Batch::new(2);
            let entries =
                [Entry::new(handle, memory.at, 100), Entry::new(handle, memory.at + PAGE, 200).at(7, 9)];
            assert_eq!(batch.run(&entries), [complete(0, 100), complete(0, 200)]);
            assert_eq!(memory.get(0..100), pattern(SIZE, 6)[..100]);
            assert_eq!(memory.get(PAGE + 9..PAGE + 209), pattern(SIZE, 6)[7..207]);
            let beyond = Entry::new(handle, memory.at + PAGE, 3 * PAGE + 1);
            assert_eq!(batch.submit(&[beyond]), e(5022));
        }),
        case("HF-BATCH-24 many threads, each with a batch of its own, and all on one", || {
            let file = File::of(&pattern(SIZE, 7));
            let handle = file.registered();
            let memory = Memory::new(SIZE).registered();
            let (at, shared) = (memory.at, Batch::new(MOST));
            std::thread::scope(|scope| {
                for thread in 0..8 {
                    scope.spawn(move || {
                        let own = Batch::new(4);
                        let offset = (thread * PAGE) as i64;
                        let entry = Entry::new(handle, at, PAGE).at(offset, offset).cookie(thread);
                        for _ in 0..50 {
                            assert_eq!(own.run(&[entry; 4]), [complete(thread, PAGE); 4]);
                            assert_eq!(shared.submit(&[entry]), OK);
                            let (answer, count, _) = shared.status(1, 1, Wait::Forever);
                            assert_eq!(answer, OK);
                            assert!(count <= 1);
                        }
                        own.destroy();
                    });
                }
            });
            // Whoever found nothing left its event to another one.
            while shared.status(1, MOST, Wait::Forever).1 > 0 {}
            assert!(memory.get(0..8 * PAGE) == pattern(SIZE, 7)[..8 * PAGE]);
        }),
        case("HF-STATS-29 operations of a batch are counted like synchronous ones", || {
            let file = File::of(&pattern(SIZE, 8));
            let handle = file.registered();
            let memory = Memory::new(SIZE);
            let page = Entry::new(handle, memory.at, PAGE);
            Batch::new(8).run(&[page, page, page.write(), page.at(1, 0)]);
            let stats = raw::stats1();
            assert_eq!((stats.read_ops.ok, stats.read_bytes, stats.write_ops.ok), (3, 3 * PAGE as u64, 1));
            let gpu = raw::stats3().per_gpu_stats[0];
            assert_eq!((gpu.n_nvfs_reads, gpu.n_posix_reads, gpu.n_nvfs_writes), (2, 1, 1));
            assert_eq!(stats.batch_submit_ops.ok, 0);
        })
        .fast()
        .needs(Need::Stats),
    ]
}

fn failures() -> Vec<Case> {
    vec![
        case("HF-BATCH-25 a system error is minus its errno", || {
            let reader = File::opened(&pattern(PAGE, 9), libc::O_RDONLY);
            let writer = File::opened(&pattern(PAGE, 9), libc::O_WRONLY);
            let memory = Memory::new(SIZE);
            let (from, to) = (reader.registered(), writer.registered());
            let wrong = [
                Entry::new(from, memory.at, 100).write().cookie(1),
                Entry::new(to, memory.at, 100).cookie(2),
                Entry::new(from, memory.at, 100).cookie(3),
            ];
            let events = Batch::new(3).run(&wrong);
            let failed = |cookie| Event { cookie, status: FAILED, ret: -(libc::EBADF as isize) };
            assert_eq!(events, [failed(1), failed(2), complete(3, 100)]);
        })
        .fallback(),
        case("HF-BATCH-25 a write over RLIMIT_FSIZE from memory that is not registered is -EFBIG", || {
            let file = File::of(&[1; PAGE]);
            let memory = Memory::new(SIZE);
            let handle = file.registered();
            crate::fallback::limit_file_size(PAGE as u64);
            let event = Batch::new(1).run(&[Entry::new(handle, memory.at, PAGE).write().at(PAGE as i64, 0)]);
            assert_eq!(event, [Event { cookie: 0, status: FAILED, ret: -(libc::EFBIG as isize) }]);
            assert_eq!(file.size(), PAGE as u64);
        })
        .fallback(),
        case("HF-BATCH-26 any HIP error is -5011", || {
            let file = File::of(&pattern(SIZE, 9));
            let handle = file.registered();
            let memory = Memory::new(SIZE).registered();
            for (code, opcode, function) in
                [(1, READ, "hipAmdFileRead"), (999, READ, "hipAmdFileRead"), (719, WRITE, "hipAmdFileWrite")]
            {
                shim::always(function, Action::Error(code));
                let event = Batch::new(1).run(&[Entry { opcode, ..Entry::new(handle, memory.at, PAGE) }]);
                assert_eq!(event, [Event { cookie: 0, status: FAILED, ret: -5011 }]);
                shim::release(function);
            }
        })
        .fast()
        .shim(),
        case("HF-BATCH-27 no path takes an operation: accepted, and failed with -5030", || {
            let file = File::of(&pattern(SIZE, 9));
            let memory = Memory::new(SIZE).registered();
            let event = Batch::new(1).run(&[Entry::new(file.registered(), memory.at, 100).at(1, 0)]);
            assert_eq!(event, [Event { cookie: 0, status: FAILED, ret: -5030 }]);
        })
        .env("HIPFILE_ALLOW_COMPAT_MODE", "false"),
    ]
}

/// A batch of 4 with one read that waits in `pread`.
fn one_held() -> (File, Memory, Batch) {
    let file = File::of(&pattern(SIZE, 10));
    let memory = Memory::filled(SIZE, 0).registered();
    let batch = Batch::new(4);
    shim::always("pread", Action::Hold);
    assert_eq!(batch.submit(&[Entry::new(file.registered(), memory.at, 100).cookie(1)]), OK);
    shim::wait_until_held("pread");
    (file, memory, batch)
}

fn waiting() -> Vec<Case> {
    let held = vec![
        case(
            "HF-BATCH-10 while an operation runs: min 0 and {0,0} return at once, others after their time",
            || {
                let (_file, _memory, batch) = one_held();
                for (min, wait) in [(0, Wait::Forever), (0, AT_ONCE), (1, AT_ONCE), (4, AT_ONCE)] {
                    assert_eq!(batch.status(min, 4, wait), (OK, 0, Vec::new()), "{min} {wait:?}");
                }
                let started = Instant::now();
                let short = Wait::For(Duration::from_millis(30));
                assert_eq!(batch.status(1, 4, short), (OK, 0, Vec::new()), "too late is no error");
                assert!(started.elapsed() >= Duration::from_millis(30));
                shim::release("pread");
                assert_eq!(
                    batch.status(4, 4, Wait::Forever),
                    (OK, 1, vec![complete(1, 100)]),
                    "all there is"
                );
            },
        ),
        case(
            "HF-BATCH-10 HF-BATCH-28 a waiter gets the event when it comes; a time too large is for ever",
            || {
                for wait in
                    [Wait::Forever, Wait::Raw(i64::MAX, 999_999_999), Wait::For(Duration::from_secs(100))]
                {
                    let (file, memory, batch) = one_held();
                    std::thread::scope(|scope| {
                        let waiter = scope.spawn(|| batch.status(2, 4, wait));
                        // Others use the batch meanwhile.
                        assert_eq!(batch.status(0, 1, AT_ONCE), (OK, 0, Vec::new()));
                        shim::release("pread");
                        assert_eq!(waiter.join().unwrap(), (OK, 1, vec![complete(1, 100)]));
                    });
                    assert_eq!(raw::buffer_deregister(memory.at), OK);
                    drop(file);
                    while raw::count() > 0 {
                        assert_eq!(raw::driver_close(), OK);
                    }
                }
            },
        ),
        case(
            "HF-BATCH-29 an operation holds file and buffer while it runs, not until its event is fetched",
            || {
                let (file, memory, batch) = one_held();
                assert_eq!(raw::buffer_deregister(memory.at), e(5030));
                assert_eq!(raw::register(file.number()).0, e(5028));
                shim::release("pread");
                // The event stays where it is.
                while raw::buffer_deregister(memory.at) != OK {
                    std::thread::yield_now();
                }
                assert_eq!(batch.submit(&[Entry::new(0, 0, 0)]), e(5027));
                assert_eq!(batch.events(1), [complete(1, 100)]);
            },
        ),
    ];
    let mut cases: Vec<_> = held.into_iter().map(|case| case.fallback().shim()).collect();
    cases.push(case("HF-BATCH-12 a small array gets the rest later, each event once", || {
        let file = File::of(&pattern(SIZE, 11));
        let handle = file.registered();
        let memory = Memory::new(SIZE);
        let batch = Batch::new(MOST);
        let entry = |index| Entry::new(handle, memory.at, PAGE).cookie(index);
        assert_eq!(batch.submit(&(0..100).map(entry).collect::<Vec<_>>()), OK);
        let mut cookies = Vec::new();
        while cookies.len() < 100 {
            let (answer, count, events) = batch.status(1, 7, Wait::Forever);
            assert_eq!(answer, OK);
            assert!((1..=7).contains(&count), "{count}");
            cookies.extend(events.iter().map(|event| event.cookie));
            // Each frees its slot.
            let free = MOST as usize - (100 - cookies.len());
            assert_eq!(batch.submit(&vec![entry(0); free + 1]), e(5037));
        }
        cookies.sort_unstable();
        assert_eq!(cookies, (0..100).collect::<Vec<_>>());
        assert_eq!(batch.status(1, 7, Wait::Forever), (OK, 0, Vec::new()));
    }));
    cases
}
