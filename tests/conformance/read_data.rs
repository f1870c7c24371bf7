//! HF-READ: the bytes that transfers move, and those they leave alone.

use std::io::{Seek, SeekFrom};

use crate::case::{Case, case};
use crate::file::{File, PAGE, pattern};
use crate::hip::Memory;
use crate::raw::{self, Moved, OK};

const SIZE: usize = 256 * 1024;
const MIB: usize = 1 << 20;

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (name, run) in either_path() {
        cases.push(case(name, run));
        cases.push(case(format!("{name}, fallback"), run).fallback());
        cases.push(case(format!("{name}, fallback by copies"), run).bounced());
    }
    cases
}

fn moved(size: usize) -> Moved {
    Moved::Number(size as isize)
}

fn either_path() -> Vec<(&'static str, fn())> {
    vec![
        ("HF-READ-21 HF-READ-23 a read puts the file's bytes in their place and nowhere else", || {
            let bytes = pattern(SIZE, 1);
            let file = File::of(&bytes);
            let handle = file.registered();
            for (size, file_offset, buffer_offset) in places() {
                let memory = Memory::filled(SIZE, 0x5a);
                let result = raw::read(handle, memory.at, size, file_offset as i64, buffer_offset as i64);
                assert_eq!(result, moved(size), "{size} bytes from {file_offset} to {buffer_offset}");
                let mut expected = vec![0x5a; SIZE];
                expected[buffer_offset..][..size].copy_from_slice(&bytes[file_offset..][..size]);
                assert!(memory.bytes() == expected, "{size} bytes from {file_offset} to {buffer_offset}");
            }
        }),
        ("HF-READ-22 HF-READ-24 a write puts the buffer's bytes in their place and nowhere else", || {
            let bytes = pattern(SIZE, 2);
            let memory = Memory::of(&bytes).registered();
            for (size, file_offset, buffer_offset) in places() {
                let file = File::of(&[0x5a; SIZE]);
                let handle = file.registered();
                let result = raw::write(handle, memory.at, size, file_offset as i64, buffer_offset as i64);
                assert_eq!(result, moved(size), "{size} bytes from {buffer_offset} to {file_offset}");
                let mut expected = vec![0x5a; SIZE];
                expected[file_offset..][..size].copy_from_slice(&bytes[buffer_offset..][..size]);
                assert!(file.bytes() == expected, "{size} bytes from {buffer_offset} to {file_offset}");
                raw::deregister(handle);
            }
        }),
        ("HF-READ-47 a file is copied as AMD's example does it: aligned writes, then cut to size", || {
            for size in [0, 1, PAGE, 100_001, SIZE] {
                let (from, to) = (File::of(&pattern(size, 7)), File::empty());
                let (source, target) = (from.registered(), to.registered());
                let memory = Memory::new(8 * PAGE);
                let mut offset = 0;
                loop {
                    let Moved::Number(read @ 0..) = raw::read(source, memory.at, 8 * PAGE, offset, 0) else {
                        panic!("a read fails at {offset}");
                    };
                    if read == 0 {
                        break;
                    }
                    let whole = (read as usize).next_multiple_of(PAGE);
                    assert_eq!(raw::write(target, memory.at, whole, offset, 0), moved(whole));
                    offset += read as i64;
                }
                assert_eq!(offset, size as i64);
                std::fs::OpenOptions::new()
                    .write(true)
                    .open(to.path())
                    .unwrap()
                    .set_len(size as u64)
                    .unwrap();
                assert!(to.bytes() == pattern(size, 7));
                raw::deregister(source);
                raw::deregister(target);
            }
            assert_eq!(raw::count(), 1, "nobody opened the driver");
        }),
        ("HF-READ-25 HF-READ-26 HF-READ-27 HF-FAST-10 reads stop at the end of the file", || {
            let (file, empty) = (File::of(&pattern(10_000, 3)), File::empty());
            let (handle, nothing) = (file.registered(), empty.registered());
            let memory = Memory::new(SIZE);
            for (size, offset, expected) in [
                (SIZE, 0, 10_000),
                (SIZE, 8192, 1808),
                (PAGE, 8192, 1808),
                (100, 9_999, 1),
                (100, 10_000, 0),
                (PAGE, 12_288, 0),
                (PAGE, 1 << 40, 0),
            ] {
                assert_eq!(
                    raw::read(handle, memory.at, size, offset, 0),
                    moved(expected),
                    "{size} at {offset}"
                );
                let start = (offset as usize).min(10_000);
                assert_eq!(memory.get(0..expected), pattern(10_000, 3)[start..][..expected]);
                assert_eq!(raw::read(nothing, memory.at, size, offset, 0), moved(0));
            }
        }),
        ("HF-READ-28 the last byte of a file and of a buffer alone", || {
            let file = File::of(&pattern(10_000, 4));
            let handle = file.registered();
            let memory = Memory::filled(SIZE, 1).registered();
            let last = SIZE as i64 - 1;
            assert_eq!(raw::read(handle, memory.at, 1, 9_999, last), moved(1));
            assert_eq!(memory.get(SIZE - 1..SIZE), pattern(10_000, 4)[9_999..]);
            memory.put(SIZE - 1, &[0xc3]);
            assert_eq!(raw::write(handle, memory.at, 1, 9_999, last), moved(1));
            assert_eq!(file.bytes().last(), Some(&0xc3));
            assert_eq!(file.size(), 10_000);
        }),
        ("HF-READ-29 holes read as zeros", || {
            let file = File::empty();
            std::fs::File::from(file.fd.try_clone().unwrap()).set_len(SIZE as u64).unwrap();
            let memory = Memory::filled(SIZE, 0xff);
            assert_eq!(raw::read(file.registered(), memory.at, SIZE, 0, 0), moved(SIZE));
            assert_eq!(memory.bytes(), vec![0; SIZE]);
        }),
        ("HF-READ-30 a write beyond the end leaves a gap of zeros and an exact size", || {
            for (before, size, offset) in
                [(0, PAGE, 16_384), (100, 100, 5_000), (PAGE, PAGE, 16_384), (100, 1, 100)]
            {
                let file = File::of(&vec![7; before]);
                let memory = Memory::of(&pattern(size, 5));
                let handle = file.registered();
                assert_eq!(raw::write(handle, memory.at, size, offset as i64, 0), moved(size));
                raw::deregister(handle);
                let mut expected = vec![7; before];
                expected.resize(offset, 0);
                expected.extend(pattern(size, 5));
                assert!(file.bytes() == expected, "{size} bytes at {offset} of {before}");
            }
        }),
        ("HF-READ-31 size 0 is 0 and changes nothing", || {
            let file = File::of(&[7; 100]);
            let handle = file.registered();
            let memory = Memory::filled(SIZE, 1).registered();
            for offset in [0, 50, 100, 4096, 1 << 30] {
                for inside in [0, 1, SIZE as i64 - 1] {
                    assert_eq!(raw::read(handle, memory.at, 0, offset, inside), moved(0));
                    assert_eq!(raw::write(handle, memory.at, 0, offset, inside), moved(0));
                }
            }
            assert_eq!(file.bytes(), [7; 100]);
            assert_eq!(memory.bytes(), vec![1; SIZE]);
        }),
        ("HF-READ-32 the position of the caller's fd is left alone", || {
            let file = File::of(&pattern(SIZE, 6));
            let handle = file.registered();
            let mut position = std::fs::File::from(file.fd.try_clone().unwrap());
            position.seek(SeekFrom::Start(12_345)).unwrap();
            let memory = Memory::new(SIZE);
            assert_eq!(raw::read(handle, memory.at, PAGE, 0, 0), moved(PAGE));
            assert_eq!(memory.get(0..PAGE), pattern(SIZE, 6)[..PAGE]);
            assert_eq!(raw::write(handle, memory.at, PAGE, 8192, 0), moved(PAGE));
            assert_eq!(raw::read(handle, memory.at, 100, 1, 0), moved(100));
            assert_eq!(position.stream_position().unwrap(), 12_345);
        }),
        ("HF-READ-36 round trips around 16 MiB with guard bytes intact", || {
            let file = File::empty();
            let handle = file.registered();
            for size in [PAGE, 16 * MIB - PAGE, 16 * MIB, 16 * MIB + PAGE, 32 * MIB] {
                let bytes = pattern(size, size as u64);
                let out = Memory::of(&bytes);
                assert_eq!(raw::write(handle, out.at, size, 0, 0), moved(size));
                let back = Memory::filled(size + 2 * PAGE, 0xd7).registered();
                assert_eq!(raw::read(handle, back.at, size, 0, PAGE as i64), moved(size));
                assert!(back.get(PAGE..PAGE + size) == bytes, "{size} bytes");
                assert_eq!(back.get(0..PAGE), [0xd7; PAGE]);
                assert_eq!(back.get(PAGE + size..size + 2 * PAGE), [0xd7; PAGE]);
                assert_eq!(raw::buffer_deregister(back.at), OK);
            }
        }),
        ("HF-READ-40 registered and unregistered memory give the same", || {
            let bytes = pattern(SIZE, 8);
            let file = File::of(&bytes);
            let handle = file.registered();
            for (size, file_offset, buffer_offset) in places() {
                let (plain, registered) = (Memory::filled(SIZE, 3), Memory::filled(SIZE, 3).registered());
                for memory in [&plain, &registered] {
                    let result = raw::read(handle, memory.at, size, file_offset as i64, buffer_offset as i64);
                    assert_eq!(result, moved(size));
                }
                assert!(plain.bytes() == registered.bytes());
                assert_eq!(raw::buffer_deregister(registered.at), OK);
            }
        }),
        ("HF-READ-41 HF-READ-42 transfers and hipMemcpy see each other's bytes at once", || {
            let file = File::of(&vec![0; SIZE]);
            let handle = file.registered();
            let memory = Memory::new(PAGE).registered();
            for round in 0..50 {
                let bytes = pattern(PAGE, round + 100);
                memory.put(0, &bytes);
                assert_eq!(raw::write(handle, memory.at, PAGE, 0, 0), moved(PAGE));
                memory.put(0, &[0; PAGE]);
                assert_eq!(raw::read(handle, memory.at, PAGE, 0, 0), moved(PAGE));
                assert_eq!(memory.bytes(), bytes);
            }
        }),
    ]
}

/// Sizes and places, some aligned to everything and some to nothing.
fn places() -> [(usize, usize, usize); 8] {
    [
        (PAGE, 0, 0),
        (PAGE, PAGE, 2 * PAGE),
        (64 * 1024, 128 * 1024, 64 * 1024),
        (SIZE, 0, 0),
        (1, 0, 0),
        (511, 513, 4097),
        (70_000, 12_345, 54_321),
        (PAGE, 1, PAGE),
    ]
}
