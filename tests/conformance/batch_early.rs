//! HF-BATCH up to 0.4: submissions are checked and accepted, and nothing ever runs.

use crate::batches::{AT_ONCE, Batch, Entry, WRITE, Wait};
use crate::case::{Case, case};
use crate::file::{File, PAGE, pattern};
use crate::hip::Memory;
use crate::raw::{self, OK, e};

const SIZE: usize = 4 * PAGE;

pub fn cases() -> Vec<Case> {
    let mut cases = vec![
        case("HF-BATCH-16 work is accepted and never runs", || {
            let file = File::of(&pattern(SIZE, 1));
            let handle = file.registered();
            let memory = Memory::filled(SIZE, 0x77).registered();
            let batch = Batch::new(8);
            let read = Entry::new(handle, memory.at, SIZE);
            assert_eq!((batch.submit(&[read; 4]), batch.submit(&[read.write(); 3])), (OK, OK));
            assert_eq!(batch.status(0, 8, AT_ONCE), (e(5030), 8, Vec::new()));
            assert_eq!(batch.status(1, 8, Wait::Forever), (e(5030), 8, Vec::new()));
            assert_eq!(batch.cancel(), e(5030));
            batch.destroy();
            // Transfers on the same file and memory work as ever, and nobody else touched either.
            assert_eq!(raw::write(handle, memory.at, 1, 0, 0), raw::Moved::Number(1));
            assert_eq!(memory.bytes(), [0x77; SIZE]);
            assert_eq!(file.bytes()[1..], pattern(SIZE, 1)[1..]);
        }),
        case("HF-BATCH-33 status and cancel are E(5030), whatever they are given", || {
            for at in [0, 1, 0x5a5a_5a50, Batch::new(1).at] {
                let batch = Batch { at };
                assert_eq!(batch.cancel(), e(5030));
                for (min, room) in [(0, 0), (0, 1), (2, 1)] {
                    assert_eq!(batch.status(min, room, Wait::Raw(-1, -1)), (e(5030), room, Vec::new()));
                }
                let call = raw::api().hipFileBatchIOGetStatus;
                let (handle, none) = (at as hipfile_sys::hipFileBatchHandle_t, std::ptr::null_mut());
                // SAFETY: requires places or NULL.
                let error = unsafe { call(handle, 0, std::ptr::null_mut(), std::ptr::null_mut(), none) };
                assert_eq!(raw::answer(error), e(5030));
            }
            assert_eq!(raw::count(), 0);
        }),
        case("HF-BATCH-34 no entries are OK on a batch and E(5022) on what is none, also at count 0", || {
            let batch = Batch::new(2);
            for _ in 0..2 {
                assert_eq!(batch.submit(&[]), OK);
                for at in [0, 1, 0x5a5a_5a50] {
                    assert_eq!(Batch { at }.submit(&[]), e(5022));
                    assert_eq!(Batch { at }.submit(&[Entry::new(0, 0, 0)]), e(5022));
                }
                assert_eq!(raw::driver_open(), OK);
            }
        }),
        case("HF-BATCH-35 capacity is checked before the entries, and is never given back", || {
            let file = File::of(&pattern(SIZE, 1));
            let handle = file.registered();
            let memory = Memory::new(SIZE).registered();
            let good = Entry::new(handle, memory.at, PAGE);
            let unknown = Entry { handle: 0, ..good };
            let batch = Batch::new(3);
            assert_eq!(batch.submit(&[unknown; 4]), e(5022));
            // What is refused takes no room.
            for _ in 0..5 {
                assert_eq!(batch.submit(&[good, unknown]), e(5030));
            }
            assert_eq!(batch.submit(&[good, good]), OK);
            assert_eq!((batch.submit(&[good, good]), batch.submit(&[good])), (e(5022), OK));
            assert_eq!((batch.submit(&[good]), batch.submit(&[])), (e(5022), OK));
        }),
        case(
            "HF-BATCH-36 closed driver, unknown file and host memory are E(5030), NULL and bad fields E(5022)",
            || {
                let memory = Memory::new(SIZE);
                let host = vec![0_u8; SIZE];
                let batch = Batch::new(8);
                assert_eq!(batch.submit(&[Entry::new(0, memory.at, PAGE)]), e(5030));
                assert_eq!(raw::count(), 0);
                let file = File::of(&pattern(SIZE, 1));
                let good = Entry::new(file.registered(), memory.at, PAGE);
                let on_host = Entry { base: host.as_ptr() as usize, ..good };
                for internal in [Entry { handle: 0, ..good }, on_host, Entry { handle: 0, base: 0, ..good }] {
                    assert_eq!(batch.submit(&[good, internal]), e(5030));
                    assert_eq!(batch.submit(&[Entry { mode: 0, ..internal }]), e(5030), "before the fields");
                }
                assert_eq!(batch.submit(&[Entry { base: 0, ..good }]), e(5022));
                for invalid in [
                    good.at(-1, 0),
                    good.at(0, -1),
                    good.at(0, SIZE as i64),
                    Entry { size: SIZE + 1, ..good },
                    Entry { size: 0, ..good }.at(0, SIZE as i64),
                    Entry { opcode: 2, ..good },
                    Entry { mode: 0, ..good },
                    Entry { mode: 2, opcode: WRITE, ..good },
                ] {
                    assert_eq!(batch.submit(&[good, invalid]), e(5022), "{invalid:?}");
                }
                assert_eq!(batch.submit(&[good.at(i64::MAX, 0), Entry { size: 0, ..good }]), OK);
            },
        ),
        case("HF-BATCH-37 accepted entries hold file and buffer until the driver closes", || {
            let file = File::of(&pattern(SIZE, 1));
            let handle = file.registered();
            let memory = Memory::new(SIZE).registered();
            let batch = Batch::new(3);
            assert_eq!(batch.submit(&[Entry::new(handle, memory.at, PAGE)]), OK);
            batch.destroy();
            assert_eq!(raw::buffer_deregister(memory.at), e(5030));
            raw::deregister(handle);
            assert_eq!(raw::register(file.number()).0, e(5028));
            while raw::count() > 0 {
                assert_eq!(raw::driver_close(), OK);
            }
            // The batch lives on, destroyed and all.
            assert_eq!(batch.submit(&[Entry::new(handle, memory.at, PAGE)]), e(5030));
            assert_eq!((raw::register(file.number()).0, raw::buffer_register(memory.at, SIZE)), (OK, OK));
            assert_eq!(raw::buffer_deregister(memory.at), OK);
            assert_eq!(batch.submit(&[]), OK);
        }),
    ];
    cases.push(
        case("HF-BATCH-38 a NULL array is E(5022)", || {
            let batch = Batch::new(1).at as hipfile_sys::hipFileBatchHandle_t;
            assert_eq!(raw::driver_open(), OK);
            // SAFETY: requires entries or NULL.
            let error = unsafe { (raw::api().hipFileBatchIOSubmit)(batch, 1, std::ptr::null_mut(), 0) };
            assert_eq!(raw::answer(error), e(5022));
        })
        .since(0, 3),
    );
    cases.into_iter().map(|case| case.until(0, 4)).collect()
}
