//! Values that change between submission and the moment the stream is there.

use super::*;
use crate::transfer::max_size;
use hipfile_sys::{
    HIPFILE_STREAM_FIXED_BUF_OFFSET as BUFFER_OFFSET, HIPFILE_STREAM_FIXED_FILE_OFFSET as FILE_OFFSET,
    HIPFILE_STREAM_FIXED_FILE_SIZE as SIZE, HIPFILE_STREAM_PAGE_ALIGNED_INPUTS as ALIGNED,
};

#[test]
fn each_value_is_read_again_unless_its_flag_is_set() {
    // HF-ASYNC-10, HF-ASYNC-11
    for flags in 0..16 {
        for changed in [SIZE, FILE_OFFSET, BUFFER_OFFSET, SIZE | FILE_OFFSET | BUFFER_OFFSET] {
            let mut case = Case::new();
            case.register_stream(flags).unwrap();
            (case.size, case.file_offset, case.buffer_offset) = (100, 10, 20);
            let result = case.ends(Read, |case| {
                if changed & SIZE != 0 {
                    case.size = 60;
                }
                if changed & FILE_OFFSET != 0 {
                    case.file_offset = 700;
                }
                if changed & BUFFER_OFFSET != 0 {
                    case.buffer_offset = 1000;
                }
            });
            let late = |flag| changed & flag != 0 && flags & flag == 0;
            let size = if late(SIZE) { 60 } else { 100 };
            let from = if late(FILE_OFFSET) { 700 } else { 10 };
            let to = if late(BUFFER_OFFSET) { 1000 } else { 20 };
            let mut expected = vec![0xee; LEN];
            expected[to..to + size].copy_from_slice(&pattern(LEN)[from..from + size]);
            assert_eq!(
                (result, case.mock.memory()),
                (size as isize, &expected[..]),
                "{flags:#x} {changed:#x}"
            );
        }
    }
}

#[test]
fn late_values_that_are_not_valid() {
    // HF-ASYNC-12
    let changes: [fn(&mut Case); 9] = [
        |case| case.size = 101,
        |case| case.size = usize::MAX,
        |case| case.file_offset = -1,
        |case| case.file_offset = i64::MIN,
        |case| case.buffer_offset = -1,
        |case| case.buffer_offset = i64::MIN,
        |case| case.buffer_offset = LEN as i64 - 99,
        |case| case.buffer_offset = i64::MAX,
        |case| (case.size, case.buffer_offset) = (0, LEN as i64),
    ];
    for (index, change) in changes.into_iter().enumerate() {
        for direction in [Read, ToFile] {
            let mut case = Case::new();
            assert_eq!(case.ends(direction, change), -5022, "change {index}");
            assert_eq!(case.mock.memory(), [0xee; LEN]);
            assert_eq!(case.caller.metadata().unwrap().len(), LEN as u64);

            let mut case = Case::new();
            case.register_stream(SIZE | FILE_OFFSET | BUFFER_OFFSET | ALIGNED).unwrap();
            assert_eq!(case.ends(direction, change), 100, "change {index} of a fixed value");
        }
    }
}

#[test]
fn sizes_are_cut_at_submission_and_when_they_are_late() {
    // HF-ASYNC-17
    for flags in [0, SIZE] {
        let mut case = Case::new().sized(usize::MAX);
        case.mock.pretend_len(max_size());
        case.register_stream(flags).unwrap();
        case.file_offset = 96;
        assert_eq!(case.ends(Read, |case| case.size = usize::MAX - 1), 4000, "up to the end of the file");
        assert_eq!(case.mock.memory()[..4000], pattern(LEN)[96..]);
    }
    let mut case = Case::fast().sized(max_size() + 512);
    case.mock.pretend_len(max_size());
    assert_eq!(case.ends(Read, |case| case.size = usize::MAX - 511), max_size() as isize);
}

#[test]
fn a_late_size_may_shrink_to_nothing() {
    let mut case = Case::new();
    assert_eq!(case.ends(Read, |case| case.size = 0), 0);
    assert_eq!(case.mock.memory(), [0xee; LEN]);
}

#[test]
fn the_flags_are_those_of_the_registration_at_submission() {
    // HF-STREAM-08
    let mut case = Case::new();
    case.register_stream(SIZE).unwrap();
    let result = case.ends(Read, |case| {
        case.driver.deregister_stream(STREAM).unwrap();
        case.register_stream(0).unwrap();
        case.size = 60;
    });
    assert_eq!(result, 100);
    case.size = 100;
    assert_eq!(case.ends(Read, |case| case.size = 60), 60, "registered without flags meanwhile");
}
