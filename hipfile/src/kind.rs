//! What went wrong, in the words a program decides by.

use std::io;

/// The class of an [`Error`](crate::Error).
///
/// Classes are coarse on purpose: [`Error::op_error`](crate::Error::op_error),
/// [`Error::hip_error`](crate::Error::hip_error) and [`Error::os_error`](crate::Error::os_error) have the exact code.
///
/// ```
/// use hipfile::{Driver, ErrorKind, FileHandle};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let driver = Driver::open()?;
/// let (socket, _peer) = std::os::unix::net::UnixStream::pair()?;
/// let error = FileHandle::new(&driver, socket).unwrap_err().into_error();
/// assert_eq!(error.kind(), ErrorKind::Internal); // what AMD's library makes of sockets
/// # Ok(())
/// # }
/// ```
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// A library, libhipfile or HIP's, could not be loaded.
    NotLoaded,
    /// The driver is closed, which only code outside this crate can have done.
    NotInitialized,
    /// An argument can't be right whatever the state is.
    InvalidInput,
    /// A range goes past the end of the memory.
    OutOfRange,
    /// The memory is not device memory.
    UnsupportedMemory,
    /// The library can't work on this kind of file.
    UnsupportedFile,
    /// The library in use, the platform or the GPU lacks the feature.
    Unsupported,
    /// The memory or the file descriptor is registered already.
    AlreadyRegistered,
    /// The library does not know the memory, the file handle or the batch, which only code outside this crate can have undone.
    NotRegistered,
    /// Something is still in use: a driver by its files, memory by transfers; or a driver is open that must not be.
    Busy,
    /// Permission denied on the device or file.
    PermissionDenied,
    /// There is no such GPU, or none at all.
    NoDevice,
    /// Memory, on the device or the host, ran out.
    OutOfMemory,
    /// A signal came first; try again.
    Interrupted,
    /// The file ended before the request was filled.
    UnexpectedEof,
    /// A write made no progress.
    WriteZero,
    /// The transfer was cancelled. One of a batch never began then; a large one has moved
    /// [`Error::bytes_done`](crate::Error::bytes_done).
    Cancelled,
    /// The deadline passed.
    TimedOut,
    /// A system call failed; [`Error::os_error`](crate::Error::os_error) says how, except for transfers on streams, where
    /// the library loses that.
    Os,
    /// A call of the HIP runtime failed; [`Error::hip_error`](crate::Error::hip_error) says how.
    Hip,
    /// The library reports an internal error, its answer to whatever it has no better code for.
    Internal,
    /// The process was forked after the libraries were in use; they don't survive that.
    Forked,
    /// The library broke its contract, for example by reporting more bytes than were asked for.
    LibraryFault,
    /// A code without a meaning here; [`Error::raw_code`](crate::Error::raw_code) has it.
    Unknown,
}

impl From<ErrorKind> for io::ErrorKind {
    /// | here | there |
    /// |---|---|
    /// | `InvalidInput`, `OutOfRange`, `UnsupportedMemory` | `InvalidInput` |
    /// | `UnsupportedFile`, `Unsupported` | `Unsupported` |
    /// | `AlreadyRegistered` | `AlreadyExists` |
    /// | `Busy` | `ResourceBusy` |
    /// | `PermissionDenied`, `OutOfMemory`, `Interrupted`, `UnexpectedEof`, `WriteZero`, `TimedOut` | the same |
    /// | `Os` | `Other`; of an error that has the `errno` value, the kind of that |
    /// | all others | `Other` |
    ///
    /// `NotFound` is left to the system's own errors, so that a missing GPU is never
    /// taken for a missing file, and `Interrupted` to signals, since std tries again what was interrupted.
    fn from(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::InvalidInput | ErrorKind::OutOfRange | ErrorKind::UnsupportedMemory => {
                Self::InvalidInput
            }
            ErrorKind::UnsupportedFile | ErrorKind::Unsupported => Self::Unsupported,
            ErrorKind::AlreadyRegistered => Self::AlreadyExists,
            ErrorKind::Busy => Self::ResourceBusy,
            ErrorKind::PermissionDenied => Self::PermissionDenied,
            ErrorKind::OutOfMemory => Self::OutOfMemory,
            ErrorKind::Interrupted => Self::Interrupted,
            ErrorKind::UnexpectedEof => Self::UnexpectedEof,
            ErrorKind::WriteZero => Self::WriteZero,
            ErrorKind::TimedOut => Self::TimedOut,
            ErrorKind::NotLoaded
            | ErrorKind::NotInitialized
            | ErrorKind::NotRegistered
            | ErrorKind::NoDevice
            | ErrorKind::Cancelled
            | ErrorKind::Os
            | ErrorKind::Hip
            | ErrorKind::Internal
            | ErrorKind::Forked
            | ErrorKind::LibraryFault
            | ErrorKind::Unknown => Self::Other,
        }
    }
}
