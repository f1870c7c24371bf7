//! Things that are no regular files, and files without permission.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::net::UnixStream;

use hipfile::alloc::DeviceBuffer;
use hipfile::{Driver, ErrorKind, FileHandle, OpError, OpenOptions};

use crate::common::Scratch;

fn register(driver: &Driver, fd: impl Into<OwnedFd>) -> FileHandle {
    FileHandle::new(driver, fd).unwrap()
}

/// HF-FILE-21, HF-FILE-22: told before the library is asked, which has a bad descriptor to offer.
#[test]
fn the_wrong_direction_is_told_in_words() {
    let scratch = Scratch::new();
    let path = scratch.file("data", b"0123456789");
    let driver = Driver::open().unwrap();
    let mut memory = DeviceBuffer::zeroed(10).unwrap();

    let reader = OpenOptions::new().read(true).open(&driver, &path).unwrap();
    let error = reader.write_at(memory.slice(..).unwrap(), 0).unwrap_err();
    assert_eq!((error.kind(), error.os_error()), (ErrorKind::InvalidInput, None));
    assert_eq!(
        error.to_string(),
        format!("write {} at offset 0, 10 bytes: the file is not open for writing", path.display())
    );
    assert_eq!(error.bytes_done(), 0);
    assert_eq!(std::io::Error::from(error).kind(), std::io::ErrorKind::InvalidInput);

    let writer = OpenOptions::new().write(true).open(&driver, &path).unwrap();
    let error = writer.read_exact_at(memory.slice_mut(2..).unwrap(), 1).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("read {} at offset 1, 8 bytes: the file is not open for reading", path.display())
    );
    assert_eq!(memory.to_vec().unwrap(), [0; 10]);
    assert_eq!(std::fs::read(&path).unwrap(), b"0123456789");
}

/// HF-FILE-28, HF-FILE-32.
#[test]
fn directories_and_paths_register_and_fail_to_read() {
    let driver = Driver::open().unwrap();
    let mut memory = DeviceBuffer::zeroed(1).unwrap();
    let directory = register(&driver, File::open("/").unwrap());
    let error = directory.read_at(memory.slice_mut(..).unwrap(), 0).unwrap_err();
    assert_eq!(error.os_error(), Some(libc::EISDIR));
    let o_path = File::options().read(true).custom_flags(libc::O_PATH).open("/proc/self/exe").unwrap();
    let o_path = register(&driver, o_path);
    let error = o_path.read_at(memory.slice_mut(..).unwrap(), 0).unwrap_err();
    assert_eq!(error.os_error(), Some(libc::EBADF));
}

/// HF-FILE-26, HF-FALL-15.
#[test]
fn pipes_register_and_can_not_seek() {
    let driver = Driver::open().unwrap();
    let (reader, _writer) = std::io::pipe().unwrap();
    let pipe = register(&driver, reader);
    let mut memory = DeviceBuffer::zeroed(1).unwrap();
    let error = pipe.read_at(memory.slice_mut(..).unwrap(), 0).unwrap_err();
    assert_eq!(error.os_error(), Some(libc::ESPIPE));
    assert!(error.to_string().starts_with("read descriptor "), "{error}");
    assert_eq!(std::io::Error::from(error).kind(), std::io::ErrorKind::NotSeekable);
}

/// HF-FILE-30, HF-FILE-31, HF-FILE-29.
#[test]
fn devices_and_procfs_files_read_through_the_fallback() {
    let driver = Driver::open().unwrap();
    let mut memory = DeviceBuffer::from_host(&[7; 5]).unwrap();
    let zero = register(&driver, File::open("/dev/zero").unwrap());
    zero.read_exact_at(memory.slice_mut(..).unwrap(), 0).unwrap();
    assert_eq!(memory.to_vec().unwrap(), [0; 5]);
    let null = register(&driver, File::open("/dev/null").unwrap());
    assert_eq!(null.read_at(memory.slice_mut(..).unwrap(), 0).unwrap(), 0);
    let version = register(&driver, File::open("/proc/version").unwrap());
    assert_eq!(version.read_at(memory.slice_mut(..).unwrap(), 0).unwrap(), 5);
    assert_eq!(memory.to_vec().unwrap(), b"Linux");
}

/// HF-FILE-33, HF-FILE-34, HF-FILE-35: what can't be opened again. The descriptor comes back.
#[test]
fn sockets_and_temporary_files_are_refused() {
    let driver = Driver::open().unwrap();
    let (socket, mut peer) = UnixStream::pair().unwrap();
    let (error, fd) = FileHandle::new(&driver, socket).unwrap_err().into_parts();
    assert_eq!((error.kind(), error.op_error()), (ErrorKind::Internal, Some(OpError::InternalError)));
    let text = error.to_string();
    assert!(text.starts_with("register file descriptor "), "{text}");
    assert!(text.ends_with(": internal error of the library (5030 hipFileInternalError)"), "{text}");
    std::io::Write::write_all(&mut UnixStream::from(fd), b"x").unwrap();
    std::io::Read::read_exact(&mut peer, &mut [0]).unwrap();

    let scratch = Scratch::new();
    let folder = scratch.path("");
    let refused =
        OpenOptions::new().write(true).custom_flags(libc::O_TMPFILE).open(&driver, &folder).unwrap_err();
    if refused.os_error().is_none() {
        assert_eq!(refused.op_error(), Some(OpError::InternalError));
        assert_eq!(refused.path(), Some(folder.as_path()));
    }
}
