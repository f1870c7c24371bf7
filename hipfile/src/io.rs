//! Blocking transfers between files and device memory.
#![allow(unsafe_code, reason = "hands device memory to C")]

use crate::error::{Cause, Error, Result};
use crate::ffi::{self, Transfer};
use crate::file::FileHandle;
use crate::file_offset;
use crate::memory::{ReadInto, WriteFrom};
use crate::span::Span;
use crate::trace::{self, FileBytes, Mode, Work};

/// The most that Linux moves in one call, and a multiple of every alignment that direct I/O asks for. Asking for more
/// would take the size's own alignment, usually none, into the library's choice of path.
pub(crate) const MAX_TRANSFER: usize = 0x7fff_f000;

/// Which way the bytes go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Read,
    Write,
}

impl Way {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

/// # Transfers
///
/// All of them block, take file offsets in bytes, and leave the file's own position and the thread's current HIP device
/// as they are. They work on registered and on plain device memory, at any alignment; what the fast path does not take
/// goes through host memory.
///
/// **None of them waits for GPU work.** Kernels and asynchronous copies that write the memory (before a write) or use it
/// (before a read) have to be waited for first, by [`read_at_after`](Self::read_at_after) and
/// [`write_at_after`](Self::write_at_after) for example. The blocking calls of `hip_alloc` have waited already.
impl FileHandle {
    /// Reads into `memory` from `offset`, like `pread`. hipFile 0.2.
    ///
    /// Returns the number of bytes read: fewer than asked for at the end of the file and above 0x7ffff000, 0 at the end
    /// of the file and for empty memory. Bytes of `memory` after those read may have been overwritten.
    ///
    /// # Errors
    ///
    /// The system's, HIP's or the library's. [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput) if `offset` plus
    /// the length of `memory` passes `i64::MAX`, or if the file was not open for reading when it was registered.
    #[doc(alias = "hipFileRead")]
    #[inline]
    pub fn read_at(&self, memory: impl ReadInto, offset: u64) -> Result<usize> {
        self.short(Way::Read, memory.span(), offset)
    }

    /// Writes `memory` at `offset`, like `pwrite`. hipFile 0.2.
    ///
    /// Returns the number of bytes written: fewer than asked for above 0x7ffff000 and where the file system ends.
    ///
    /// The fast path does not flush the written data to the storage device; AMD's library does on the other path. Use
    /// [`sync_data`](Self::sync_data) where it matters.
    ///
    /// # Errors
    ///
    /// As for [`read_at`](Self::read_at). [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput) also if the file was
    /// open with `O_APPEND` when it was registered: Linux then writes at the end, whatever the offset.
    #[doc(alias = "hipFileWrite")]
    #[inline]
    pub fn write_at(&self, memory: impl WriteFrom, offset: u64) -> Result<usize> {
        self.short(Way::Write, memory.span(), offset)
    }

    /// Fills `memory` from `offset`, in as many calls as it takes, trying again when interrupted.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use hipfile::alloc::DeviceBuffer;
    /// use hipfile::{Driver, OpenOptions};
    ///
    /// let file = OpenOptions::new().read(true).open(&Driver::open()?, "/proc/self/exe")?;
    /// let mut magic = DeviceBuffer::new(4)?;
    /// file.read_exact_at(magic.slice_mut(..)?, 0)?;
    /// assert_eq!(magic.to_vec()?, b"\x7fELF");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::bytes_done`] tells how much of `memory` was filled before the error.
    /// [`ErrorKind::UnexpectedEof`](crate::ErrorKind::UnexpectedEof) if the file ends first; else as for
    /// [`read_at`](Self::read_at).
    pub fn read_exact_at(&self, memory: impl ReadInto, offset: u64) -> Result<()> {
        self.exact(Way::Read, memory.span(), offset)
    }

    /// Writes all of `memory` at `offset`, in as many calls as it takes, trying again when interrupted.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # use hipfile::alloc::DeviceBuffer;
    /// # use hipfile::{Driver, OpenOptions};
    /// # let path = std::env::temp_dir().join(format!("hipfile-doc-write-all-{}", std::process::id()));
    /// let file = OpenOptions::new().write(true).create(true).open(&Driver::open()?, &path)?;
    /// file.write_all_at(DeviceBuffer::from_host(b"all of it")?.slice(..)?, 0)?;
    /// assert_eq!(std::fs::read(&path)?, b"all of it");
    /// # std::fs::remove_file(&path)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::bytes_done`] tells how much was written before the error.
    /// [`ErrorKind::WriteZero`](crate::ErrorKind::WriteZero) if the file takes no more without saying why; else as for
    /// [`write_at`](Self::write_at).
    pub fn write_all_at(&self, memory: impl WriteFrom, offset: u64) -> Result<()> {
        self.exact(Way::Write, memory.span(), offset)
    }

    #[inline]
    fn short(&self, way: Way, span: Span, offset: u64) -> Result<usize> {
        trace::moving(self.work(way, Mode::Blocking, offset, span.len), move || {
            self.called(way, span, offset)
        })
    }

    /// One call, as callers are told of it.
    #[inline]
    pub(crate) fn called(&self, way: Way, span: Span, offset: u64) -> Result<usize> {
        self.once(way, span, offset).map_err(|cause| self.failed(way, cause, span, offset, 0))
    }

    fn exact(&self, way: Way, span: Span, offset: u64) -> Result<()> {
        let work = self.work(way, Mode::Blocking, offset, span.len);
        trace::moving(work, || self.whole(way, span, offset).map(|()| span.len)).map(|_| ())
    }

    pub(crate) fn whole(&self, way: Way, span: Span, offset: u64) -> Result<()> {
        all(way, span.len, offset, |done, next| self.once(way, span.rest(done), next))
            .map_err(|(cause, done)| self.failed(way, cause, span, offset, done))
    }

    /// One call of C, if there is anything to transfer.
    #[inline]
    fn once(&self, way: Way, span: Span, offset: u64) -> std::result::Result<usize, Cause> {
        let file_offset = file_offset::checked(offset, span.len)?;
        // An allocation is never as long as i64::MAX, so an offset into one fits.
        let buffer_offset = i64::try_from(span.offset).map_err(|_| Cause::OffsetTooLarge)?;
        if span.len == 0 {
            return self.driver().live().map(|_api| 0);
        }
        self.admits(way)?;
        // Fails in a forked child, so what follows is not reached there.
        let device = span.device.make_current().map_err(hip_cause)?;
        let api = self.driver().api();
        let transfer = Transfer {
            handle: self.handle(),
            base: span.base.0,
            size: span.len.min(MAX_TRANSFER),
            file_offset,
            buffer_offset,
        };
        match way {
            // SAFETY: requires a registered handle with its descriptor open, and device memory that is nobody else's;
            // holds because `self` is both and is borrowed, and `span` comes from a slice that is exclusive (only such
            // are `ReadInto`) and borrowed for the time of the call.
            Way::Read => unsafe { ffi::read(api, device, transfer) },
            // SAFETY: requires a registered handle with its descriptor open, and device memory that nobody writes; holds
            // because `self` is both and is borrowed, and `span` comes from a slice borrowed for the time of the call.
            Way::Write => unsafe { ffi::write(api, device, transfer) },
        }
    }

    /// A transfer of this file, for its span.
    #[inline]
    pub(crate) fn work(&self, way: Way, mode: Mode, offset: u64, bytes: usize) -> Work<'_> {
        Work::Transfer(way, mode, FileBytes { file: self, offset, bytes })
    }

    #[cold]
    pub(crate) fn failed(&self, way: Way, cause: Cause, span: Span, offset: u64, done: usize) -> Error {
        self.error(way.name(), cause).at(offset, span.len).after(done)
    }
}

/// Moves all of `len` bytes in as many calls of `once` as it takes, each with how much is done and the file offset of what
/// comes next. On failure also tells how much was done.
pub(crate) fn all(
    way: Way,
    len: usize,
    offset: u64,
    mut once: impl FnMut(usize, u64) -> std::result::Result<usize, Cause>,
) -> std::result::Result<(), (Cause, usize)> {
    file_offset::checked(offset, len).map_err(|cause| (cause, 0))?;
    let mut done = 0;
    while done < len {
        // The end was checked, so the sum stays below.
        match once(done, offset.saturating_add(done as u64)) {
            Ok(0) if way == Way::Read => return Err((Cause::UnexpectedEof, done)),
            Ok(0) => return Err((Cause::WriteZero, done)),
            Ok(moved) => done = done.saturating_add(moved),
            Err(Cause::Os(libc::EINTR)) => {}
            Err(cause) => return Err((cause, done)),
        }
    }
    Ok(())
}

#[cold]
pub(crate) fn hip_cause(error: hip_alloc::Error) -> Cause {
    if error.kind() == hip_alloc::ErrorKind::Forked { Cause::Forked } else { Cause::Memory(error) }
}
