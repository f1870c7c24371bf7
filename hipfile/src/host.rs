//! Transfers between files and host memory.

use std::fs::File;
use std::os::unix::fs::FileExt;

use crate::error::{Cause, Error, Result};
use crate::file::FileHandle;
use crate::file_offset;
use crate::io::{self, Way};
use crate::system;
use crate::trace::{self, Mode};

/// # Transfers of host memory
///
/// For what is looked at before the GPU is, such as headers, and for
/// [`PinnedBuffer`](crate::alloc::PinnedBuffer)s, from which copies to a device are fast. Any bytes will do.
///
/// The library has no part in it: up to hipFile 0.5 it takes device memory only (5013), and what comes after takes
/// registered host memory to do what these do. They are `pread` and `pwrite` on the descriptor, and see what transfers of
/// device memory see. Nothing asks for alignment: where the descriptor has `O_DIRECT` and the request is not as that asks
/// for, the file is opened once more without.
impl FileHandle {
    /// Reads into host memory from `offset`, like `pread`.
    ///
    /// Returns the number of bytes read: fewer than asked for at the end of the file and above 0x7ffff000, 0 at the end
    /// of the file and for empty memory.
    ///
    /// # Errors
    ///
    /// The system's. [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput) if `offset` plus the length of `memory`
    /// passes `i64::MAX`, or if the file was not open for reading when it was registered;
    /// [`ErrorKind::Forked`](crate::ErrorKind::Forked) in a forked child.
    #[doc(alias = "pread")]
    pub fn read_host_at(&self, memory: &mut [u8], offset: u64) -> Result<usize> {
        let len = memory.len();
        trace::moving(self.work(Way::Read, Mode::Host, offset, len), || {
            self.read_once(memory, offset).map_err(|cause| self.host_failed(Way::Read, cause, len, offset, 0))
        })
    }

    /// Fills host memory from `offset`, in as many calls as it takes, trying again when interrupted.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use hipfile::alloc::PinnedBuffer;
    /// use hipfile::{Driver, OpenOptions};
    ///
    /// let file = OpenOptions::new().read(true).open(&Driver::open()?, "/proc/self/exe")?;
    /// let mut header = [0; 4];
    /// file.read_host_exact_at(&mut header, 0)?;
    /// assert_eq!(&header, b"\x7fELF");
    /// let mut pinned = PinnedBuffer::zeroed(4096)?;
    /// let n = file.read_host_at(&mut pinned, 4096)?; // short at the end of the file
    /// # let _ = n;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::bytes_done`] tells how much of `memory` was filled before the error.
    /// [`ErrorKind::UnexpectedEof`](crate::ErrorKind::UnexpectedEof) if the file ends first; else as for
    /// [`read_host_at`](Self::read_host_at).
    pub fn read_host_exact_at(&self, memory: &mut [u8], offset: u64) -> Result<()> {
        self.host_whole(Way::Read, memory.len(), offset, |done, next| {
            self.read_once(memory.get_mut(done..).unwrap_or_default(), next)
        })
    }

    /// Writes host memory at `offset`, like `pwrite`.
    ///
    /// Returns the number of bytes written: fewer than asked for above 0x7ffff000 and where the file system ends. Nothing
    /// is flushed to the storage device; see [`sync_data`](Self::sync_data).
    ///
    /// # Errors
    ///
    /// As for [`write_at`](Self::write_at), without HIP's and the library's.
    #[doc(alias = "pwrite")]
    pub fn write_host_at(&self, memory: &[u8], offset: u64) -> Result<usize> {
        let len = memory.len();
        trace::moving(self.work(Way::Write, Mode::Host, offset, len), || {
            self.write_once(memory, offset)
                .map_err(|cause| self.host_failed(Way::Write, cause, len, offset, 0))
        })
    }

    /// Writes all of host memory at `offset`, in as many calls as it takes, trying again when interrupted.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use hipfile::alloc::DeviceBuffer;
    /// use hipfile::{Driver, OpenOptions};
    ///
    /// # let path = std::env::temp_dir().join(format!("hipfile-doc-write-host-{}", std::process::id()));
    /// let file = OpenOptions::new().write(true).create(true).open(&Driver::open()?, &path)?;
    /// let results = DeviceBuffer::zeroed(4096)?;
    /// file.write_all_at(results.slice(..)?, 4096)?;
    /// file.write_host_all_at(b"4096 bytes of results", 0)?;
    /// assert_eq!(file.write_host_at(b"4", 0)?, 1);
    /// # assert!(std::fs::read(&path)?.starts_with(b"4096 bytes of results\0"));
    /// # std::fs::remove_file(&path)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::bytes_done`] tells how much was written before the error.
    /// [`ErrorKind::WriteZero`](crate::ErrorKind::WriteZero) if the file takes no more without saying why; else as for
    /// [`write_host_at`](Self::write_host_at).
    pub fn write_host_all_at(&self, memory: &[u8], offset: u64) -> Result<()> {
        self.host_whole(Way::Write, memory.len(), offset, |done, next| {
            self.write_once(memory.get(done..).unwrap_or_default(), next)
        })
    }

    /// Moves all of `len` bytes in as many calls of `once` as it takes.
    fn host_whole(
        &self,
        way: Way,
        len: usize,
        offset: u64,
        once: impl FnMut(usize, u64) -> std::result::Result<usize, Cause>,
    ) -> Result<()> {
        let whole = || match io::all(way, len, offset, once) {
            Ok(()) => Ok(len),
            Err((cause, done)) => Err(self.host_failed(way, cause, len, offset, done)),
        };
        trace::moving(self.work(way, Mode::Host, offset, len), whole).map(|_| ())
    }

    fn read_once(&self, memory: &mut [u8], offset: u64) -> std::result::Result<usize, Cause> {
        self.host_once(Way::Read, memory.len(), offset, |file| file.read_at(memory, offset))
    }

    fn write_once(&self, memory: &[u8], offset: u64) -> std::result::Result<usize, Cause> {
        self.host_once(Way::Write, memory.len(), offset, |file| file.write_at(memory, offset))
    }

    /// One call of the system, or two if direct I/O refuses the first.
    fn host_once(
        &self,
        way: Way,
        len: usize,
        offset: u64,
        mut call: impl FnMut(&File) -> std::io::Result<usize>,
    ) -> std::result::Result<usize, Cause> {
        file_offset::checked(offset, len)?;
        let file = self.file()?;
        if len == 0 {
            return Ok(0);
        }
        self.admits(way)?;
        let mut call = |file| call(file).map_err(|error| system::cause(&error));
        match call(file) {
            Err(Cause::Os(libc::EINVAL)) => match self.buffered()? {
                Some(buffered) => call(buffered),
                None => Err(Cause::Os(libc::EINVAL)),
            },
            answer => answer,
        }
    }

    #[cold]
    fn host_failed(&self, way: Way, cause: Cause, len: usize, offset: u64, done: usize) -> Error {
        self.error(way.name(), cause).at(offset, len).after(done)
    }
}
