//! What is asked of the system that std does not ask.
#![allow(unsafe_code, reason = "system calls")]

use std::ffi::CString;
use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::memory::page_size;

/// Has libhipfile fail rather than take the fallback. Before it is loaded, and before there are threads.
pub fn forbid_fallback() {
    // SAFETY: requires that no other thread reads or writes the environment; holds because there is none yet.
    unsafe { std::env::set_var("HIPFILE_ALLOW_COMPAT_MODE", "false") };
}

/// Whether the permissions of what has that path, those that count when this process opens it, are against writing.
pub fn is_write_protected(path: &Path) -> bool {
    let Ok(path) = CString::new(path.as_os_str().as_bytes()) else { return false };
    // SAFETY: requires text that ends in zero; holds for a CString.
    let status = unsafe { libc::faccessat(libc::AT_FDCWD, path.as_ptr(), libc::W_OK, libc::AT_EACCESS) };
    // Other reasons, as a file system that is read-only, are told by who tries.
    status != 0 && io::Error::last_os_error().raw_os_error() == Some(libc::EACCES)
}

/// Where data and holes begin; none if there is no more data.
pub fn next_data(file: BorrowedFd<'_>, from: u64, len: u64) -> io::Result<Option<Range<u64>>> {
    let Some(start) = seek(file, from, libc::SEEK_DATA)? else { return Ok(None) };
    let end = seek(file, start, libc::SEEK_HOLE)?.unwrap_or(len).min(len);
    Ok((start < end).then_some(start..end))
}

fn seek(file: BorrowedFd<'_>, from: u64, whence: libc::c_int) -> io::Result<Option<u64>> {
    let from = libc::off_t::try_from(from).map_err(|_| io::Error::from_raw_os_error(libc::EOVERFLOW))?;
    // SAFETY: requires an open descriptor; holds while it is borrowed.
    let at = unsafe { libc::lseek(file.as_raw_fd(), from, whence) };
    match u64::try_from(at) {
        Ok(at) => Ok(Some(at)),
        Err(_) => match io::Error::last_os_error() {
            error if error.raw_os_error() == Some(libc::ENXIO) => Ok(None),
            error => Err(error),
        },
    }
}

/// Copies within the kernel; how many bytes it did, 0 if it can't.
pub fn copy_range(from: impl AsFd, to: impl AsFd, range: Range<u64>) -> io::Result<u64> {
    let overflow = |_| io::Error::from_raw_os_error(libc::EOVERFLOW);
    let mut read = libc::off64_t::try_from(range.start).map_err(overflow)?;
    let mut write = read;
    let len = usize::try_from(range.end.saturating_sub(range.start)).unwrap_or(usize::MAX);
    let (from, to) = (from.as_fd().as_raw_fd(), to.as_fd().as_raw_fd());
    // SAFETY: requires two open descriptors, borrowed here, and two offsets, which are ours.
    let done = unsafe { libc::copy_file_range(from, &raw mut read, to, &raw mut write, len, 0) };
    u64::try_from(done).map_err(|_| io::Error::last_os_error())
}

/// Has the kernel begin to write what is in the page cache, so that a sync later finds less to do. It may have reasons not to.
pub fn begin_writing(file: impl AsFd, range: &Range<u64>) {
    let numbers = (range.start.try_into(), range.end.saturating_sub(range.start).try_into());
    if let (Ok(start), Ok(len)) = numbers {
        // SAFETY: requires an open descriptor; holds while it is borrowed.
        unsafe { libc::sync_file_range(file.as_fd().as_raw_fd(), start, len, libc::SYNC_FILE_RANGE_WRITE) };
    }
}

/// Whether the page cache holds all of a range. No where the system does not say: Linux does from 6.5 on, to who may write the
/// file.
pub fn is_cached(file: impl AsFd, range: &Range<u64>) -> bool {
    /// The number of `cachestat`, the same on all architectures that Rust knows.
    const CACHESTAT: libc::c_long = 451;
    let len = range.end.saturating_sub(range.start);
    let asked = [range.start, len];
    // Pages that are there; of those that are dirty, under way, evicted and evicted of late.
    let mut found = [0u64; 5];
    // SAFETY: requires a range of two numbers to read and a place for five; holds for both arrays.
    let status =
        unsafe { libc::syscall(CACHESTAT, file.as_fd().as_raw_fd(), asked.as_ptr(), found.as_mut_ptr(), 0) };
    let [pages, ..] = found;
    status == 0 && pages.saturating_mul(page_size()) >= len
}

/// Has the page cache forget a file that is synced, so that reads come from storage.
pub fn forget_pages(file: impl AsFd) {
    // SAFETY: requires an open descriptor; holds while it is borrowed.
    unsafe { libc::posix_fadvise(file.as_fd().as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
}
