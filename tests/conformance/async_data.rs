//! HF-ASYNC: what operations move, on any stream and in any order.

use crate::case::{Case, Need, case};
use crate::file::{File, PAGE, pattern};
use crate::hip::Memory;
use crate::queue::{BOTH, Direction, FIXED, Operation, Stream, on_streams};
use crate::raw::{self, OK, e};
use crate::witness::{FAST_READ, FAST_WRITE, paths_of};

use Direction::{Read, Write};

const SIZE: usize = 16 * PAGE;
const MIB: usize = 1 << 20;

pub fn cases() -> Vec<Case> {
    [values_that_stay(), order(), chunks()].into_iter().flatten().map(on_streams).collect()
}

/// Moves one range in both directions and looks at every byte around it, on every kind of stream.
fn moved_exactly(ranges: &[(usize, usize, usize)]) {
    let file = File::of(&pattern(SIZE, 1));
    let handle = file.registered();
    for flags in [None].into_iter().chain((0..16).map(Some)) {
        let stream = flags.map_or_else(Stream::new, Stream::with_flags);
        for &(size, file_offset, buffer_offset) in ranges {
            let at = [file_offset as i64, buffer_offset as i64];
            let memory = Memory::filled(SIZE, 0x33).registered();
            let read = Operation::new(handle, memory.at, size, at[0], at[1]);
            assert_eq!(read.result(Read, &stream), size as isize, "{flags:?} {size}@{at:?}");
            let mut expected = vec![0x33; SIZE];
            expected[buffer_offset..][..size].copy_from_slice(&pattern(SIZE, 1)[file_offset..][..size]);
            assert!(memory.bytes() == expected, "{flags:?} {size}@{at:?}");

            let copy = File::of(&vec![0x44; SIZE]);
            let to = copy.registered();
            let write = Operation::new(to, memory.at, size, at[0], at[1]);
            assert_eq!(write.result(Write, &stream), size as isize, "{flags:?} {size}@{at:?}");
            let mut expected = vec![0x44; SIZE];
            expected[file_offset..][..size].copy_from_slice(&memory.get(buffer_offset..buffer_offset + size));
            assert!(copy.bytes() == expected, "{flags:?} {size}@{at:?}");
            raw::deregister(to);
            assert_eq!(raw::buffer_deregister(memory.at), OK);
        }
    }
    assert!(file.bytes() == pattern(SIZE, 1));
}

fn any_range() {
    moved_exactly(&[
        (PAGE, 0, 0),
        (SIZE, 0, 0),
        (PAGE + 1, 0, 0),
        (777, 13, 0),
        (777, 0, 13),
        (2 * PAGE - 3, PAGE + 5, 3 * PAGE + 7),
        (1, SIZE - 1, SIZE - 1),
    ]);
}

fn values_that_stay() -> Vec<Case> {
    vec![
        case("HF-ASYNC-06 HF-ASYNC-21 values that stay, every combination of flags, any range", any_range),
        case("HF-ASYNC-06 HF-ASYNC-21 and on the fallback alone", any_range).fallback(),
        case("HF-ASYNC-19 HF-ASYNC-21 and on the fast path alone", || {
            moved_exactly(&[(PAGE, 0, 0), (PAGE, 0, 2 * PAGE), (SIZE / 2, PAGE, 0), (SIZE, 0, 0)]);
        })
        .fast()
        .env("HIPFILE_ALLOW_COMPAT_MODE", "false")
        .since(0, 5),
        case("HF-ASYNC-19 an eligible operation asks HIP's file functions once", || {
            let file = File::of(&pattern(SIZE, 2));
            let handle = file.registered();
            let memory = Memory::new(SIZE).registered();
            let stream = Stream::with_flags(FIXED);
            let operation = Operation::new(handle, memory.at, SIZE, 0, 0);
            assert_eq!(paths_of(|| assert_eq!(operation.result(Read, &stream), SIZE as isize)), FAST_READ);
            assert_eq!(paths_of(|| assert_eq!(operation.result(Write, &stream), SIZE as isize)), FAST_WRITE);
        })
        .fast()
        .shim()
        .since(0, 5),
        case("HF-ASYNC-06 the result is 0 until the stream comes to the operation", || {
            let file = File::of(&pattern(SIZE, 3));
            let handle = file.registered();
            let memory = Memory::filled(SIZE, 0).registered();
            let stream = Stream::new();
            for direction in BOTH {
                for size in [PAGE, 100] {
                    let gate = stream.hold();
                    let operation = Operation::new(handle, memory.at, size, 0, 0).put(direction, &stream);
                    assert_eq!(operation.bytes(), 0);
                    gate.open();
                    stream.wait();
                    assert_eq!(operation.bytes(), size as isize);
                }
            }
        }),
        case("HF-ASYNC-08 the NULL stream and streams that were never registered serve", || {
            let file = File::of(&pattern(SIZE, 4));
            let handle = file.registered();
            for stream in [Stream::null(), Stream::new()] {
                // A pointer that is not registered, its inside, and a registered one.
                let memory = Memory::filled(SIZE, 0);
                for inside in [0, PAGE + 1] {
                    let operation = Operation::new(handle, memory.at + inside, PAGE, 0, 0);
                    assert_eq!(operation.result(Read, &stream), PAGE as isize);
                    assert!(memory.get(inside..inside + PAGE) == pattern(SIZE, 4)[..PAGE]);
                }
                let memory = memory.registered();
                assert_eq!(
                    Operation::new(handle, memory.at, 10, 5, 7).result(Read, &stream),
                    10,
                    "registered memory"
                );
                assert_eq!(memory.get(7..17), pattern(SIZE, 4)[5..15]);
                assert_eq!(raw::buffer_deregister(memory.at), OK);
            }
        }),
        case("HF-ASYNC-13 size 0 is OK with 0 bytes, and nothing is put on the stream", || {
            let file = File::of(&pattern(SIZE, 5));
            let handle = file.registered();
            let memory = Memory::filled(SIZE, 9).registered();
            let stream = Stream::new();
            let gate = stream.hold();
            for direction in BOTH {
                for place in [0, PAGE as i64, 1 << 30] {
                    let operation = Operation::new(handle, memory.at, 0, place, 5).put(direction, &stream);
                    assert_eq!(operation.bytes(), 0);
                }
            }
            assert_eq!(raw::buffer_deregister(memory.at), OK, "nothing holds it");
            gate.open();
            stream.wait();
            assert!(memory.bytes() == [9; SIZE] && file.bytes() == pattern(SIZE, 5));
        })
        .fallback(),
        case("HF-ASYNC-34 size 0 on the fast path is put on the stream", || {
            let file = File::of(&pattern(SIZE, 5));
            let handle = file.registered();
            let memory = Memory::new(SIZE).registered();
            let stream = Stream::new();
            let gate = stream.hold();
            let operation = Operation::new(handle, memory.at, 0, 0, 0).put(Write, &stream);
            assert_eq!(raw::buffer_deregister(memory.at), e(5030), "the operation holds it");
            gate.open();
            stream.wait();
            assert_eq!((operation.bytes(), file.size()), (0, SIZE as u64));
            assert_eq!(raw::buffer_deregister(memory.at), OK);
        })
        .fast()
        .since(0, 5),
        case("HF-ASYNC-14 a read past the end gives a short count", past_the_end),
        case("HF-ASYNC-14 and on the fallback it leaves the rest alone", past_the_end).fallback(),
        case("HF-ASYNC-14 and on the fast path", || {
            let file = File::of(&pattern(10_000, 6));
            let memory = Memory::new(SIZE).registered();
            let stream = Stream::with_flags(FIXED);
            let operation = Operation::new(file.registered(), memory.at, SIZE, 0, 0);
            assert_eq!(operation.result(Read, &stream), 10_000);
            assert!(memory.get(0..10_000) == pattern(10_000, 6));
        })
        .fast()
        .since(0, 5),
    ]
}

fn past_the_end() {
    let file = File::of(&pattern(10_000, 6));
    let handle = file.registered();
    let memory = Memory::filled(SIZE, 0x55).registered();
    for flags in [0, FIXED] {
        let stream = Stream::with_flags(flags);
        let operation = |size, offset| Operation::new(handle, memory.at, size, offset, 0);
        assert_eq!(operation(777, 9_500).result(Read, &stream), 500);
        assert_eq!(memory.get(0..500), pattern(10_000, 6)[9_500..]);
        assert!(memory.get(500..SIZE).iter().all(|byte| *byte == 0x55));
        assert_eq!(operation(777, 10_000).result(Read, &stream), 0);
        assert_eq!(operation(777, 1 << 40).result(Read, &stream), 0);
    }
}

fn order() -> Vec<Case> {
    vec![
        case("HF-ASYNC-09 operations on one stream run in order", || in_order(16 * 1024)),
        case("HF-ASYNC-09 and on the fallback", || in_order(16 * 1024)).fallback(),
        case("HF-ASYNC-09 and where they are not aligned", || in_order(16 * 1024 + 1)),
        case("HF-ASYNC-09 an operation sees what the stream did before it", || {
            // Each read depends on the write before it, each write on the read.
            let file = File::of(&pattern(SIZE, 1));
            let handle = file.registered();
            let memory = Memory::filled(SIZE, 0).registered();
            let stream = Stream::with_flags(FIXED);
            let gate = stream.hold();
            let parts: Vec<_> = (0..15)
                .flat_map(|step| {
                    let [from, to] = [step * PAGE, (step + 1) * PAGE].map(|place| place as i64);
                    let read = Operation::new(handle, memory.at, PAGE, from, from).put(Read, &stream);
                    let write = Operation::new(handle, memory.at, PAGE, to, from).put(Write, &stream);
                    [read, write]
                })
                .collect();
            gate.open();
            stream.wait();
            assert!(parts.iter().all(|part| part.bytes() == PAGE as isize));
            assert!(file.bytes() == pattern(SIZE, 1)[..PAGE].repeat(16));
        }),
        case("HF-ASYNC-29 operations on different streams do not wait for each other", || {
            let file = File::of(&pattern(SIZE, 1));
            let handle = file.registered();
            let memory = Memory::filled(SIZE, 0).registered();
            let (held, free) = (Stream::new(), Stream::new());
            let gate = held.hold();
            let waiting = Operation::new(handle, memory.at, PAGE, 0, 0).put(Read, &held);
            for direction in BOTH {
                let operation = Operation::new(handle, memory.at, PAGE, 0, 8 * PAGE as i64);
                assert_eq!(operation.result(direction, &free), PAGE as isize);
            }
            assert_eq!(waiting.bytes(), 0);
            gate.open();
            held.wait();
            assert_eq!(waiting.bytes(), PAGE as isize);
        }),
        case("HF-ASYNC-35 many threads may submit to one stream", || {
            let file = File::of(&pattern(SIZE, 7));
            let handle = file.registered();
            let memory = Memory::filled(SIZE, 0).registered();
            let stream = Stream::with_flags(FIXED);
            std::thread::scope(|scope| {
                for thread in 0..16 {
                    let (stream, at) = (&stream, memory.at);
                    scope.spawn(move || {
                        let offset = (thread * PAGE) as i64;
                        for _ in 0..30 {
                            let operation = Operation::new(handle, at, PAGE, offset, offset);
                            let direction = BOTH[thread % 2];
                            assert_eq!(operation.put(direction, stream).submit(Read, stream), OK);
                        }
                    });
                }
            });
            stream.wait();
            let (bytes, read) = (file.bytes(), memory.bytes());
            for (part, page) in pattern(SIZE, 7).chunks(PAGE).enumerate() {
                let at = part * PAGE;
                let expected = if part % 2 == 0 { page } else { &[0; PAGE][..] };
                assert!(read[at..at + PAGE] == *expected && bytes[at..at + PAGE] == *expected, "{part}");
            }
        }),
    ]
}

/// Overlapping reads into one place and writes to one place: the last of them is what stays.
fn in_order(size: usize) {
    let half = size / 2;
    let file = File::of(&pattern(4 * size, 8));
    let (handle, target) = (file.registered(), File::empty());
    let to = target.registered();
    for flags in 0..8 {
        let stream = Stream::with_flags(flags);
        let memory = Memory::filled(4 * size, 0).registered();
        let gate = stream.hold();
        let mut expected = vec![0; 4 * size];
        for step in 0..6 {
            let (from, into) = (step * half, half * (step % 3));
            Operation::new(handle, memory.at, size, from as i64, into as i64).put(Read, &stream);
            expected[into..into + size].copy_from_slice(&pattern(4 * size, 8)[from..from + size]);
        }
        let write = Operation::new(to, memory.at, 4 * size, 0, 0).put(Write, &stream);
        gate.open();
        stream.wait();
        assert_eq!(write.bytes(), 4 * size as isize);
        assert!(memory.bytes() == expected && target.bytes() == expected, "flags {flags:#x}");
        assert_eq!(raw::buffer_deregister(memory.at), OK);
    }
}

fn chunks() -> Vec<Case> {
    let all = vec![
        case("HF-ASYNC-20 64 MiB go through the buffer of a stream in parts", spans_chunks).bounced(),
        case("HF-ASYNC-20 and where there is no such buffer", spans_chunks).fallback(),
        case("HF-ASYNC-36 a late size of 24 MiB of 64 moves exactly that", shrinks).bounced(),
        case("HF-ASYNC-36 and where there is no such buffer", shrinks).fallback(),
        case("HF-ENV-07 HF-ASYNC-20 a buffer of 5000 bytes gives the same result", spans_chunks)
            .bounced()
            .env("HIPFILE_ASYNC_BUFFER_SIZE", "500000"),
        case("HF-ENV-07 HF-ASYNC-36 also with a late size", shrinks)
            .bounced()
            .env("HIPFILE_ASYNC_BUFFER_SIZE", "1000003"),
    ];
    all.into_iter().map(|case| case.since(0, 5).needs(Need::Hip("hipMemcpyAsync"))).collect()
}

fn spans_chunks() {
    let bytes = pattern(64 * MIB, 9);
    let file = File::of(&bytes);
    let memory = Memory::filled(64 * MIB, 0).registered();
    let stream = Stream::with_flags(0);
    let read = Operation::new(file.registered(), memory.at, 64 * MIB, 0, 0);
    assert_eq!(read.result(Read, &stream), 64 * MIB as isize);
    assert!(memory.bytes() == bytes);
    let copy = File::empty();
    let write = Operation::new(copy.registered(), memory.at, 64 * MIB, 3, 0);
    assert_eq!(write.result(Write, &stream), 64 * MIB as isize);
    assert!(copy.bytes()[3..] == bytes);
}

fn shrinks() {
    let bytes = pattern(64 * MIB, 10);
    let file = File::of(&bytes);
    let memory = Memory::filled(64 * MIB, 0).registered();
    let stream = Stream::with_flags(0);
    let gate = stream.hold();
    let read = Operation::new(file.registered(), memory.at, 64 * MIB, 0, 0).put(Read, &stream);
    read.change(24 * MIB, 0, 0);
    gate.open();
    stream.wait();
    assert_eq!(read.bytes(), 24 * MIB as isize);
    assert!(memory.get(0..24 * MIB) == bytes[..24 * MIB]);
    assert!(memory.get(24 * MIB..64 * MIB).iter().all(|byte| *byte == 0));
}
