//! Files: a descriptor registered with the library.

use std::fmt;
use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use crate::alignment::Alignment;
use crate::driver::{Driver, DriverInner};
use crate::error::{Cause, Error, Failed, Result, Subject};
use crate::explain::Place;
use crate::ffi::{self, Handle};
use crate::handle_type::FileHandleType;
use crate::io::Way;
use crate::op_error::OpError;
use crate::system;
use crate::trace::{Trace, Work};

/// A file open for GPU I/O. It owns its descriptor and keeps the driver open.
///
/// Transfers are in [`read_at`](Self::read_at), [`write_at`](Self::write_at) and their exact forms. They take `&self`
/// and may run in any number of threads.
///
/// ```
/// use hipfile::{Driver, OpenOptions};
/// use hipfile::alloc::DeviceBuffer;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let path = std::env::temp_dir().join(format!("hipfile-doc-file-{}", std::process::id()));
/// let driver = Driver::open()?;
/// let file = OpenOptions::new().read(true).write(true).create(true).open(&driver, &path)?;
/// let mut memory = DeviceBuffer::from_host(b"to the file and back")?;
/// assert_eq!(file.write_at(memory.slice(..)?, 0)?, 20);
/// memory.fill(0)?;
/// assert_eq!(file.read_at(memory.slice_mut(..)?, 0)?, 20);
/// assert_eq!(memory.to_vec()?, b"to the file and back");
/// println!("flags {:#o}, mode {:o}, {:?}", file.flags(), file.mode(), file.handle_type());
/// assert!(!file.as_raw().is_null()); // for calls of C
/// # std::fs::remove_file(&path)?;
/// # Ok(())
/// # }
/// ```
pub struct FileHandle {
    // Fields are dropped in this order: the registration goes before the descriptor that it is of is closed.
    registration: FileRegistration,
    file: File,
    /// The file without `O_DIRECT`, once host memory needed that.
    buffered: OnceLock<File>,
    /// Once somebody asked which path it takes.
    pub(crate) place: OnceLock<Place>,
    path: Option<Arc<Path>>,
    flags: i32,
    mode: u32,
    handle_type: FileHandleType,
}

/// A registration of a descriptor, undone when dropped.
struct FileRegistration {
    handle: Handle,
    driver: Arc<DriverInner>,
}

impl FileHandle {
    /// Registers a descriptor, for example a [`std::fs::File`]. hipFile 0.2.
    ///
    /// The library opens the file a second time, with `O_DIRECT` if the descriptor lacks it and without if it has it, so
    /// each file costs two descriptors.
    ///
    /// ```
    /// use hipfile::{Driver, FileHandle};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let driver = Driver::open()?;
    /// let file = FileHandle::new(&driver, std::fs::File::open("/proc/self/exe")?)?;
    /// assert_eq!(file.path(), None);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The descriptor comes back. [`ErrorKind::Internal`](crate::ErrorKind::Internal) is what the library makes of
    /// descriptors that can't be opened again, such as sockets and files of `O_TMPFILE`, and of running out of
    /// descriptors. [`ErrorKind::AlreadyRegistered`](crate::ErrorKind::AlreadyRegistered) if code outside this crate
    /// registered this descriptor number and closed it without deregistering.
    #[doc(alias = "hipFileHandleRegister")]
    pub fn new(driver: &Driver, fd: impl Into<OwnedFd>) -> std::result::Result<Self, Failed<OwnedFd>> {
        Self::register(driver.inner(), fd.into(), None, FileHandleType::OpaqueFd)
    }

    pub(crate) fn register(
        driver: &Arc<DriverInner>,
        fd: OwnedFd,
        path: Option<Arc<Path>>,
        handle_type: FileHandleType,
    ) -> std::result::Result<Self, Failed<OwnedFd>> {
        let trace = Trace::of(Work::RegisterFile { path: path.as_deref(), fd: fd.as_raw_fd() });
        let register = || match Self::facts(driver, fd.as_fd(), handle_type) {
            Ok((registration, flags, mode)) => {
                let (file, buffered, place) = (fd.into(), OnceLock::new(), OnceLock::new());
                Ok(Self { registration, file, buffered, place, path, flags, mode, handle_type })
            }
            Err(cause) => {
                let subject = path.map_or(Subject::Descriptor(fd.as_raw_fd()), Subject::Path);
                Err(Failed::new(Error::new("register file", cause).on(subject), fd))
            }
        };
        trace.around(register, Failed::error)
    }

    #[allow(unsafe_code, reason = "registers the descriptor")]
    fn facts(
        driver: &Arc<DriverInner>,
        fd: BorrowedFd<'_>,
        handle_type: FileHandleType,
    ) -> std::result::Result<(FileRegistration, i32, u32), Cause> {
        let api = driver.live()?;
        // The other types come with pointers of their own, which a safe function has no way to vouch for.
        if handle_type != FileHandleType::OpaqueFd {
            return Err(Cause::Op(OpError::IoNotSupported));
        }
        let flags = system::flags(fd)?;
        let mode = system::mode(fd)?;
        // SAFETY: requires that the number names this file until the handle is deregistered; holds because the caller
        // stores the descriptor beside the registration, to be closed after it, or drops the registration first.
        let handle = unsafe { ffi::register_file(api, fd) }?;
        Ok((FileRegistration { handle, driver: Arc::clone(driver) }, flags, mode))
    }

    /// The path the file was opened by; `None` for a handle made from a descriptor.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// The status flags of the descriptor when it was registered, as `F_GETFL` gives them.
    #[must_use]
    pub fn flags(&self) -> i32 {
        self.flags
    }

    /// The permission bits of the file when it was registered.
    #[must_use]
    pub fn mode(&self) -> u32 {
        self.mode
    }

    /// What the file is registered by.
    #[must_use]
    pub fn handle_type(&self) -> FileHandleType {
        self.handle_type
    }

    /// The handle of C, a `hipFileHandle_t`, for calls of [`hipfile::sys`](crate::sys). It is valid while `self` lives.
    #[doc(alias = "hipFileHandle_t")]
    #[must_use]
    pub fn as_raw(&self) -> hipfile_sys::hipFileHandle_t {
        self.registration.handle.as_ptr()
    }

    /// What the fast path asks of offsets, sizes and addresses; `None` if the file has no direct I/O.
    ///
    /// # Errors
    ///
    /// What `statx` answers, in [`Error::os_error`].
    pub fn alignment(&self) -> Result<Option<Alignment>> {
        system::alignment(self.as_fd()).map_err(|cause| self.error("read alignment of", cause))
    }

    /// Deregisters the file and gives its descriptor back.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # use hipfile::{Driver, OpenOptions};
    /// # let driver = Driver::open()?;
    /// let file = OpenOptions::new().read(true).open(&driver, "Cargo.toml")?;
    /// let file = std::fs::File::from(file.into_fd());
    /// assert!(file.metadata()?.is_file());
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "hipFileHandleDeregister")]
    #[must_use = "dropping the handle closes the file as well"]
    pub fn into_fd(self) -> OwnedFd {
        let Self { registration, file, .. } = self;
        drop(registration);
        file.into()
    }

    /// Registers the same open file once more: a handle with a descriptor and a registration of its own. hipFile 0.2.
    ///
    /// As for [`std::fs::File::try_clone`], both have one position and one set of status flags. To share a handle between
    /// threads, an [`Arc`] is enough.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use hipfile::alloc::DeviceBuffer;
    /// use hipfile::{Driver, OpenOptions};
    ///
    /// let file = OpenOptions::new().read(true).open(&Driver::open()?, "/proc/self/exe")?;
    /// let clone = file.try_clone()?;
    /// drop(file); // the clone stays registered and open
    /// let mut memory = DeviceBuffer::new(4)?;
    /// clone.read_exact_at(memory.slice_mut(..)?, 0)?;
    /// # assert_eq!(memory.to_vec()?, b"\x7fELF");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// What the system answers if no descriptor is free, and what [`new`](Self::new) gives.
    #[doc(alias = "hipFileHandleRegister")]
    pub fn try_clone(&self) -> Result<Self> {
        let driver = &self.registration.driver;
        let again = self.file.try_clone().map_err(|error| self.error("duplicate", system::cause(&error)))?;
        Self::register(driver, again.into(), self.path.clone(), self.handle_type).map_err(Failed::into_error)
    }

    /// Whether the descriptor is open for that way, and takes offsets.
    #[inline]
    pub(crate) fn admits(&self, way: Way) -> std::result::Result<(), Cause> {
        match (way, self.flags & libc::O_ACCMODE) {
            (Way::Read, libc::O_WRONLY) | (Way::Write, libc::O_RDONLY) => Err(Cause::NotOpenFor(way)),
            (Way::Write, _) if self.flags & libc::O_APPEND != 0 => Err(Cause::Append),
            _ => Ok(()),
        }
    }

    /// The open file, for what std does with files; not in a forked child.
    pub(crate) fn file(&self) -> std::result::Result<&File, Cause> {
        self.driver().live().map(|_api| &self.file)
    }

    /// The same file without `O_DIRECT`, if the descriptor has that.
    pub(crate) fn buffered(&self) -> std::result::Result<Option<&File>, Cause> {
        if self.flags & libc::O_DIRECT == 0 {
            return Ok(None);
        }
        if self.buffered.get().is_none() {
            let file = system::open_again(self.as_fd(), self.flags & !libc::O_DIRECT)?;
            // Where another thread was first, its file is used and this one closed.
            let _ = self.buffered.set(file);
        }
        Ok(self.buffered.get())
    }

    pub(crate) fn driver(&self) -> &DriverInner {
        &self.registration.driver
    }

    pub(crate) fn handle(&self) -> Handle {
        self.registration.handle
    }

    /// An error about this file.
    #[cold]
    pub(crate) fn error(&self, operation: &'static str, cause: Cause) -> Error {
        Error::new(operation, cause).on(self.subject())
    }

    /// What an error about this file names it by.
    pub(crate) fn subject(&self) -> Subject {
        match &self.path {
            Some(path) => Subject::Path(Arc::clone(path)),
            None => Subject::Descriptor(self.file.as_raw_fd()),
        }
    }
}

impl Drop for FileRegistration {
    #[allow(unsafe_code, reason = "deregisters the descriptor")]
    fn drop(&mut self) {
        // In a forked child the library is not to be touched; the descriptor is the child's own copy.
        if let Ok(api) = self.driver.live() {
            // SAFETY: requires a live handle without transfers; holds because the handle came from our registration,
            // this runs once, and a transfer borrows or owns the file until it has ended.
            unsafe { ffi::deregister_file(api, self.handle) }
        }
    }
}

impl AsFd for FileHandle {
    /// The descriptor. Reading, writing or resizing the file through it is fine; the page cache keeps both ways coherent.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl fmt::Debug for FileHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileHandle")
            .field("path", &self.path)
            .field("fd", &self.file.as_raw_fd())
            .field("handle", &self.as_raw())
            .finish_non_exhaustive()
    }
}
