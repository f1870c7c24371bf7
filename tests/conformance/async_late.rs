//! HF-ASYNC: values that change between the submission of an operation and its turn on the stream.

use crate::case::{Case, case};
use crate::file::{File, PAGE, pattern};
use crate::hip::Memory;
use crate::queue::{
    BOTH, Direction, FIXED_BUFFER_OFFSET, FIXED_FILE_OFFSET, FIXED_SIZE, Operation, Stream, on_streams,
};
use crate::raw;

use Direction::{Read, Write};

const SIZE: usize = 16 * PAGE;

pub fn cases() -> Vec<Case> {
    [honoured(), refused(), fast()].into_iter().flatten().map(on_streams).collect()
}

/// A size, a file offset and a buffer offset.
type Values = (usize, usize, usize);

/// What stays after an operation that was submitted with some values and met others on a stream with these flags.
fn moved(flags: u32, direction: Direction, early: Values, late: Values) {
    let pick = |flag, early, late| if flags & flag != 0 { early } else { late };
    let size = pick(FIXED_SIZE, early.0, late.0);
    let file_offset = pick(FIXED_FILE_OFFSET, early.1, late.1);
    let buffer_offset = pick(FIXED_BUFFER_OFFSET, early.2, late.2);
    let (in_file, in_memory) = (pattern(SIZE, 1), pattern(SIZE, 2));
    let file = File::of(&in_file);
    let memory = Memory::of(&in_memory).registered();
    let stream = Stream::with_flags(flags);
    let gate = stream.hold();
    let handle = file.registered();
    let operation = Operation::new(handle, memory.at, early.0, early.1 as i64, early.2 as i64);
    operation.put(direction, &stream).change(late.0, late.1 as i64, late.2 as i64);
    gate.open();
    stream.wait();
    assert_eq!(operation.bytes(), size as isize, "{flags:#x} {direction:?} {early:?} {late:?}");
    let (mut expected_file, mut expected_memory) = (in_file.clone(), in_memory.clone());
    let (from, to) = (file_offset..file_offset + size, buffer_offset..buffer_offset + size);
    match direction {
        Read => expected_memory[to].copy_from_slice(&in_file[from]),
        Write => expected_file[from].copy_from_slice(&in_memory[to]),
    }
    assert!(memory.bytes() == expected_memory, "{flags:#x} {direction:?} {early:?} {late:?}");
    assert!(file.bytes() == expected_file, "{flags:#x} {direction:?} {early:?} {late:?}");
    raw::deregister(handle);
    assert_eq!(raw::buffer_deregister(memory.at), raw::OK);
}

/// Every combination of flags, with one value changed, two, or all three. Sizes are aligned so that either path serves.
fn every_combination() {
    let early = (4 * PAGE, PAGE, 2 * PAGE);
    for flags in 0..16 {
        for changed in 0..8 {
            let late = (
                if changed & 1 != 0 { 2 * PAGE } else { early.0 },
                if changed & 2 != 0 { 9 * PAGE } else { early.1 },
                if changed & 4 != 0 { 7 * PAGE } else { early.2 },
            );
            BOTH.iter().for_each(|direction| moved(flags, *direction, early, late));
        }
    }
}

fn honoured() -> Vec<Case> {
    vec![
        case("HF-ASYNC-10 HF-ASYNC-11 late values count where no flag fixed them", every_combination),
        case("HF-ASYNC-10 HF-ASYNC-11 and on the fallback", every_combination).fallback(),
        case("HF-ASYNC-10 HF-ASYNC-11 and on the fast path", every_combination)
            .fast()
            .env("HIPFILE_ALLOW_COMPAT_MODE", "false")
            .since(0, 5),
        case("HF-ASYNC-10 a late size may be smaller, down to nothing", || {
            for size in [4 * PAGE - 1, 1, 0] {
                BOTH.iter().for_each(|way| moved(0, *way, (4 * PAGE, 0, 0), (size, 0, 0)));
            }
            // Together with offsets: the submitted size would no longer fit, the late one does.
            for direction in BOTH {
                moved(0, direction, (SIZE, 0, 0), (100, 7, SIZE - 100));
                moved(0, direction, (SIZE, 0, 0), (1, SIZE - 1, SIZE - 1));
            }
        })
        .fallback(),
        case("HF-ASYNC-11 what is fixed may go away once the submission returned", || {
            // Values that would be refused do nothing.
            for direction in BOTH {
                moved(7, direction, (PAGE, 0, PAGE), (usize::MAX, usize::MAX, usize::MAX));
                moved(15, direction, (PAGE, 0, PAGE), (usize::MAX, usize::MAX, usize::MAX));
            }
        }),
    ]
}

/// Late values that must end as −5022 and leave file and memory alone.
fn ends_as_invalid(early: (usize, i64, i64), late: (usize, i64, i64)) {
    let file = File::of(&pattern(SIZE, 3));
    let memory = Memory::filled(SIZE, 0x5a).registered();
    let stream = Stream::with_flags(0);
    let handle = file.registered();
    for direction in BOTH {
        let gate = stream.hold();
        let operation = Operation::new(handle, memory.at, early.0, early.1, early.2);
        operation.put(direction, &stream).change(late.0, late.1, late.2);
        gate.open();
        stream.wait();
        assert_eq!(operation.bytes(), -5022, "{direction:?} {early:?} {late:?}");
        // What follows on the stream is not disturbed.
        assert_eq!(Operation::new(handle, memory.at, 0, 0, 0).result(direction, &stream), 0);
    }
    assert!(memory.bytes() == [0x5a; SIZE] && file.bytes() == pattern(SIZE, 3));
    assert_eq!(raw::buffer_deregister(memory.at), raw::OK);
    raw::deregister(handle);
}

fn refused() -> Vec<Case> {
    vec![
        case("HF-ASYNC-12 a late size above the submitted one is -5022", || {
            for late in [PAGE + 1, 2 * PAGE, SIZE, SIZE + 1, usize::MAX] {
                ends_as_invalid((PAGE, 0, 0), (late, 0, 0));
            }
        })
        .fallback(),
        case("HF-ASYNC-12 a late buffer offset that makes the range too long is -5022", || {
            let last = (SIZE - PAGE) as i64;
            for late in [last + 1, SIZE as i64, i64::MAX] {
                ends_as_invalid((PAGE, 0, 0), (PAGE, 0, late));
            }
            ends_as_invalid((SIZE, 0, 0), (SIZE, 0, 1));
        })
        .fallback(),
        case("HF-ASYNC-12 late offsets below 0 are -5022", || {
            for late in [-1, i64::MIN] {
                ends_as_invalid((PAGE, 0, 0), (PAGE, late, 0));
                ends_as_invalid((PAGE, 0, 0), (PAGE, 0, late));
            }
        })
        .fallback(),
        case("HF-ASYNC-12 the range is judged on the fast path too", || {
            let page = PAGE as i64;
            for late in [(PAGE, -page, 0), (PAGE, 0, -page), (PAGE, 0, SIZE as i64), (SIZE + PAGE, 0, 0)] {
                ends_as_invalid((PAGE, 0, 0), late);
            }
        })
        .fast()
        .since(0, 5),
    ]
}

fn fast() -> Vec<Case> {
    vec![
        case("HF-ASYNC-39 on the fast path a late size may grow inside the buffer", || {
            for direction in BOTH {
                moved(0, direction, (PAGE, 0, 0), (4 * PAGE, PAGE, PAGE));
            }
        })
        .fast()
        .since(0, 5),
        case("HF-ASYNC-40 on the fast path a late value that is not aligned is -5030", || {
            let file = File::of(&pattern(SIZE, 4));
            let handle = file.registered();
            let memory = Memory::filled(SIZE, 0x5a).registered();
            let stream = Stream::with_flags(0);
            for direction in BOTH {
                for late in [(PAGE - 1, 0, 0), (PAGE, 1, 0), (PAGE, 0, 1)] {
                    let gate = stream.hold();
                    let operation = Operation::new(handle, memory.at, PAGE, 0, 0).put(direction, &stream);
                    operation.change(late.0, late.1, late.2);
                    gate.open();
                    stream.wait();
                    assert_eq!(operation.bytes(), -5030, "{direction:?} {late:?}");
                }
            }
            assert!(memory.bytes() == [0x5a; SIZE] && file.bytes() == pattern(SIZE, 4));
        })
        .fast()
        .since(0, 5),
    ]
}
