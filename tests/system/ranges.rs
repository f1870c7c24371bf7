//! SND-12, SND-13: offsets and lengths that no transfer can have, and transfers of nothing.

use std::fs;

use hipfile::alloc::DeviceBuffer;
use hipfile::{Driver, ErrorKind, FileHandle};
use proptest::prelude::*;

use crate::common::{Scratch, counted_if_any, open, pattern};

const MAX: u64 = i64::MAX.unsigned_abs();

/// HF-READ-10, HF-READ-34, SND-12: nothing negative can be said, and nothing that wraps reaches C.
#[test]
fn hostile_offsets_are_refused_in_one_line() {
    let scratch = Scratch::new();
    let path = scratch.file("data", b"0123456789");
    let driver = Driver::open().unwrap();
    let file = open(&driver, &path);
    let mut memory = driver.register(DeviceBuffer::zeroed(10).unwrap()).unwrap();
    for offset in [u64::MAX, u64::MAX - 9, MAX + 1, MAX, MAX - 9] {
        let refused = [
            file.read_at(memory.slice_mut(..).unwrap(), offset).map(drop),
            file.write_at(memory.slice(..).unwrap(), offset).map(drop),
            file.read_exact_at(memory.slice_mut(..).unwrap(), offset),
            file.write_all_at(memory.slice(..).unwrap(), offset),
        ];
        for (result, operation) in refused.into_iter().zip(["read", "write", "read", "write"]) {
            let error = result.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidInput);
            assert_eq!((error.offset(), error.requested()), (Some(offset), Some(10)));
            assert_eq!(
                error.to_string(),
                format!(
                    "{operation} {} at offset {offset}, 10 bytes: a file ends at {MAX} (i64::MAX) at the latest, so offset plus length is too large",
                    path.display()
                )
            );
        }
    }
    // The last offset that is allowed is just far beyond the end.
    assert_eq!(file.read_at(memory.slice_mut(..).unwrap(), MAX - 10).unwrap(), 0);
    let error = file.write_at(memory.slice(..).unwrap(), MAX - 10).unwrap_err();
    assert_eq!(error.os_error(), Some(libc::EFBIG), "HF-READ-35");
    assert_eq!(fs::read(&path).unwrap(), b"0123456789");
}

/// HF-READ-31, SND-13: no bytes, no call: neither transfers nor errors are counted, at any offset that can be.
#[test]
fn zero_length_is_success_without_a_call() {
    hipfile_tests::isolate::alone("ranges::zero_length_is_success_without_a_call", || {
        let scratch = Scratch::new();
        let path = scratch.file("data", b"0123456789");
        let driver = Driver::open().unwrap();
        let file = open(&driver, &path);
        let mut memory = driver.register(DeviceBuffer::zeroed(10).unwrap()).unwrap();
        let mut empty = DeviceBuffer::new(0).unwrap();
        let stats = counted_if_any(|| {
            for offset in [0, 5, 10, 11, MAX] {
                for range in [0..0, 5..5, 10..10] {
                    assert_eq!(file.read_at(memory.slice_mut(range.clone()).unwrap(), offset).unwrap(), 0);
                    assert_eq!(file.write_at(memory.slice(range.clone()).unwrap(), offset).unwrap(), 0);
                    file.read_exact_at(memory.slice_mut(range.clone()).unwrap(), offset).unwrap();
                    file.write_all_at(memory.slice(range).unwrap(), offset).unwrap();
                }
                assert_eq!(file.read_at(empty.slice_mut(..).unwrap(), offset).unwrap(), 0);
                assert_eq!(file.write_at(empty.slice(..).unwrap(), offset).unwrap(), 0);
            }
        });
        assert_eq!(stats.unwrap_or_default(), hipfile::Stats::default());
        assert!(file.read_at(memory.slice_mut(..0).unwrap(), MAX + 1).is_err());
        assert_eq!(fs::metadata(&path).unwrap().len(), 10);
        // Not even a wrong direction shows.
        let reader = FileHandle::new(&driver, fs::File::open(&path).unwrap()).unwrap();
        assert_eq!(reader.write_at(memory.slice(..0).unwrap(), 0).unwrap(), 0);
    });
}

/// SND-12.
#[test]
fn slices_of_slices_stay_inside() {
    let driver = Driver::open().unwrap();
    let mut memory = driver.register_range(DeviceBuffer::zeroed(100).unwrap(), 10..90).unwrap();
    assert_eq!(memory.len(), 80);
    let base = memory.as_ptr().addr();
    let slice = memory.slice(20..60).unwrap();
    assert_eq!((slice.len(), slice.as_ptr().addr()), (40, base + 20));
    let inner = slice.slice(5..=9).unwrap();
    assert_eq!((inner.len(), inner.as_ptr().addr(), inner.is_empty()), (5, base + 25, false));
    let (head, tail) = slice.split_at(40).unwrap();
    assert_eq!((head.len(), tail.len(), tail.as_ptr().addr()), (40, 0, base + 60));
    assert!(tail.is_empty());
    let error = slice.split_at(41).unwrap_err();
    assert_eq!(error.to_string(), "RegisteredSlice::split_at: bytes ..41 are not within 0..40");
    assert_eq!(slice.slice(..41).unwrap_err().kind(), ErrorKind::OutOfRange);

    let mut slice = memory.slice_mut(20..60).unwrap();
    assert_eq!(slice.slice(40..).unwrap().len(), 0);
    assert!(slice.slice(41..).is_err() && slice.slice_mut(..=40).is_err());
    assert_eq!(slice.slice_mut(39..).unwrap().as_ptr().addr(), base + 59);
    assert_eq!((slice.reborrow().len(), slice.as_slice().len()), (40, 40));
    let (head, tail) = slice.split_at_mut(1).unwrap();
    assert_eq!((head.len(), tail.len(), tail.as_ptr().addr()), (1, 39, base + 21));
    assert_eq!(tail.split_at_mut(usize::MAX).unwrap_err().kind(), ErrorKind::OutOfRange);
    assert!(driver.register_range(DeviceBuffer::new(10).unwrap(), 3..11).is_err());
    assert!(driver.register_range(DeviceBuffer::new(10).unwrap(), 10..).is_err(), "no bytes");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// HF-READ-21 to HF-READ-26, HF-READ-37: what a model of two arrays of bytes does, the file and the memory do, and no
    /// byte beside.
    #[test]
    fn transfers_move_what_a_model_moves(
        file_len in 0usize..20_000,
        memory_len in 1usize..20_000,
        base in 0usize..5000,
        moves in prop::collection::vec((any::<bool>(), any::<bool>(), 0usize..20_000, 0usize..20_000, 0u64..25_000), 1..8),
    ) {
        let scratch = Scratch::new();
        let mut model_file = pattern(file_len, 3);
        let mut model_memory = pattern(memory_len + base, 4);
        let path = scratch.file("data", &model_file);
        let driver = Driver::open().unwrap();
        let file = open(&driver, &path);
        let memory = DeviceBuffer::from_host(&model_memory).unwrap();
        let mut memory = driver.register_range(memory, base..).unwrap();
        for (write, exact, a, b, offset) in moves {
            let range = a.min(b) % (memory_len + 1)..=a.max(b) % (memory_len + 1);
            let range = *range.start().min(range.end())..*range.end().max(range.start());
            let at = usize::try_from(offset).unwrap();
            let host = range.start + base..range.end + base;
            if write {
                let slice = memory.slice(range.clone()).unwrap();
                if exact {
                    file.write_all_at(slice, offset).unwrap();
                } else {
                    prop_assert_eq!(file.write_at(slice, offset).unwrap(), range.len());
                }
                if !range.is_empty() {
                    let end = at + range.len();
                    model_file.resize(model_file.len().max(end), 0);
                    model_file[at..end].copy_from_slice(&model_memory[host]);
                }
            } else {
                let available = model_file.len().saturating_sub(at).min(range.len());
                let slice = memory.slice_mut(range.clone()).unwrap();
                if exact {
                    match file.read_exact_at(slice, offset) {
                        Ok(()) => prop_assert_eq!(available, range.len()),
                        Err(error) => {
                            prop_assert_eq!(error.kind(), ErrorKind::UnexpectedEof);
                            prop_assert_eq!(error.bytes_done(), available);
                            prop_assert!(available < range.len());
                        }
                    }
                } else {
                    prop_assert_eq!(file.read_at(slice, offset).unwrap(), available);
                }
                let filled = host.start..host.start + available;
                if available > 0 {
                    model_memory[filled.clone()].copy_from_slice(&model_file[at..at + available]);
                }
                // Bytes after a short count may have been overwritten, inside the slice alone.
                let now = memory.memory().to_vec().unwrap();
                model_memory[filled.end..host.end].copy_from_slice(&now[filled.end..host.end]);
            }
            prop_assert!(memory.memory().to_vec().unwrap() == model_memory);
            prop_assert!(fs::read(&path).unwrap() == model_file);
        }
    }
}
