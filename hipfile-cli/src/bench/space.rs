//! Room in a file system.
#![allow(unsafe_code, reason = "asks the system")]

use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;

/// The bytes that may still be written to a file's file system, and those that the file has already.
pub fn of(file: &File) -> io::Result<(u64, u64)> {
    let mut answer = MaybeUninit::<libc::statvfs>::uninit();
    // SAFETY: requires a pointer to room for the answer; holds because `answer` is that.
    let status = unsafe { libc::fstatvfs(file.as_raw_fd(), answer.as_mut_ptr()) };
    if status != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: requires that all of it was written; holds because the call succeeded.
    let answer = unsafe { answer.assume_init() };
    Ok((answer.f_bavail.saturating_mul(answer.f_frsize), file.metadata()?.blocks() * 512))
}

/// Sees to it that a part of a file can be written, and lengthens the file up to `end`.
pub fn reserve(file: &File, offset: u64, len: u64, end: u64) -> io::Result<()> {
    let number = |number| i64::try_from(number).map_err(io::Error::other);
    // SAFETY: requires nothing but a descriptor, which `file` keeps open.
    let error = unsafe { libc::posix_fallocate(file.as_raw_fd(), number(offset)?, number(len)?) };
    if error != 0 {
        return Err(io::Error::from_raw_os_error(error));
    }
    if file.metadata()?.len() < end { file.set_len(end) } else { Ok(()) }
}

/// Whether a file consists of nothing.
pub fn is_hole(file: &File) -> bool {
    // SAFETY: requires nothing but a descriptor, which `file` keeps open. Nobody uses its position.
    let data = unsafe { libc::lseek(file.as_raw_fd(), 0, libc::SEEK_DATA) };
    data < 0 && io::Error::last_os_error().raw_os_error() == Some(libc::ENXIO)
}
