//! The error type.

use std::fmt;
use std::io;
use std::os::fd::RawFd;
use std::path::Path;
use std::sync::Arc;

use hip_alloc::HipError;

pub(crate) use crate::cause::Cause;
use crate::kind::ErrorKind;
use crate::op_error::OpError;

/// The result of most functions here.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a function that takes a value to keep or to use up failed, and the value.
///
/// It converts into the [`Error`], so `?` works where the value is of no more use.
///
/// ```
/// use hipfile::{Driver, Failed, FileHandle};
///
/// # fn main() -> hipfile::Result<()> {
/// let driver = Driver::open()?;
/// let file = std::fs::File::open("/proc/self/exe").unwrap();
/// let file: Result<FileHandle, Failed<std::os::fd::OwnedFd>> = FileHandle::new(&driver, file);
/// assert!(file?.path().is_none());
///
/// let (socket, _peer) = std::os::unix::net::UnixStream::pair().unwrap();
/// let failed: Failed<_> = FileHandle::new(&driver, socket).unwrap_err();
/// assert!(failed.error().to_string().starts_with("register file descriptor"));
/// let _socket = failed.into_inner();
/// # Ok(())
/// # }
/// ```
pub type Failed<T> = hip_alloc::Failed<T, Error>;

/// What failed, on what, and why.
///
/// One machine word. Its text is one line: operation, what it was done on, cause, code and the code's name.
///
/// ```
/// use hipfile::{Driver, ErrorKind, OpenOptions};
///
/// # fn main() -> hipfile::Result<()> {
/// let driver = Driver::open()?;
/// let error = OpenOptions::new().read(true).open(&driver, "/no/such/file").unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Os);
/// assert_eq!(error.os_error(), Some(2));
/// assert_eq!(error.to_string(), "open /no/such/file: no such file or directory (2 ENOENT)");
/// # Ok(())
/// # }
/// ```
pub struct Error(Box<Inner>);

struct Inner {
    operation: &'static str,
    subject: Option<Subject>,
    span: Option<FileSpan>,
    bytes_done: usize,
    cause: Cause,
}

/// What an operation was done on.
#[derive(Debug, Clone)]
pub(crate) enum Subject {
    Path(Arc<Path>),
    Descriptor(RawFd),
    /// By the name it has in C.
    Parameter(&'static str),
}

/// The bytes of the file that a transfer was about.
#[derive(Debug, Clone, Copy)]
struct FileSpan {
    offset: u64,
    len: usize,
}

impl Error {
    #[cold]
    pub(crate) fn new(operation: &'static str, cause: Cause) -> Self {
        Self(Box::new(Inner { operation, subject: None, span: None, bytes_done: 0, cause }))
    }

    pub(crate) fn on(mut self, subject: Subject) -> Self {
        self.0.subject = Some(subject);
        self
    }

    pub(crate) fn at(mut self, offset: u64, len: usize) -> Self {
        self.0.span = Some(FileSpan { offset, len });
        self
    }

    pub(crate) fn after(mut self, bytes_done: usize) -> Self {
        self.0.bytes_done = bytes_done;
        self
    }

    /// The class of the error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.cause.kind()
    }

    /// What was being done: `open`, `read`, `write`, `register memory` and so on.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use hipfile::alloc::DeviceBuffer;
    /// use hipfile::{Driver, ErrorKind, OpenOptions};
    ///
    /// let driver = Driver::open()?;
    /// let file = OpenOptions::new().read(true).open(&driver, "Cargo.toml")?;
    /// let size = std::fs::metadata("Cargo.toml")?.len() as usize;
    /// let mut memory = DeviceBuffer::new(size + 10)?;
    /// let error = file.read_exact_at(memory.slice_mut(..)?, 0).unwrap_err();
    /// assert_eq!((error.operation(), error.kind()), ("read", ErrorKind::UnexpectedEof));
    /// assert_eq!((error.offset(), error.requested(), error.bytes_done()), (Some(0), Some(size + 10), size));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn operation(&self) -> &'static str {
        self.0.operation
    }

    /// The hipFile code, if the library gave one.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use hipfile::{Driver, FileHandle, OpError};
    ///
    /// let driver = Driver::open()?;
    /// let (socket, _peer) = std::os::unix::net::UnixStream::pair()?;
    /// let error = FileHandle::new(&driver, socket).unwrap_err().into_error();
    /// assert_eq!(error.op_error(), Some(OpError::InternalError));
    /// assert_eq!((error.raw_code(), error.hip_error(), error.os_error()), (Some(5030), None, None));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn op_error(&self) -> Option<OpError> {
        self.0.cause.op_error()
    }

    /// The code of the HIP runtime, if a HIP call failed.
    #[must_use]
    pub fn hip_error(&self) -> Option<HipError> {
        self.0.cause.hip_error()
    }

    /// The `errno` value, if a system call failed.
    #[must_use]
    pub fn os_error(&self) -> Option<i32> {
        self.0.cause.os_error()
    }

    /// The number that the library or the system gave, whichever space it is of. A return value that fits none is
    /// given as it came.
    #[must_use]
    pub fn raw_code(&self) -> Option<i64> {
        self.0.cause.raw_code()
    }

    /// Bytes that were transferred before the error: they are in the memory, or in the file.
    #[must_use]
    pub fn bytes_done(&self) -> usize {
        self.0.bytes_done
    }

    /// The path of the file, if the file was opened by path.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match &self.0.subject {
            Some(Subject::Path(path)) => Some(path),
            _ => None,
        }
    }

    /// The number of the file's descriptor, if the file was not opened by path. It may have been closed since.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use std::os::fd::AsRawFd;
    ///
    /// use hipfile::{Driver, FileHandle};
    ///
    /// let (socket, _peer) = std::os::unix::net::UnixStream::pair()?;
    /// let number = socket.as_raw_fd();
    /// let error = FileHandle::new(&Driver::open()?, socket).unwrap_err().into_error();
    /// assert_eq!((error.fd(), error.path()), (Some(number), None));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn fd(&self) -> Option<RawFd> {
        match self.0.subject {
            Some(Subject::Descriptor(fd)) => Some(fd),
            _ => None,
        }
    }

    /// The file offset in bytes at which the failed transfer was to start.
    #[must_use]
    pub fn offset(&self) -> Option<u64> {
        self.0.span.map(|span| span.offset)
    }

    /// The length in bytes of the failed transfer.
    #[must_use]
    pub fn requested(&self) -> Option<usize> {
        self.0.span.map(|span| span.len)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { operation, subject, span, bytes_done, cause } = &*self.0;
        if let Cause::Memory(error) = cause {
            if error.operation() == *operation {
                return error.fmt(f);
            }
        }
        f.write_str(operation)?;
        match subject {
            Some(Subject::Path(path)) => write!(f, " {}", path.display())?,
            Some(Subject::Descriptor(fd)) => write!(f, " descriptor {fd}")?,
            Some(Subject::Parameter(name)) => write!(f, " {name}")?,
            None => {}
        }
        if let Some(FileSpan { offset, len }) = span {
            write!(f, " at offset {offset}, {len} bytes")?;
        }
        if *bytes_done > 0 {
            write!(f, ", {bytes_done} done")?;
        }
        write!(f, ": {cause}")
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("kind", &self.kind())
            .field("message", &self.to_string())
            .field("cause", &self.0.cause)
            .finish()
    }
}

impl std::error::Error for Error {}

impl From<hip_alloc::Error> for Error {
    fn from(error: hip_alloc::Error) -> Self {
        Self::new(error.operation(), Cause::Memory(error))
    }
}

impl<T, E: Into<Self>> From<hip_alloc::Failed<T, E>> for Error {
    /// Drops what had been given.
    fn from(failed: hip_alloc::Failed<T, E>) -> Self {
        failed.into_error().into()
    }
}

impl<T> From<hip_alloc::CopyError<T>> for Error {
    /// Drops what had been given.
    fn from(failed: hip_alloc::CopyError<T>) -> Self {
        failed.into_error().into()
    }
}

impl From<Error> for io::Error {
    /// Keeps the whole error as the inner one. The kind is that of the `errno` value where there is one, else what
    /// [`Error::kind`] converts to.
    ///
    /// ```
    /// use std::io;
    ///
    /// use hipfile::{Driver, OpenOptions};
    ///
    /// # fn main() -> hipfile::Result<()> {
    /// let driver = Driver::open()?;
    /// let error: io::Error = OpenOptions::new().read(true).open(&driver, "/no/such/file").unwrap_err().into();
    /// assert_eq!(error.kind(), io::ErrorKind::NotFound);
    /// let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<hipfile::Error>());
    /// assert_eq!(inner.and_then(|error| error.path()), Some("/no/such/file".as_ref()));
    /// # Ok(())
    /// # }
    /// ```
    fn from(error: Error) -> Self {
        let kind = match error.os_error() {
            Some(errno) => io::Error::from_raw_os_error(errno).kind(),
            None => error.kind().into(),
        };
        Self::new(kind, error)
    }
}

#[cfg(test)]
mod tests;
