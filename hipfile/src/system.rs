//! The system calls of this crate that std has no name for.
#![allow(unsafe_code, reason = "calls the system")]

use std::fs::File;
use std::io;
use std::mem;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::time::Duration;

use crate::alignment::Alignment;
use crate::error::Cause;

/// The status flags of a descriptor.
pub(crate) fn flags(fd: BorrowedFd<'_>) -> Result<i32, Cause> {
    // SAFETY: requires nothing beyond an open descriptor, which the borrow is.
    match unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_GETFL) } {
        -1 => Err(last()),
        flags => Ok(flags),
    }
}

/// The permission bits of a file.
pub(crate) fn mode(fd: BorrowedFd<'_>) -> Result<u32, Cause> {
    statx(fd, libc::STATX_MODE).map(|stat| u32::from(stat.stx_mode) & 0o7777)
}

/// What a file is, and on what device.
pub(crate) struct Place {
    /// Type and permission bits.
    pub(crate) mode: u32,
    /// Major and minor number of the device that the file lies on.
    pub(crate) device: (u32, u32),
}

/// What the file of a descriptor is, and on what device.
pub(crate) fn place(fd: BorrowedFd<'_>) -> Result<Place, Cause> {
    let stat = statx(fd, libc::STATX_TYPE)?;
    Ok(Place { mode: u32::from(stat.stx_mode), device: (stat.stx_dev_major, stat.stx_dev_minor) })
}

/// What the file's system asks of direct I/O; `None` if the file has none.
pub(crate) fn alignment(fd: BorrowedFd<'_>) -> Result<Option<Alignment>, Cause> {
    let stat = statx(fd, libc::STATX_DIOALIGN)?;
    if stat.stx_mask & libc::STATX_DIOALIGN == 0 {
        return Ok(Some(Alignment::ASSUMED));
    }
    let (memory, offset) = (u64::from(stat.stx_dio_mem_align), u64::from(stat.stx_dio_offset_align));
    Ok((memory != 0 && offset != 0).then_some(Alignment { memory, offset }))
}

/// Bytes of a page of memory.
pub(crate) fn page_size() -> u64 {
    // SAFETY: requires nothing.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    // Linux always answers.
    u64::try_from(size).unwrap_or(4096)
}

/// The CPU time that the calling thread has spent since it started.
pub(crate) fn thread_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: requires a structure to write to; holds for the local.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    // Never negative, and 0 where it was not written.
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or(0))
}

fn statx(fd: BorrowedFd<'_>, mask: u32) -> Result<libc::statx, Cause> {
    // SAFETY: requires a type for which all zeros is a value; holds because it is integers only.
    let mut stat: libc::statx = unsafe { mem::zeroed() };
    // SAFETY: requires a string that ends in zero and a structure to write to; holds for the literal and the local.
    match unsafe { libc::statx(fd.as_raw_fd(), c"".as_ptr(), libc::AT_EMPTY_PATH, mask, &raw mut stat) } {
        0 => Ok(stat),
        _ => Err(last()),
    }
}

/// Allocates the blocks of that part of a file, and makes the file longer if it ends before.
pub(crate) fn allocate(fd: BorrowedFd<'_>, offset: i64, len: i64) -> Result<(), Cause> {
    // SAFETY: requires nothing beyond an open descriptor, which the borrow is.
    match unsafe { libc::fallocate(fd.as_raw_fd(), 0, offset, len) } {
        0 => Ok(()),
        _ => Err(last()),
    }
}

/// Opens the file of a descriptor a second time, with these flags, as [`flags`] gives them.
pub(crate) fn open_again(fd: BorrowedFd<'_>, flags: i32) -> Result<File, Cause> {
    let access = flags & libc::O_ACCMODE;
    File::options()
        .read(access != libc::O_WRONLY)
        .write(access != libc::O_RDONLY)
        .custom_flags(flags)
        .open(format!("/proc/self/fd/{}", fd.as_raw_fd()))
        .map_err(|error| cause(&error))
}

fn last() -> Cause {
    cause(&io::Error::last_os_error())
}

/// The cause of a failed call of std. Without an `errno`, std refused what it was given before asking the system.
pub(crate) fn cause(error: &io::Error) -> Cause {
    match error.raw_os_error() {
        Some(errno) => Cause::Os(errno),
        None => Cause::InvalidArgument(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::fd::AsFd;

    #[test]
    fn time_of_this_thread_passes_while_it_works() {
        let before = thread_time();
        while thread_time() == before {
            std::hint::spin_loop();
        }
        assert!(thread_time() > before);
        assert!(page_size().is_power_of_two());
    }

    #[test]
    fn facts_of_an_open_file() {
        let path = std::env::temp_dir().join(format!("hipfile-system-{}", std::process::id()));
        let file = File::create(&path).unwrap();
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o640)).unwrap();
        fs::remove_file(&path).unwrap();
        assert_eq!(mode(file.as_fd()).unwrap(), 0o640);
        assert_eq!(flags(file.as_fd()).unwrap() & libc::O_ACCMODE, libc::O_WRONLY);
        if let Some(found) = alignment(file.as_fd()).unwrap() {
            assert!(found.memory.is_power_of_two() && found.offset.is_power_of_two());
        }
    }

    #[test]
    fn what_std_refuses_is_no_system_error() {
        let error = File::open("nul\0byte").unwrap_err();
        assert!(matches!(cause(&error), Cause::InvalidArgument(text) if !text.is_empty()));
        let error = File::open("/no/such/file").unwrap_err();
        assert!(matches!(cause(&error), Cause::Os(libc::ENOENT)));
    }
}
