//! Transfers between files and device memory through the exported functions.
#![cfg(feature = "ais")]
#![allow(
    non_upper_case_globals,
    clippy::unwrap_used,
    reason = "names of the C header; a panic is a failed test"
)]

mod support;

use std::ffi::c_void;
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::ptr;

use soft_rocm_hip::header::*;
use support::{at, device_bytes, device_memory, host_bytes, passes_in_process, pattern, pinned_memory};

/// Code, count and status of a call.
type Answer = (hipError_t, u64, i32);

fn read(fd: i32, pointer: *mut c_void, size: u64, offset: i64) -> Answer {
    let (mut copied, mut status) = (77, 77);
    let handle = hipAmdFileHandle_t { fd };
    // SAFETY: requires writable places; holds, they are locals.
    let code = unsafe { hipAmdFileRead(handle, pointer, size, offset, &mut copied, &mut status) };
    (code, copied, status)
}

fn write(fd: i32, pointer: *mut c_void, size: u64, offset: i64) -> Answer {
    let (mut copied, mut status) = (77, 77);
    let handle = hipAmdFileHandle_t { fd };
    // SAFETY: requires writable places; holds, they are locals.
    let code = unsafe { hipAmdFileWrite(handle, pointer, size, offset, &mut copied, &mut status) };
    (code, copied, status)
}

fn file(bytes: &[u8]) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file
}

/// The two ends of a pipe.
fn pipe() -> [OwnedFd; 2] {
    let mut ends = [0; 2];
    // SAFETY: requires room for two descriptors; holds for the array.
    assert_eq!(unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) }, 0);
    // SAFETY: requires open descriptors that nothing owns; holds, they were just made.
    ends.map(|fd| unsafe { OwnedFd::from_raw_fd(fd) })
}

fn refused(errno: i32) -> Answer {
    (hipErrorUnknown, 0, errno)
}

#[test]
fn a_file_is_read_into_the_middle_of_an_allocation() {
    let bytes = pattern(1_000_003);
    let file = file(&bytes);
    let device = device_bytes(&vec![1; bytes.len() + 200]);
    assert_eq!(read(file.as_raw_fd(), at(device, 100), 1_000_000, 3), (hipSuccess, 1_000_000, 0));
    let found = host_bytes(device, bytes.len() + 200);
    assert_eq!(found[100..1_000_100], bytes[3..]);
    assert_eq!((&found[..100], &found[1_000_100..]), (&[1u8; 100][..], &[1u8; 103][..]));
}

#[test]
fn device_memory_is_written_to_a_file() {
    let bytes = pattern(100_000);
    let device = device_bytes(&bytes);
    let file = file(b"");
    assert_eq!(write(file.as_raw_fd(), at(device, 5), 99_995, 4096), (hipSuccess, 99_995, 0));
    let mut found = vec![1; 104_091];
    assert_eq!(file.read_at(&mut found, 0).unwrap(), found.len());
    assert_eq!(found[..4096], [0; 4096]);
    assert_eq!(found[4096..], bytes[5..]);
}

#[test]
fn reading_stops_at_the_end_of_the_file() {
    let file = file(b"hello");
    let device = device_bytes(&[1; 100]);
    assert_eq!(read(file.as_raw_fd(), device, 100, 2), (hipSuccess, 3, 0));
    assert_eq!(host_bytes(device, 5), *b"llo\x01\x01");
    assert_eq!(read(file.as_raw_fd(), device, 100, 5), (hipSuccess, 0, 0));
    assert_eq!(read(file.as_raw_fd(), device, 100, 5000), (hipSuccess, 0, 0));
}

#[test]
fn what_the_system_refuses_is_told_by_its_number() {
    let device = device_memory(100);
    let readable = File::open("/proc/self/exe").unwrap();
    let [reader, _writer] = pipe();
    assert_eq!(read(-1, device, 100, 0), refused(libc::EBADF));
    assert_eq!(write(readable.as_raw_fd(), device, 100, 0), refused(libc::EBADF));
    assert_eq!(read(readable.as_raw_fd(), device, 100, -1), refused(libc::EINVAL));
    assert_eq!(read(File::open("/").unwrap().as_raw_fd(), device, 100, 0), refused(libc::EISDIR));
    assert_eq!(read(reader.as_raw_fd(), device, 100, 0), refused(libc::ESPIPE));
    assert_eq!(hipGetLastError(), hipErrorUnknown);
}

#[test]
fn memory_has_to_be_one_live_allocation_of_the_device() {
    let file = file(&[1; 4096]);
    let fd = file.as_raw_fd();
    let device = device_memory(4096);
    let freed = device_memory(4096);
    let pinned = pinned_memory(4096, 0);
    let mut host = [0u8; 10];
    assert_eq!(hipFree(freed), hipSuccess);
    for (pointer, size) in [
        (host.as_mut_ptr().cast(), 10),
        (pinned, 10),
        (freed, 10),
        (ptr::null_mut(), 10),
        (device, 4097),
        (at(device, 1), 4096),
        (at(device, 1), u64::MAX),
    ] {
        assert_eq!(read(fd, pointer, size, 0), refused(libc::EINVAL), "{pointer:?} {size}");
        assert_eq!(write(fd, pointer, size, 0), refused(libc::EINVAL), "{pointer:?} {size}");
    }
    assert_eq!(host, [0; 10]);
    assert_eq!(host_bytes(device, 4096), [0; 4096]);
    assert_eq!(file.metadata().unwrap().len(), 4096);
}

#[test]
fn nothing_is_a_size() {
    assert_eq!(read(-1, ptr::null_mut(), 0, 0), (hipSuccess, 0, 0));
    assert_eq!(write(-1, ptr::null_mut(), 0, 0), (hipSuccess, 0, 0));
}

#[test]
fn both_places_are_needed() {
    let device = device_memory(10);
    let handle = hipAmdFileHandle_t { fd: -1 };
    // SAFETY: requires NULL or writable places; holds.
    let code = unsafe { hipAmdFileRead(handle, device, 10, 0, ptr::null_mut(), &mut 0) };
    assert_eq!(code, hipErrorInvalidValue);
    // SAFETY: as above.
    let code = unsafe { hipAmdFileWrite(handle, device, 10, 0, &mut 0, ptr::null_mut()) };
    assert_eq!(code, hipErrorInvalidValue);
}

#[test]
fn unbuffered_files_are_read_and_written() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = dir.path().join("direct");
    let mut options = File::options();
    options.read(true).write(true).create(true).custom_flags(libc::O_DIRECT);
    let file = match options.open(path) {
        Ok(file) => file,
        Err(error) => return println!("skipped: no O_DIRECT in {}: {error}", dir.path().display()),
    };
    let bytes = pattern(64 << 10);
    let (source, target) = (device_bytes(&bytes), device_memory(64 << 10));
    assert_eq!(write(file.as_raw_fd(), source, 64 << 10, 4096), (hipSuccess, 64 << 10, 0));
    assert_eq!(read(file.as_raw_fd(), target, 64 << 10, 4096), (hipSuccess, 64 << 10, 0));
    assert_eq!(host_bytes(target, 64 << 10), bytes);
}

/// HF-HIP-45
#[test]
fn the_drivers_alignment_is_asked_for_on_request() {
    passes_in_process(
        "the_drivers_alignment_is_asked_for_on_request",
        &[("SOFT_ROCM_KFD_ALIGN", "1")],
        || {
            let file = file(&pattern(3 * 4096));
            let fd = file.as_raw_fd();
            let device = device_memory(3 * 4096);
            for (offset, size, file_offset) in [(0, 4096, 0), (4096, 8192, 4096), (0, 0, 1), (1, 0, 0)] {
                let done = (hipSuccess, size, 0);
                assert_eq!(read(fd, at(device, offset), size, file_offset), done);
                assert_eq!(write(fd, at(device, offset), size, file_offset), done);
            }
            // Short at the end of the file, as without the rule.
            assert_eq!(read(fd, device, 12288, 8192), (hipSuccess, 4096, 0));
            for (offset, size, file_offset) in
                [(1, 4096, 0), (512, 4096, 0), (0, 512, 0), (0, 4097, 0), (0, 4096, 512), (0, 4096, -1)]
            {
                assert_eq!(read(fd, at(device, offset), size, file_offset), refused(libc::EINVAL));
                assert_eq!(write(fd, at(device, offset), size, file_offset), refused(libc::EINVAL));
            }
        },
    );
}

#[test]
fn a_write_that_the_system_limits_is_short_and_then_refused() {
    passes_in_process("a_write_that_the_system_limits_is_short_and_then_refused", &[], || {
        let file = file(b"");
        let device = device_bytes(&pattern(10000));
        // SAFETY: requires a handler that may run at any time; holds, none does.
        unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
        let limit = libc::rlimit { rlim_cur: 6000, rlim_max: libc::RLIM_INFINITY };
        // SAFETY: requires a readable place; holds, it is a local.
        assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &limit) }, 0);
        assert_eq!(write(file.as_raw_fd(), device, 10000, 0), (hipSuccess, 6000, 0));
        assert_eq!(write(file.as_raw_fd(), at(device, 6000), 4000, 6000), refused(libc::EFBIG));
    });
}

#[test]
fn without_a_device_there_is_nothing_to_transfer() {
    let none = [("SOFT_ROCM_DEVICE_COUNT", "0")];
    passes_in_process("without_a_device_there_is_nothing_to_transfer", &none, || {
        // The places stay as they were.
        assert_eq!(read(0, ptr::null_mut(), 1, 0), (hipErrorInvalidDevice, 77, 77));
        assert_eq!(write(0, ptr::null_mut(), 1, 0), (hipErrorInvalidDevice, 77, 77));
    });
}
