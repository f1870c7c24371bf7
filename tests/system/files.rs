//! Opening, registering and giving back files.

use std::fs::{self, File};
use std::io::{Seek, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::{FileExt, MetadataExt};

use hipfile::alloc::DeviceBuffer;
use hipfile::{Driver, ErrorKind, FileHandle, FileHandleType, OpError, OpenOptions};
use hipfile_tests::isolate::alone;

use crate::common::{Scratch, descriptors, filled, open, pattern};

/// HF-FILE-08.
#[test]
fn accessors_say_what_was_asked_for() {
    let scratch = Scratch::new();
    let path = scratch.path("new");
    let driver = Driver::open().unwrap();
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create_new(true)
        .mode(0o600)
        .custom_flags(libc::O_NOATIME)
        .open(&driver, &path)
        .unwrap();
    assert_eq!(file.path(), Some(path.as_path()));
    assert_eq!(file.flags() & libc::O_ACCMODE, libc::O_RDWR);
    assert_ne!(file.flags() & libc::O_NOATIME, 0);
    assert_eq!(file.flags() & libc::O_DIRECT, 0);
    assert_eq!(file.mode(), 0o600);
    assert_eq!(file.handle_type(), FileHandleType::OpaqueFd);
    assert!(!file.as_raw().is_null());
    let text = format!("{file:?}");
    assert!(text.starts_with("FileHandle { path: Some(") && text.contains("fd: "), "{text}");

    let plain = FileHandle::new(&driver, File::open(&path).unwrap()).unwrap();
    assert_eq!((plain.path(), plain.mode()), (None, 0o600));
    assert_ne!(plain.as_raw(), file.as_raw(), "HF-FILE-12: two opens register independently");
}

/// The options do what those of std do.
#[test]
fn options_are_those_of_std() {
    let scratch = Scratch::new();
    let driver = Driver::open().unwrap();
    let path = scratch.file("data", b"0123456789");
    let refused = OpenOptions::new().write(true).create_new(true).open(&driver, &path).unwrap_err();
    assert_eq!(refused.os_error(), Some(libc::EEXIST));
    assert_eq!(refused.to_string(), format!("open {}: file exists (17 EEXIST)", path.display()));
    OpenOptions::new().write(true).truncate(true).open(&driver, &path).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().len(), 0);

    let nothing = OpenOptions::new().open(&driver, &path).unwrap_err();
    // Older versions of std leave this to the system.
    assert!(
        nothing.kind() == ErrorKind::InvalidInput || nothing.os_error() == Some(libc::EINVAL),
        "{nothing}"
    );
    let missing = OpenOptions::default().read(true).open(&driver, scratch.path("none")).unwrap_err();
    assert_eq!((missing.kind(), missing.os_error()), (ErrorKind::Os, Some(libc::ENOENT)));
    assert_eq!(missing.path(), Some(scratch.path("none").as_path()));
    let zero = OpenOptions::new().read(true).open(&driver, "a\0b").unwrap_err();
    assert_eq!(zero.kind(), ErrorKind::InvalidInput);
    assert!(zero.to_string().starts_with("open a\0b: "), "{zero}");
    assert_eq!(zero.os_error(), None);
}

/// HF-FILE-03, HF-FILE-04.
#[test]
fn other_handle_types_are_refused_with_the_library_s_code() {
    let scratch = Scratch::new();
    let driver = Driver::open().unwrap();
    let path = scratch.file("data", b"x");
    for handle_type in [FileHandleType::OpaqueWin32, FileHandleType::UserspaceFs] {
        let error = OpenOptions::new().read(true).handle_type(handle_type).open(&driver, &path).unwrap_err();
        assert_eq!(
            (error.kind(), error.op_error()),
            (ErrorKind::UnsupportedFile, Some(OpError::IoNotSupported))
        );
    }
}

/// HF-FILE-16, HF-FILE-17, SND-08: the descriptor is ours alone, deregistered before it is closed or handed out.
#[test]
fn descriptors_are_counted_and_come_back() {
    alone("files::descriptors_are_counted_and_come_back", || {
        let scratch = Scratch::new();
        let path = scratch.file("data", b"0123456789");
        let driver = Driver::open().unwrap();
        drop(open(&driver, &path)); // whatever the first use opens is open now
        let before = descriptors();
        let file = open(&driver, &path);
        let with_file = descriptors();
        assert!(with_file > before, "{with_file} after {before}");
        let fd = file.into_fd();
        assert_eq!(descriptors(), before + 1, "the library's own descriptor is gone, ours is left");
        let mut std_file = File::from(fd.try_clone().unwrap());
        std_file.seek(std::io::SeekFrom::End(0)).unwrap();
        std_file.write_all(b"!").unwrap();
        drop(std_file);
        // HF-FILE-44: the number registers again.
        let again = FileHandle::new(&driver, fd).unwrap();
        drop(again);
        assert_eq!(descriptors(), before);
        assert_eq!(fs::read(&path).unwrap(), b"0123456789!");
    });
}

/// HF-FILE-15, SND-08: a number that other code registered and closed.
#[test]
fn a_descriptor_registered_by_others_is_a_typed_error_and_comes_back() {
    let scratch = Scratch::new();
    let driver = Driver::open().unwrap();
    let file = File::open(scratch.file("data", b"0123456789")).unwrap();
    let api = hipfile::sys::api::get().unwrap();
    let mut handle = std::ptr::null_mut();
    let mut description = hipfile::sys::hipFileDescr_t {
        type_: hipfile::sys::hipFileHandleTypeOpaqueFD,
        handle: hipfile::sys::hipFileDescrHandle_t { fd: file.as_raw_fd() },
        fs_ops: std::ptr::null(),
    };
    // SAFETY: requires places for handle and description, and an open descriptor; holds for the locals.
    let registered = unsafe { (api.hipFileHandleRegister)(&raw mut handle, &raw mut description) };
    assert_eq!(registered.err, hipfile::sys::hipFileSuccess);

    let number = file.as_raw_fd();
    let (error, fd) = FileHandle::new(&driver, file).unwrap_err().into_parts();
    assert_eq!(error.kind(), ErrorKind::AlreadyRegistered);
    assert_eq!(
        error.to_string(),
        format!(
            "register file descriptor {number}: file descriptor is already registered (5028 hipFileHandleAlreadyRegistered)"
        )
    );
    assert_eq!(fd.as_raw_fd(), number);
    // SAFETY: requires nothing; the handle is registered.
    unsafe { (api.hipFileHandleDeregister)(handle) };
    assert!(FileHandle::new(&driver, fd).is_ok());
}

/// HF-FILE-19, HF-FILE-20.
#[test]
fn direct_descriptors_work_at_any_alignment() {
    let scratch = Scratch::new();
    let content = pattern(10_007, 1);
    let path = scratch.file("data", &content);
    let driver = Driver::open().unwrap();
    let opened = OpenOptions::new().read(true).write(true).direct(true).open(&driver, &path);
    let file = match opened {
        Ok(file) => file,
        Err(error) => {
            println!("skipped: the temporary folder has no direct I/O: {error}");
            return;
        }
    };
    assert_ne!(file.flags() & libc::O_DIRECT, 0);
    let mut memory = filled(16_384, 0xa5);
    assert_eq!(file.read_at(memory.slice_mut(..).unwrap(), 0).unwrap(), 10_007);
    assert_eq!(&memory.to_vec().unwrap()[..10_007], content);
    assert_eq!(file.read_at(memory.slice_mut(1..102).unwrap(), 777).unwrap(), 101);
    assert_eq!(&memory.to_vec().unwrap()[1..102], &content[777..878]);
    assert_eq!(file.write_at(memory.slice(1..102).unwrap(), 3).unwrap(), 101);
    assert_eq!(&fs::read(&path).unwrap()[3..104], &content[777..878]);
}

/// HF-FALL-12: at an offset of our choice nothing can be written, so nothing is. Reading is as always.
#[test]
fn append_descriptors_are_read_and_not_written() {
    let scratch = Scratch::new();
    let path = scratch.file("data", b"0123");
    let driver = Driver::open().unwrap();
    let file =
        OpenOptions::new().read(true).write(true).custom_flags(libc::O_APPEND).open(&driver, &path).unwrap();
    let mut memory = DeviceBuffer::from_host(b"abc").unwrap();
    let error = file.write_at(memory.slice(..).unwrap(), 0).unwrap_err();
    assert_eq!((error.kind(), error.os_error()), (ErrorKind::InvalidInput, None));
    assert!(error.to_string().contains("the file is open with O_APPEND"), "{error}");
    assert_eq!(fs::read(&path).unwrap(), b"0123");
    file.read_exact_at(memory.slice_mut(..).unwrap(), 1).unwrap();
    assert_eq!(memory.to_vec().unwrap(), b"123");
}

/// HF-READ-32: neither used nor changed.
#[test]
fn the_position_of_the_descriptor_stays() {
    let scratch = Scratch::new();
    let path = scratch.file("data", b"0123456789");
    let driver = Driver::open().unwrap();
    let mut std_file = File::options().read(true).write(true).open(&path).unwrap();
    std_file.seek(std::io::SeekFrom::Start(7)).unwrap();
    let shared = std_file.try_clone().unwrap();
    let file = FileHandle::new(&driver, OwnedFd::from(shared)).unwrap();
    let mut memory = DeviceBuffer::zeroed(4).unwrap();
    file.read_exact_at(memory.slice_mut(..).unwrap(), 2).unwrap();
    file.write_all_at(memory.slice(..).unwrap(), 0).unwrap();
    assert_eq!(std_file.stream_position().unwrap(), 7);
    assert_eq!(fs::read(&path).unwrap(), b"2345456789");
}

/// HF-FALL-13, SND-22: descriptor, other handles and other users see one file.
#[test]
fn all_ways_to_a_file_are_coherent() {
    let scratch = Scratch::new();
    let path = scratch.file("data", &[0; 8192]);
    let driver = Driver::open().unwrap();
    let (one, two) = (open(&driver, &path), open(&driver, &path));
    let mut memory = filled(4096, 1);
    one.write_all_at(memory.slice(..).unwrap(), 4096).unwrap();
    two.write_all_at(memory.slice(..10).unwrap(), 5).unwrap();
    let std_file = File::from(two.as_fd().try_clone_to_owned().unwrap());
    std_file.write_all_at(&[2; 3], 5000).unwrap();
    one.read_exact_at(memory.slice_mut(..).unwrap(), 4096).unwrap();
    let mut expected = vec![0; 8192];
    expected[4096..].fill(1);
    expected[5..15].fill(1);
    expected[5000..5003].fill(2);
    assert_eq!(fs::read(&path).unwrap(), expected);
    assert_eq!(memory.to_vec().unwrap(), &expected[4096..]);
}

/// HF-FILE-23, HF-FILE-24.
#[test]
fn files_without_a_name_work() {
    let scratch = Scratch::new();
    let path = scratch.file("data", b"0123456789");
    let driver = Driver::open().unwrap();
    let unlinked = open(&driver, &path);
    fs::remove_file(&path).unwrap();
    let mut memory = DeviceBuffer::zeroed(10).unwrap();
    unlinked.read_exact_at(memory.slice_mut(..).unwrap(), 0).unwrap();
    assert_eq!(memory.to_vec().unwrap(), b"0123456789");
    // Register an unlinked one, too.
    let again = FileHandle::new(&driver, unlinked.into_fd()).unwrap();
    again.write_all_at(memory.slice(..).unwrap(), 10).unwrap();
    assert_eq!(File::from(again.into_fd()).metadata().unwrap().size(), 20);
}

/// The alignment is what `statx` says, and the file system's word is kept.
#[test]
fn alignment_is_that_of_the_file_system() {
    let scratch = Scratch::new();
    let driver = Driver::open().unwrap();
    let file = open(&driver, &scratch.file("data", b"x"));
    if let Some(alignment) = file.alignment().unwrap() {
        assert!(alignment.memory.is_power_of_two() && alignment.offset.is_power_of_two());
        assert!(alignment.admits(alignment.offset, 0) && !alignment.admits(alignment.offset + 1, 0));
    }
}
