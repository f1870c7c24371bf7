//! Counters in memory that other processes can look at and not change.

use std::ffi::{CStr, c_int};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr::{self, NonNull};

use soft_rocm_faults::sys;

use super::layout::Layout;
use crate::failure::Failure;

const NAME: &CStr = c"AISSTATS";

/// A memory file, mapped for as long as the process lasts.
#[derive(Debug)]
pub(super) struct Memory<T: 'static> {
    pub(super) fd: OwnedFd,
    pub(super) counters: &'static T,
}

impl<T: Layout> Memory<T> {
    /// Makes one that holds zeros.
    ///
    /// # Errors
    ///
    /// The system error, for instance where memory files can't be sealed.
    pub(super) fn new(level: u32) -> Result<Self, Failure> {
        let fd = sys::memfd_create(NAME, libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING);
        if fd < 0 {
            return Err(Failure::last_os());
        }
        // SAFETY: requires an open descriptor that nobody else owns; holds, it was just made.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        if sys::ftruncate(fd.as_raw_fd(), size_of::<T>() as libc::off_t) != 0 {
            return Err(Failure::last_os());
        }
        let place = map(fd.as_raw_fd(), size_of::<T>(), libc::PROT_READ | libc::PROT_WRITE)?;
        seal(fd.as_raw_fd())?;
        // SAFETY: requires a valid value that stays; holds because the mapping is as large as the value, starts at a
        // page, is zero, which is a value of a layout, and is never undone.
        let counters = unsafe { place.cast::<T>().as_ref() };
        counters.label(level);
        Ok(Self { fd, counters })
    }
}

/// Forbids to shrink the file and, for all but the mapping that exists, to change it.
fn seal(fd: c_int) -> Result<(), Failure> {
    for seal in [libc::F_SEAL_SHRINK, libc::F_SEAL_FUTURE_WRITE] {
        // SAFETY: requires an int; holds.
        if unsafe { sys::fcntl(fd, libc::F_ADD_SEALS, seal) } != 0 {
            match Failure::last_os() {
                // Linux before 5.1 does not know the second.
                Failure::Os(libc::EINVAL) if seal == libc::F_SEAL_FUTURE_WRITE => {}
                failure => return Err(failure),
            }
        }
    }
    Ok(())
}

fn map(fd: c_int, len: usize, access: c_int) -> Result<NonNull<u8>, Failure> {
    // SAFETY: requires nothing: the system chooses the place.
    let place = unsafe { sys::mmap(ptr::null_mut(), len, access, libc::MAP_SHARED, fd, 0) };
    if place == libc::MAP_FAILED {
        return Err(Failure::last_os());
    }
    NonNull::new(place.cast()).ok_or(Failure::INTERNAL)
}

/// Another process's counters, which change while they are looked at.
#[derive(Debug)]
pub(crate) struct View<T: 'static>(NonNull<T>);

impl<T: Layout> View<T> {
    /// Maps a file of at least the size of the layout, which can't shrink.
    pub(super) fn new(fd: BorrowedFd<'_>) -> Result<Self, Failure> {
        // SAFETY: requires nothing.
        let seals = unsafe { sys::fcntl(fd.as_raw_fd(), libc::F_GET_SEALS, 0) };
        if seals < 0 || seals & libc::F_SEAL_SHRINK == 0 {
            return Err(Failure::INTERNAL);
        }
        map(fd.as_raw_fd(), size_of::<T>(), libc::PROT_READ).map(|place| Self(place.cast()))
    }

    pub(super) fn counters(&self) -> &T {
        // SAFETY: requires a valid value that stays for the lifetime of the view; holds because every content is a
        // value of a layout, whose integers are atomic, and the mapping ends with the view. The file can't shrink.
        unsafe { self.0.as_ref() }
    }
}

impl<T> Drop for View<T> {
    fn drop(&mut self) {
        // SAFETY: requires a mapping that nothing uses any more; holds because this value owned it.
        unsafe { sys::munmap(self.0.as_ptr().cast(), size_of::<T>()) };
    }
}

#[cfg(test)]
mod tests {
    use super::super::layout::{Early, Shared};
    use super::*;
    use std::os::fd::AsFd;

    #[test]
    fn receivers_can_look_and_not_touch() {
        let memory = Memory::<Shared>::new(2).unwrap();
        let fd = memory.fd.as_raw_fd();
        // SAFETY: requires nothing.
        let seals = unsafe { libc::fcntl(fd, libc::F_GET_SEALS) };
        assert_eq!(seals, libc::F_SEAL_SHRINK | libc::F_SEAL_FUTURE_WRITE);
        assert!(map(fd, 4096, libc::PROT_READ | libc::PROT_WRITE).is_err());
        // SAFETY: requires readable memory; holds, it is a literal.
        assert_eq!(unsafe { libc::pwrite(fd, c"x".as_ptr().cast(), 1, 0) }, -1);

        let view = View::<Shared>::new(memory.fd.as_fd()).unwrap();
        assert_eq!(
            (view.counters().level(), view.counters().files.load(std::sync::atomic::Ordering::Relaxed)),
            (2, 0)
        );
        super::super::layout::add(&memory.counters.files, 3);
        assert_eq!(super::super::layout::read(&view.counters().files), 3);
        assert_eq!(Memory::<Early>::new(1).unwrap().counters.level(), 1);
    }
}
