//! Room for a file before it is written.

use std::os::fd::{AsFd, BorrowedFd};

use crate::error::{Cause, Result};
use crate::file::FileHandle;
use crate::io::Way;
use crate::system;

/// What [`FileHandle::preallocate`] came to.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use hipfile::{Driver, OpenOptions, Preallocated};
///
/// # let path = std::env::temp_dir().join(format!("hipfile-doc-preallocated-{}", std::process::id()));
/// let file = OpenOptions::new().write(true).create(true).open(&Driver::open()?, &path)?;
/// if file.preallocate(0, 1 << 20)? == Preallocated::SizeOnly {
///     println!("the file system reserves nothing: writes may find it full");
/// }
/// # std::fs::remove_file(&path)?;
/// # Ok(())
/// # }
/// ```
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Preallocated {
    /// The file system holds space for the bytes: writing them will not find it full.
    Reserved,
    /// The file system can't hold space. The file is as long as it would be, and has holes where nothing was written.
    SizeOnly,
}

impl FileHandle {
    /// Makes room for `len` bytes at `offset`, and the file as long as that takes. Content stays what it is; what is new
    /// reads as zeros.
    ///
    /// A file of its final size with its blocks in one piece is written faster than one that grows, and a full file system
    /// shows at once. Where the file system has no such thing, and answers `EOPNOTSUPP`, `ENOSYS` or `EINVAL`, the file is
    /// made longer only. Another program that makes the file longer still at that moment then loses what it added.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use hipfile::{Driver, OpenOptions};
    ///
    /// # let path = std::env::temp_dir().join(format!("hipfile-doc-preallocate-{}", std::process::id()));
    /// let file = OpenOptions::new().write(true).create(true).open(&Driver::open()?, &path)?;
    /// println!("{:?}", file.preallocate(4096, 1 << 20)?);
    /// assert_eq!(file.len()?, 4096 + (1 << 20));
    /// # std::fs::remove_file(&path)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput) if the file is not open for writing or `offset` plus
    /// `len` passes `i64::MAX`; otherwise the system's, `ENOSPC` above all. The file is as it was.
    #[doc(alias = "fallocate")]
    pub fn preallocate(&self, offset: u64, len: u64) -> Result<Preallocated> {
        let bytes = usize::try_from(len).unwrap_or(usize::MAX);
        self.make_room(offset, len, system::allocate)
            .map_err(|cause| self.error("preallocate", cause).at(offset, bytes))
    }

    fn make_room(
        &self,
        offset: u64,
        len: u64,
        allocate: impl Fn(BorrowedFd<'_>, i64, i64) -> std::result::Result<(), Cause>,
    ) -> std::result::Result<Preallocated, Cause> {
        self.admits(Way::Write)?;
        let end = offset.checked_add(len).filter(|end| i64::try_from(*end).is_ok());
        let (Some(end), Ok(start), Ok(count)) = (end, i64::try_from(offset), i64::try_from(len)) else {
            return Err(Cause::OffsetTooLarge);
        };
        let file = self.file()?;
        // The system refuses to allocate nothing.
        if len == 0 {
            return Ok(Preallocated::Reserved);
        }
        loop {
            match allocate(self.as_fd(), start, count) {
                Ok(()) => return Ok(Preallocated::Reserved),
                Err(Cause::Os(libc::EINTR)) => {}
                Err(Cause::Os(libc::EOPNOTSUPP | libc::ENOSYS | libc::EINVAL)) => break,
                Err(cause) => return Err(cause),
            }
        }
        let long = || {
            if file.metadata()?.len() < end {
                file.set_len(end)?;
            }
            Ok(Preallocated::SizeOnly)
        };
        long().map_err(|error: std::io::Error| system::cause(&error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Driver, OpenOptions};

    fn file() -> (tempfile::TempDir, FileHandle) {
        let folder = tempfile::tempdir().unwrap();
        let mut options = OpenOptions::new();
        options.write(true).create(true);
        let file = options.open(&Driver::open().unwrap(), folder.path().join("data")).unwrap();
        (folder, file)
    }

    #[test]
    fn without_support_the_file_is_as_long_as_with_it() {
        for errno in [libc::EOPNOTSUPP, libc::ENOSYS, libc::EINVAL] {
            let (_folder, file) = file();
            let refuse = |_: BorrowedFd<'_>, _, _| Err(Cause::Os(errno));
            assert_eq!(file.make_room(100, 200, refuse).unwrap(), Preallocated::SizeOnly);
            assert_eq!(file.len().unwrap(), 300);
            assert_eq!(file.make_room(0, 10, refuse).unwrap(), Preallocated::SizeOnly);
            assert_eq!(file.len().unwrap(), 300, "never shorter");
        }
    }

    #[test]
    fn other_errors_change_nothing_and_interrupts_are_tried_again() {
        let (_folder, file) = file();
        let full = |_: BorrowedFd<'_>, _, _| Err(Cause::Os(libc::ENOSPC));
        assert!(matches!(file.make_room(0, 10, full), Err(Cause::Os(libc::ENOSPC))));
        assert_eq!(file.len().unwrap(), 0);
        let calls = std::cell::Cell::new(0);
        let interrupted = |_: BorrowedFd<'_>, offset, len| {
            calls.set(calls.get() + 1);
            assert_eq!((offset, len), (4, 5));
            if calls.get() < 3 { Err(Cause::Os(libc::EINTR)) } else { Ok(()) }
        };
        assert_eq!(file.make_room(4, 5, interrupted).unwrap(), Preallocated::Reserved);
        assert_eq!(calls.get(), 3);
        assert!(matches!(file.make_room(1, u64::MAX, full), Err(Cause::OffsetTooLarge)));
        assert!(matches!(file.make_room(i64::MAX.unsigned_abs(), 1, full), Err(Cause::OffsetTooLarge)));
        assert_eq!(file.make_room(7, 0, full).unwrap(), Preallocated::Reserved);
    }
}
