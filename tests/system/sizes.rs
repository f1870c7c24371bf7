//! Sizes, room and durability of files, and files that change while they are read.

use std::fs;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;

use hipfile::alloc::DeviceBuffer;
use hipfile::{Driver, ErrorKind, FileHandle, OpenOptions, Preallocated};
use hipfile_tests::isolate::alone;
use hipfile_tests::soft;

use crate::common::{Scratch, descriptors, filled, open, pattern};

#[test]
fn the_size_is_read_and_set() {
    let scratch = Scratch::new();
    let content = pattern(10_007, 1);
    let path = scratch.file("data", &content);
    let driver = Driver::open().unwrap();
    let file = open(&driver, &path);
    assert_eq!(file.len().unwrap(), 10_007);
    file.set_len(5).unwrap();
    assert_eq!((file.len().unwrap(), fs::read(&path).unwrap()), (5, content[..5].to_vec()));
    file.set_len(9).unwrap();
    assert_eq!(fs::read(&path).unwrap()[5..], [0; 4]);
    let error = file.set_len(u64::MAX).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert!(error.to_string().starts_with(&format!("set size of {}: ", path.display())), "{error}");
    let reader = OpenOptions::new().read(true).open(&driver, &path).unwrap();
    let error = reader.set_len(0).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("set size of {}: the file is not open for writing", path.display())
    );
    assert_eq!(reader.len().unwrap(), 9);
}

#[test]
fn syncing_answers_what_the_system_does() {
    let scratch = Scratch::new();
    let driver = Driver::open().unwrap();
    let file = open(&driver, &scratch.file("data", b"0123"));
    file.write_all_at(DeviceBuffer::from_host(b"abc").unwrap().slice(..).unwrap(), 0).unwrap();
    file.sync_data().unwrap();
    file.sync_all().unwrap();
    let (reader, _writer) = std::io::pipe().unwrap();
    let pipe = FileHandle::new(&driver, reader).unwrap();
    for error in [pipe.sync_data().unwrap_err(), pipe.sync_all().unwrap_err()] {
        assert_eq!((error.operation(), error.os_error()), ("sync", Some(libc::EINVAL)), "{error}");
    }
}

#[test]
fn room_is_made_and_content_stays() {
    let scratch = Scratch::new();
    let path = scratch.file("data", b"0123");
    let driver = Driver::open().unwrap();
    let file = open(&driver, &path);
    let made = file.preallocate(2, 1 << 20).unwrap();
    let metadata = fs::metadata(&path).unwrap();
    assert_eq!(metadata.len(), (1 << 20) + 2);
    if made == Preallocated::Reserved {
        assert!(metadata.blocks() * 512 >= 1 << 20, "{} blocks", metadata.blocks());
    }
    let mut expected = vec![0; (1 << 20) + 2];
    expected[..4].copy_from_slice(b"0123");
    assert!(fs::read(&path).unwrap() == expected);
    file.preallocate(0, 10).unwrap();
    assert_eq!(file.len().unwrap(), (1 << 20) + 2, "never shorter");

    let error = file.preallocate(1, u64::MAX).unwrap_err();
    assert_eq!((error.kind(), error.offset()), (ErrorKind::InvalidInput, Some(1)));
    let reader = OpenOptions::new().read(true).open(&driver, &path).unwrap();
    let error = reader.preallocate(0, 1).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("preallocate {} at offset 0, 1 bytes: the file is not open for writing", path.display())
    );
    let null = FileHandle::new(&driver, fs::File::options().write(true).open("/dev/null").unwrap()).unwrap();
    assert_eq!(null.preallocate(0, 1).unwrap_err().os_error(), Some(libc::ENODEV));
}

/// HF-FILE-12, SND-08.
#[test]
fn a_clone_is_a_registration_of_its_own() {
    alone("sizes::a_clone_is_a_registration_of_its_own", || {
        let scratch = Scratch::new();
        let path = scratch.file("data", b"0123456789");
        let driver = Driver::open().unwrap();
        drop(open(&driver, &path)); // whatever the first use opens is open now
        let before = descriptors();
        let file = open(&driver, &path);
        let each = descriptors() - before;
        let clone = file.try_clone().unwrap();
        assert_eq!(descriptors(), before + 2 * each);
        assert_ne!(file.as_raw(), clone.as_raw());
        assert_eq!((clone.path(), clone.flags(), clone.mode()), (file.path(), file.flags(), file.mode()));
        drop(file);
        let mut memory = DeviceBuffer::zeroed(10).unwrap();
        clone.read_exact_at(memory.slice_mut(..).unwrap(), 0).unwrap();
        assert_eq!(memory.to_vec().unwrap(), b"0123456789");

        // No descriptor is free.
        let free = take_free_descriptors(&clone);
        let error = clone.try_clone().unwrap_err();
        assert_eq!((error.operation(), error.os_error()), ("duplicate", Some(libc::EMFILE)), "{error}");
        drop(free);
        drop(clone);
        assert_eq!(descriptors(), before);
    });
}

/// Takes all free descriptors, up to a limit of 64.
fn take_free_descriptors(file: &FileHandle) -> Vec<std::os::fd::OwnedFd> {
    use std::os::fd::AsFd;
    let limit = libc::rlimit { rlim_cur: 64, rlim_max: 64 };
    // SAFETY: requires a limit to read; holds for the local.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) }, 0);
    assert!(file.as_fd().as_raw_fd() < 64);
    std::iter::from_fn(|| file.as_fd().try_clone_to_owned().ok()).collect()
}

/// Waits until the plan of libhipfile holds a call.
fn wait_for_held_call() {
    while soft::held_by_hipfile() + soft::held_by_hip() == 0 {
        std::thread::yield_now();
    }
}

/// HF-READ-25: a file that is cut, or grows, between two calls: counted is what was there.
#[test]
fn files_that_change_under_a_read_end_in_exact_counts() {
    let fallback = [("HIPFILE_FORCE_COMPAT_MODE", "true")];
    soft::only("sizes::files_that_change_under_a_read_end_in_exact_counts", &fallback, || {
        let scratch = Scratch::new();
        let driver = Driver::open().unwrap();
        let content = pattern(100_000, 3);
        // The length that the file has when the second call comes, and how much of 90,000 bytes at 7 there is then.
        for (changed, filled_bytes) in [(50_007, 50_000), (20_000, 20_000), (0, 20_000), (200_000, 90_000)] {
            let path = scratch.file("data", &content);
            let file = open(&driver, &path);
            let mut memory = filled(90_000, 0xa5);
            soft::plan_hipfile("pread:short=20000@1;pread:pause@2");
            let result = std::thread::scope(|scope| {
                let read = scope.spawn(|| file.read_exact_at(memory.slice_mut(..).unwrap(), 7));
                wait_for_held_call();
                file.set_len(changed).unwrap();
                soft::plan_hipfile("");
                read.join().unwrap()
            });
            match result {
                Ok(()) => assert_eq!(filled_bytes, 90_000),
                Err(error) => {
                    assert_eq!((error.kind(), error.bytes_done()), (ErrorKind::UnexpectedEof, filled_bytes));
                }
            }
            let now = memory.to_vec().unwrap();
            assert!(now[..filled_bytes] == content[7..7 + filled_bytes], "cut to {changed}");
            assert!(now[filled_bytes..].iter().all(|&byte| byte == 0xa5), "cut to {changed}");
        }
    });
}

/// HF-READ-26: the same within one call.
#[test]
fn a_single_read_counts_what_is_there() {
    let fallback = [("HIPFILE_FORCE_COMPAT_MODE", "true")];
    soft::only("sizes::a_single_read_counts_what_is_there", &fallback, || {
        let scratch = Scratch::new();
        let driver = Driver::open().unwrap();
        let content = pattern(100_000, 4);
        for (changed, count) in [(4097, 4097), (0, 0), (150_000, 120_000)] {
            let path = scratch.file("data", &content);
            let file = open(&driver, &path);
            let mut memory = filled(120_000, 0xa5);
            soft::plan_hipfile("pread:pause@1");
            let result = std::thread::scope(|scope| {
                let read = scope.spawn(|| file.read_at(memory.slice_mut(..).unwrap(), 0));
                wait_for_held_call();
                file.set_len(changed).unwrap();
                soft::plan_hipfile("");
                read.join().unwrap()
            });
            assert_eq!(result.unwrap(), count);
            let mut expected = content.clone();
            expected.resize(150_000, 0);
            assert!(memory.to_vec().unwrap()[..count] == expected[..count], "length {changed}");
        }
    });
}

/// HF-READ-29: what is written into a file that was cut meanwhile is there, with zeros before it.
#[test]
fn a_file_cut_under_a_write_has_what_was_written_after() {
    let fallback = [("HIPFILE_FORCE_COMPAT_MODE", "true")];
    soft::only("sizes::a_file_cut_under_a_write_has_what_was_written_after", &fallback, || {
        let scratch = Scratch::new();
        let driver = Driver::open().unwrap();
        let content = pattern(50_000, 5);
        let path = scratch.file("data", b"");
        let file = open(&driver, &path);
        let memory = DeviceBuffer::from_host(&content).unwrap();
        soft::plan_hipfile("pwrite:short=20000@1;pwrite:pause@2");
        std::thread::scope(|scope| {
            let write = scope.spawn(|| file.write_all_at(memory.slice(..).unwrap(), 0));
            wait_for_held_call();
            assert_eq!(file.len().unwrap(), 20_000);
            file.set_len(100).unwrap();
            soft::plan_hipfile("");
            write.join().unwrap().unwrap();
        });
        let mut expected = content.clone();
        expected[100..20_000].fill(0);
        assert!(fs::read(&path).unwrap() == expected);
    });
}
