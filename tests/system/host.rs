//! Files and host memory.

use std::fs;
use std::os::unix::fs::OpenOptionsExt;

use hipfile::alloc::{DeviceBuffer, PinnedBuffer};
use hipfile::{Driver, ErrorKind, FileHandle, OpenOptions};
use hipfile_tests::isolate::{alone, in_child};

use crate::common::{Scratch, descriptors, open, pattern};

/// HF-FALL-13: host memory and device memory see one file.
#[test]
fn pinned_memory_round_trips() {
    let scratch = Scratch::new();
    let content = pattern(100_003, 1);
    let path = scratch.file("data", &content);
    let driver = Driver::open().unwrap();
    let file = open(&driver, &path);
    let mut pinned = PinnedBuffer::zeroed(100_010).unwrap();
    assert_eq!(file.read_host_at(&mut pinned, 0).unwrap(), 100_003);
    assert!(pinned[..100_003] == content && pinned[100_003..] == [0; 7]);
    assert_eq!(file.read_host_at(&mut pinned, 100_003).unwrap(), 0);

    let memory = DeviceBuffer::from_host(&content[..5000]).unwrap();
    file.write_all_at(memory.slice(..).unwrap(), 100_003).unwrap();
    file.read_host_exact_at(&mut pinned[..5000], 100_003).unwrap();
    assert!(pinned[..5000] == content[..5000]);
    file.write_host_all_at(&pinned[1..11], 3).unwrap();
    let mut back = DeviceBuffer::zeroed(13).unwrap();
    file.read_exact_at(back.slice_mut(..).unwrap(), 0).unwrap();
    assert_eq!(back.to_vec().unwrap(), [&content[..3], &content[1..11]].concat());
}

/// A file open for direct I/O takes any alignment, at the price of one more descriptor, which goes with the file.
#[test]
fn direct_descriptors_take_any_alignment() {
    alone("host::direct_descriptors_take_any_alignment", || {
        let scratch = Scratch::new();
        let content = pattern(10_007, 2);
        let path = scratch.file("data", &content);
        let driver = Driver::open().unwrap();
        if fs::File::options().read(true).custom_flags(libc::O_DIRECT).open(&path).is_err() {
            return println!("skipped: the temporary folder has no direct I/O");
        }
        drop(open(&driver, &path)); // whatever the first use opens is open now
        let before = descriptors();
        let file = OpenOptions::new().read(true).write(true).direct(true).open(&driver, &path).unwrap();
        let mut memory = vec![0; 20_000];
        for (start, len, offset) in [(0, 20_000, 0), (1, 777, 3), (4096, 4096, 8192), (7, 1, 10_006)] {
            let there = content.len().saturating_sub(offset).min(len);
            let slice = &mut memory[start..start + len.min(20_000 - start)];
            assert_eq!(file.read_host_at(slice, offset as u64).unwrap(), there, "{len} at {offset}");
            assert!(slice[..there] == content[offset..offset + there], "{len} at {offset}");
        }
        file.write_host_all_at(b"abc", 5).unwrap();
        let mut expected = content.clone();
        expected[5..8].copy_from_slice(b"abc");
        assert!(fs::read(&path).unwrap() == expected);
        drop(file);
        assert_eq!(descriptors(), before);
    });
}

#[test]
fn errors_say_what_was_done() {
    let scratch = Scratch::new();
    let path = scratch.file("data", b"0123456789");
    let driver = Driver::open().unwrap();
    let file = open(&driver, &path);
    let mut memory = [0; 8];
    let error = file.read_host_exact_at(&mut memory, 4).unwrap_err();
    assert_eq!((error.kind(), error.bytes_done()), (ErrorKind::UnexpectedEof, 6));
    let text = format!("read {} at offset 4, 8 bytes, 6 done: the file ended early", path.display());
    assert_eq!(error.to_string(), text);
    assert_eq!(memory, *b"456789\0\0");

    for (offset, len) in [(u64::MAX, 0), (i64::MAX.unsigned_abs() - 7, 8)] {
        assert_eq!(
            file.read_host_at(&mut memory[..len], offset).unwrap_err().kind(),
            ErrorKind::InvalidInput
        );
        assert_eq!(
            file.write_host_all_at(&memory[..len], offset).unwrap_err().kind(),
            ErrorKind::InvalidInput
        );
    }
    let reader = OpenOptions::new().read(true).open(&driver, &path).unwrap();
    let error = reader.write_host_at(&memory, 0).unwrap_err();
    let text = format!("write {} at offset 0, 8 bytes: the file is not open for writing", path.display());
    assert_eq!((error.kind(), error.to_string()), (ErrorKind::InvalidInput, text));
    let writer = OpenOptions::new().write(true).open(&driver, &path).unwrap();
    assert_eq!(writer.read_host_exact_at(&mut memory, 0).unwrap_err().kind(), ErrorKind::InvalidInput);
    // No bytes, no direction.
    assert_eq!(reader.write_host_at(&[], 0).unwrap() + writer.read_host_at(&mut [], 5).unwrap(), 0);

    let full = FileHandle::new(&driver, fs::File::options().write(true).open("/dev/full").unwrap()).unwrap();
    let error = full.write_host_all_at(&memory, 0).unwrap_err();
    assert_eq!((error.os_error(), error.bytes_done()), (Some(libc::ENOSPC), 0));
    assert_eq!(fs::read(&path).unwrap(), b"0123456789");
}

/// SND-16
#[test]
fn a_forked_child_gets_errors() {
    alone("host::a_forked_child_gets_errors", || {
        let scratch = Scratch::new();
        let driver = Driver::open().unwrap();
        let file = open(&driver, &scratch.file("data", b"0123456789"));
        let mut memory = [0; 4];
        let passed = in_child(|| {
            let refused = [
                file.read_host_at(&mut memory, 0).err(),
                file.write_host_all_at(&memory, 0).err(),
                file.len().err(),
                file.set_len(0).err(),
                file.sync_data().err(),
                file.sync_all().err(),
                file.preallocate(0, 1).err(),
                file.try_clone().err(),
            ];
            refused.into_iter().all(|error| error.is_some_and(|error| error.kind() == ErrorKind::Forked))
        });
        assert!(passed);
        assert_eq!(file.len().unwrap(), 10);
    });
}
