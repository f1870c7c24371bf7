//! The system calls of both libraries. Each passes its point and is else the function of libc with its name: −1 (mmap:
//! `MAP_FAILED`) and `errno` are a failure.
#![allow(clippy::missing_safety_doc, reason = "each requires what the system call does")]

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

use libc::{off_t, pid_t};

use crate::plan::{Call, Fault, Subject};
use crate::points::{Point, point};
use crate::state;

mod sockets;

pub use sockets::*;

/// Whether the plan makes a call fail; `errno` is then set.
#[inline]
fn fails(point: Point, size: usize, subject: Subject<'_>) -> bool {
    !state::idle() && planned(point, size, subject).is_none()
}

/// How many bytes a call may move; None if it fails and `errno` is set.
#[inline]
fn limit(point: Point, size: usize, fd: c_int) -> Option<usize> {
    if state::idle() { Some(size) } else { planned(point, size, Subject::Descriptor(fd)) }
}

#[cold]
fn planned(point: Point, size: usize, subject: Subject<'_>) -> Option<usize> {
    // With a plan that is not accepted the exported functions answer errors and nothing comes here.
    match state::hit(point, &Call { size: size as u64, subject }).ok().flatten() {
        Some(Fault::Errno(errno)) => {
            // SAFETY: requires nothing.
            let place = unsafe { libc::__errno_location() };
            // SAFETY: requires a writable int; holds because it is this thread's errno.
            unsafe { place.write(errno) };
            None
        }
        Some(Fault::Short(most)) => Some(usize::try_from(most).map_or(size, |most| most.min(size))),
        _ => Some(size),
    }
}

/// Reads at an offset.
#[inline]
pub unsafe fn pread(fd: c_int, buf: *mut c_void, count: usize, offset: off_t) -> isize {
    let Some(count) = limit(point::pread, count, fd) else { return -1 };
    // SAFETY: requires that many writable bytes; holds by contract, there are no more than were asked for.
    unsafe { libc::pread(fd, buf, count, offset) }
}

/// Writes at an offset.
#[inline]
pub unsafe fn pwrite(fd: c_int, buf: *const c_void, count: usize, offset: off_t) -> isize {
    let Some(count) = limit(point::pwrite, count, fd) else { return -1 };
    // SAFETY: requires that many readable bytes; holds by contract, there are no more than were asked for.
    unsafe { libc::pwrite(fd, buf, count, offset) }
}

/// Reads at the file's position.
pub unsafe fn read(fd: c_int, buf: *mut c_void, count: usize) -> isize {
    let Some(count) = limit(point::read, count, fd) else { return -1 };
    // SAFETY: requires that many writable bytes; holds by contract, there are no more than were asked for.
    unsafe { libc::read(fd, buf, count) }
}

/// Makes written data durable.
#[must_use]
pub fn fdatasync(fd: c_int) -> c_int {
    if fails(point::fdatasync, 0, Subject::Descriptor(fd)) {
        return -1;
    }
    // SAFETY: requires nothing: the system checks the descriptor.
    unsafe { libc::fdatasync(fd) }
}

/// Opens a file.
#[must_use]
pub fn open(path: &CStr, flags: c_int, mode: c_uint) -> c_int {
    if fails(point::open, 0, Subject::Path(path)) {
        return -1;
    }
    // SAFETY: requires a C string; holds by its type.
    unsafe { libc::open(path.as_ptr(), flags, mode) }
}

/// Facts about a file.
pub unsafe fn statx(
    fd: c_int,
    path: *const c_char,
    flags: c_int,
    mask: c_uint,
    facts: *mut libc::statx,
) -> c_int {
    if fails(point::statx, 0, Subject::Descriptor(fd)) {
        return -1;
    }
    // SAFETY: requires a C string and a writable structure; holds by contract.
    unsafe { libc::statx(fd, path, flags, mask, facts) }
}

/// Facts about a file system.
pub unsafe fn fstatfs(fd: c_int, facts: *mut libc::statfs) -> c_int {
    if fails(point::fstatfs, 0, Subject::Descriptor(fd)) {
        return -1;
    }
    // SAFETY: requires a writable structure; holds by contract.
    unsafe { libc::fstatfs(fd, facts) }
}

/// Asks or tells about a descriptor, by a command that takes a number or nothing.
pub unsafe fn fcntl(fd: c_int, command: c_int, argument: c_int) -> c_int {
    if fails(point::fcntl, 0, Subject::Descriptor(fd)) {
        return -1;
    }
    // SAFETY: requires an argument as the command has it; holds by contract.
    unsafe { libc::fcntl(fd, command, argument) }
}

/// Facts about an open file.
pub unsafe fn fstat(fd: c_int, facts: *mut libc::stat) -> c_int {
    if fails(point::fstat, 0, Subject::Descriptor(fd)) {
        return -1;
    }
    // SAFETY: requires a writable structure; holds by contract.
    unsafe { libc::fstat(fd, facts) }
}

/// Sets the length of a file.
#[must_use]
pub fn ftruncate(fd: c_int, length: off_t) -> c_int {
    if fails(point::ftruncate, usize::try_from(length).unwrap_or(0), Subject::None) {
        return -1;
    }
    // SAFETY: requires nothing: the system checks the descriptor.
    unsafe { libc::ftruncate(fd, length) }
}

/// Makes a file in memory.
#[must_use]
pub fn memfd_create(name: &CStr, flags: c_uint) -> c_int {
    if fails(point::memfd_create, 0, Subject::None) {
        return -1;
    }
    // SAFETY: requires a C string; holds by its type.
    unsafe { libc::memfd_create(name.as_ptr(), flags) }
}

/// Maps memory.
pub unsafe fn mmap(
    address: *mut c_void,
    len: usize,
    access: c_int,
    flags: c_int,
    fd: c_int,
    offset: off_t,
) -> *mut c_void {
    if fails(point::mmap, len, Subject::None) {
        return libc::MAP_FAILED;
    }
    // SAFETY: requires that no mapping in use is replaced; holds by contract.
    unsafe { libc::mmap(address, len, access, flags, fd, offset) }
}

/// Unmaps memory.
pub unsafe fn munmap(address: *mut c_void, len: usize) -> c_int {
    if fails(point::munmap, len, Subject::None) {
        return -1;
    }
    // SAFETY: requires a mapping that nothing uses; holds by contract.
    unsafe { libc::munmap(address, len) }
}

/// Says how memory is used.
pub unsafe fn madvise(address: *mut c_void, len: usize, advice: c_int) -> c_int {
    if fails(point::madvise, len, Subject::None) {
        return -1;
    }
    // SAFETY: requires a mapping to which the advice does no harm; holds by contract.
    unsafe { libc::madvise(address, len, advice) }
}

/// Writes changes of a mapping, or asks whether there is one.
pub unsafe fn msync(address: *mut c_void, len: usize, flags: c_int) -> c_int {
    if fails(point::msync, len, Subject::None) {
        return -1;
    }
    // SAFETY: requires a range that the flags do no harm to; holds by contract.
    unsafe { libc::msync(address, len, flags) }
}

/// Waits for events of descriptors.
#[must_use]
pub fn poll(entries: &mut [libc::pollfd], timeout: c_int) -> c_int {
    if fails(point::poll, 0, Subject::None) {
        return -1;
    }
    // SAFETY: requires that many writable entries; holds, it is a slice.
    unsafe { libc::poll(entries.as_mut_ptr(), entries.len() as libc::nfds_t, timeout) }
}

/// A descriptor of a process.
#[must_use]
pub fn pidfd_open(pid: pid_t) -> c_int {
    if fails(point::pidfd_open, 0, Subject::None) {
        return -1;
    }
    // SAFETY: requires nothing: the system checks the number.
    let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    c_int::try_from(fd).unwrap_or(-1)
}
