//! Owned reads and writes under every combination of stream flags, on either path and with every release.

use hipfile::{OpError, StreamFlags};
use hipfile_tests::isolate::isolated;
use hipfile_tests::{library, soft};

use super::{FALLBACK, PAGE, World, bytes, combinations, only_fast};
use crate::common::pattern;

const LEN: usize = 16 * PAGE;

/// Reads a part of the file into the middle of the memory and writes another part of the memory to the file: all other
/// bytes stay as they were.
fn there_and_back(flags: StreamFlags, len: usize, offset: u64) {
    let world = World::new(LEN);
    let stream = world.stream(flags);
    let start = usize::try_from(offset).unwrap();

    let mut head = world.region(LEN, 0x5a);
    let mut middle = head.split_off(4 * PAGE).unwrap();
    let tail = middle.split_off(len).unwrap();
    let done = world.file.read_owned(&stream, middle, offset).wait().unwrap();
    assert_eq!(done.bytes, len, "{flags:?}");
    head.unsplit(done.region).unwrap();
    head.unsplit(tail).unwrap();
    let mut expected = vec![0x5a; LEN];
    expected[4 * PAGE..4 * PAGE + len].copy_from_slice(&world.content[start..start + len]);
    assert!(bytes(&head) == expected, "{flags:?}: only the region was written");

    let new = pattern(len, 41);
    let done = world.file.write_owned(&stream, world.region_of(&new), offset).wait().unwrap();
    assert_eq!(done.bytes, len, "{flags:?}");
    assert!(bytes(&done.region) == new, "{flags:?}: a write leaves the memory alone");
    let mut expected = world.content.clone();
    expected[start..start + len].copy_from_slice(&new);
    assert!(world.file_content() == expected, "{flags:?}: only the range was written");
    stream.deregister().unwrap();
}

/// All combinations, aligned; or else not aligned.
fn all_combinations(aligned: bool) {
    let (len, offset) = if aligned { (2 * PAGE, PAGE as u64) } else { (2 * PAGE + 7, 13) };
    combinations().for_each(|flags| there_and_back(flags, len, offset));
}

/// SND-01, HF-ASYNC-21
#[test]
fn all_combinations_on_the_fallback() {
    isolated("streams::flags::all_combinations_on_the_fallback", &FALLBACK, || {
        all_combinations(true);
        all_combinations(false);
    });
}

/// There is no other path, so what is not aligned is refused. Before 0.5 there is only the other.
#[test]
fn all_combinations_on_the_fast_path() {
    only_fast("streams::flags::all_combinations_on_the_fast_path", || {
        all_combinations(true);
        let world = World::new(LEN);
        let stream = world.stream(StreamFlags::FIXED_VALUES);
        let read = world.file.read_owned(&stream, world.region(PAGE, 0), 1).wait();
        if library::has_0_5() {
            assert_eq!(read.unwrap_err().error().op_error(), Some(OpError::InternalError), "HF-ASYNC-25");
        } else {
            assert!(bytes(&read.unwrap().region) == world.content[1..=PAGE]);
        }
    });
}

/// Whatever path the library takes.
#[test]
fn all_combinations_as_it_comes() {
    all_combinations(true);
    all_combinations(false);
}

/// HF-ASYNC-26
#[test]
fn all_combinations_with_0_4() {
    let version = [("SOFT_ROCM_HIPFILE_VERSION", "0.4")];
    soft::only("streams::flags::all_combinations_with_0_4", &version, || {
        all_combinations(true);
        all_combinations(false);
    });
}

#[test]
fn all_combinations_with_0_2() {
    let version = [("SOFT_ROCM_HIPFILE_VERSION", "0.2")];
    soft::only("streams::flags::all_combinations_with_0_2", &version, || {
        all_combinations(true);
        all_combinations(false);
    });
}
