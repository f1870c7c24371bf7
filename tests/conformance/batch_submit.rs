//! HF-BATCH: what a submission refuses from 0.5 on, and that it queues nothing then.

use crate::batches::{AT_ONCE, Batch, COMPLETE, Entry, Event, MOST, WRITE, Wait};
use crate::case::{Case, case};
use crate::file::{File, PAGE, pattern};
use crate::hip::{self, Memory};
use crate::raw::{self, Answer, OK, e};

use hipfile_tests::shim::{self, Action};

const SIZE: usize = 16 * PAGE;

pub fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = vec![
        case("HF-DRV-29 a batch can be set up at count 0, which stays", || {
            for capacity in [1, 2, 64, MOST] {
                Batch::new(capacity);
            }
            assert_ne!(Batch::new(1), Batch::new(1));
            assert_eq!(raw::count(), 0);
        }),
        case("HF-BATCH-18 a HIP query error h on an entry's buffer is E(5011,h)", || {
            let (_file, handle) = file();
            let memory = Memory::new(SIZE);
            let batch = Batch::new(4);
            for function in ["hipPointerGetAttributes", "hipMemGetAddressRange"] {
                for code in [1, 3, 500, 999] {
                    shim::always(function, Action::Error(code));
                    assert_eq!(batch.submit(&[Entry::new(handle, memory.at, PAGE)]), (5011, code as u32));
                    shim::release(function);
                }
            }
        })
        .shim(),
    ];
    cases.extend(validation().into_iter().chain(status()).map(|case| case.since(0, 5)));
    cases
}

fn file() -> (File, usize) {
    let file = File::of(&pattern(SIZE, 1));
    let handle = file.registered();
    (file, handle)
}

/// A submission that is refused and leaves the batch as empty as it was.
fn refused(batch: Batch, entries: &[Entry], expected: Answer) {
    assert_eq!(batch.submit(entries), expected, "{entries:?}");
    assert_eq!(batch.status(1, 1, Wait::Forever), (OK, 0, Vec::new()), "nothing was queued");
}

/// Entries whose fields do not fit a buffer of `SIZE`, or that ask for what there is not.
fn misfits(good: Entry) -> Vec<Entry> {
    let end = SIZE as i64;
    vec![
        good.at(0, -1),
        good.at(0, i64::MIN),
        good.at(0, end),
        good.at(0, end - 1),
        good.at(0, i64::MAX),
        good.at(-1, 0),
        good.at(i64::MIN, 0),
        Entry { size: SIZE + 1, ..good },
        Entry { size: usize::MAX, ..good },
        Entry { size: 0, ..good }.at(0, end),
        Entry { opcode: 2, ..good },
        Entry { opcode: u32::MAX, ..good },
        Entry { mode: 0, ..good },
        Entry { mode: 2, ..good },
    ]
}

fn validation() -> Vec<Case> {
    vec![
        case("HF-BATCH-05 HF-BATCH-17 a bad entry is refused wherever it stands, and all with it", || {
            let (_file, handle) = file();
            let memory = Memory::new(SIZE).registered();
            let host = vec![0_u8; SIZE];
            let good = Entry::new(handle, memory.at, PAGE);
            let batch = Batch::new(8);
            let mut bad: Vec<_> = misfits(good).into_iter().map(|entry| (entry, e(5022))).collect();
            bad.push((Entry { handle: 0, ..good }, e(5027)));
            bad.push((Entry { handle: handle + 1, ..good }, e(5027)));
            bad.push((Entry { base: host.as_ptr() as usize, ..good }, e(5013)));
            bad.push((Entry { base: 0, ..good }, e(5022)));
            for (entry, expected) in bad {
                for place in 0..3 {
                    let mut entries = [good; 3];
                    entries[place] = entry;
                    refused(batch, &entries, expected);
                }
                if entry.opcode <= WRITE {
                    refused(batch, &[entry.write()], expected);
                }
            }
        }),
        case("HF-BATCH-05 pinned host memory is E(5013) as well", || {
            let (_file, handle) = file();
            let mut pinned = 0;
            assert_eq!(hip::host_malloc(&mut pinned, SIZE, 0), 0);
            refused(Batch::new(1), &[Entry::new(handle, pinned, PAGE)], e(5013));
            assert_eq!(hip::host_free(pinned), 0);
        }),
        case(
            "HF-BATCH-17 the first failing entry decides; in it the file, then the buffer, then the fields",
            || {
                let (_file, handle) = file();
                let memory = Memory::new(SIZE);
                let host = vec![0_u8; SIZE];
                let good = Entry::new(handle, memory.at, PAGE);
                let unknown = Entry { handle: 0, ..good };
                let on_host = Entry { base: host.as_ptr() as usize, ..good };
                let batch = Batch::new(2);
                refused(batch, &[unknown, on_host], e(5027));
                refused(batch, &[on_host, unknown], e(5013));
                refused(batch, &[good.at(-1, 0), unknown], e(5022));
                refused(batch, &[Entry { base: 0, mode: 0, ..unknown }], e(5027));
                refused(batch, &[Entry { mode: 0, opcode: 9, ..on_host }.at(-1, -1)], e(5013));
                // Too many of them, but the entries come first.
                refused(batch, &[good, good, good, unknown], e(5027));
                refused(batch, &[good, good, good], e(5037));
            },
        ),
        case("HF-BATCH-04 more than capacity minus outstanding is E(5037)", || {
            let (_file, handle) = file();
            let memory = Memory::new(SIZE).registered();
            let good = Entry::new(handle, memory.at, PAGE);
            for capacity in [1, 7, MOST] {
                let batch = Batch::new(capacity);
                let full = vec![good; capacity as usize];
                refused(batch, &[&full[..], &[good]].concat(), e(5037));
                assert_eq!(batch.submit(&full), OK);
                assert_eq!(batch.submit(&[good]), e(5037));
                // What has ended but was not fetched is outstanding still.
                while batch.status(0, 1, AT_ONCE).1 == 0 {
                    std::thread::yield_now();
                }
                assert_eq!(batch.submit(&[good, good]), e(5037), "one event was fetched");
                assert_eq!(batch.submit(&[good]), OK);
                batch.events(capacity);
                assert_eq!(batch.submit(&full), OK);
                batch.events(capacity);
            }
        }),
        case("HF-BATCH-06 a submission at count 0 is E(5001), with a handle made since the close", || {
            let memory = Memory::new(SIZE);
            let host = [0_u8; 8];
            let batch = Batch::new(2);
            for entry in [Entry::new(0, memory.at, PAGE), Entry::new(1, host.as_ptr() as usize, 0)] {
                assert_eq!(batch.submit(&[entry]), e(5001));
                assert_eq!(batch.submit(&[entry; 5]), e(5001), "before the capacity");
            }
            assert_eq!(raw::count(), 0);
            let (_file, handle) = file();
            let events = batch.run(&[Entry::new(handle, memory.at, PAGE).cookie(5)]);
            assert_eq!(events, [Event { cookie: 5, status: COMPLETE, ret: PAGE as isize }]);
            assert_eq!(raw::driver_close(), OK);
            assert_eq!(batch.submit(&[Entry::new(handle, memory.at, PAGE)]), e(5022), "the close dropped it");
        }),
        case("HF-BATCH-19 the flags of a submission are ignored", || {
            let (_file, handle) = file();
            let memory = Memory::new(SIZE);
            let batch = Batch::new(1);
            for flags in [1, 0xffff, u32::MAX] {
                assert_eq!(batch.submit_with(&[Entry::new(handle, memory.at, PAGE)], flags), OK);
                batch.events(1);
            }
        }),
        case("HF-BATCH-20 the end of a range in the file is not looked at", || {
            let (_file, handle) = file();
            let memory = Memory::new(SIZE);
            let entry = Entry::new(handle, memory.at, PAGE).at(i64::MAX - 10, 0);
            let events = Batch::new(1).run(&[entry]);
            assert_eq!((events[0].status, events[0].ret), (64, -isize::try_from(libc::EINVAL).unwrap()));
        }),
    ]
}

fn status() -> Vec<Case> {
    vec![
        case("HF-BATCH-09 arguments that make no sense are E(5022), and nothing is written", || {
            assert_eq!(raw::driver_open(), OK);
            let batch = Batch::new(4);
            let refused = |min, room, wait| {
                assert_eq!(
                    batch.status(min, room, wait),
                    (e(5022), room, Vec::new()),
                    "{min} {room} {wait:?}"
                );
            };
            refused(0, 0, AT_ONCE);
            refused(2, 1, AT_ONCE);
            refused(u32::MAX, 8, AT_ONCE);
            // More than the capacity, although there would be room.
            refused(5, 8, AT_ONCE);
            refused(5, 8, Wait::Forever);
            for (seconds, nanoseconds) in
                [(-1, 0), (0, -1), (0, 1_000_000_000), (i64::MIN, 0), (1, i64::MAX), (i64::MAX, -1)]
            {
                refused(0, 1, Wait::Raw(seconds, nanoseconds));
            }
            for unknown in [Batch { at: 0 }, Batch { at: batch.at + 1 }, Batch { at: 0x5a5a_5a50 }] {
                assert_eq!(unknown.status(0, 1, AT_ONCE), (e(5022), 1, Vec::new()));
            }
            without_places(batch);
            assert_eq!(batch.status(4, 4, AT_ONCE), (OK, 0, Vec::new()));
        }),
        case("HF-BATCH-11 nothing outstanding: OK with no events at once, whatever is asked for", || {
            let batch = Batch::new(4);
            let huge = Wait::Raw(i64::MAX, 999_999_999);
            for wait in [Wait::Forever, AT_ONCE, huge] {
                for (min, room) in [(0, 1), (1, 1), (4, 4), (4, 100)] {
                    assert_eq!(batch.status(min, room, wait), (OK, 0, Vec::new()), "{min} {room} {wait:?}");
                }
            }
            assert_eq!(raw::count(), 0);
        }),
        case("HF-BATCH-03 a destroyed batch is unknown", || {
            assert_eq!(raw::driver_open(), OK);
            let (_file, handle) = file();
            let memory = Memory::new(SIZE);
            let batch = Batch::new(4);
            batch.destroy();
            assert_eq!(batch.submit(&[Entry::new(handle, memory.at, PAGE)]), e(5022));
            assert_eq!(batch.status(0, 1, AT_ONCE), (e(5022), 1, Vec::new()));
            assert_eq!(batch.cancel(), e(5022));
            batch.destroy();
        }),
    ]
}

/// The two pointers of status that may not be NULL.
fn without_places(batch: Batch) {
    let handle = batch.at as hipfile_sys::hipFileBatchHandle_t;
    let mut count = 1;
    let mut event = hipfile_sys::hipFileIOEvents_t::default();
    let none = std::ptr::null_mut();
    let call = raw::api().hipFileBatchIOGetStatus;
    // SAFETY: requires room for the events or NULL.
    assert_eq!(raw::answer(unsafe { call(handle, 0, &mut count, std::ptr::null_mut(), none) }), e(5022));
    // SAFETY: requires a count or NULL.
    assert_eq!(raw::answer(unsafe { call(handle, 0, std::ptr::null_mut(), &mut event, none) }), e(5022));
    assert_eq!(count, 1);
}
