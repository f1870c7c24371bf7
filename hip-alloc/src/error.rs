//! The error of every operation of this crate.

use core::fmt;
use core::ops::Bound;
use std::io;
use std::path::PathBuf;

use crate::calls::Failure;
use crate::device::{Device, MemoryInfo};
use crate::hip_error::HipError;

/// A [`Result`](core::result::Result) with this crate's [`Error`].
pub type Result<T> = core::result::Result<T, Error>;

/// Why an operation failed: one pointer wide, one line when displayed (operation, then cause).
///
/// ```
/// # fn main() -> hip_alloc::Result<()> {
/// let buffer = hip_alloc::DeviceBuffer::new(100)?;
/// let error = buffer.slice(90..110).unwrap_err();
/// assert_eq!(error.kind(), hip_alloc::ErrorKind::OutOfRange);
/// assert_eq!(error.to_string(), "DeviceBuffer::slice: bytes 90..110 are not within 0..100");
/// assert_eq!((error.operation(), error.hip_error()), ("DeviceBuffer::slice", None)); // HIP was not asked
///
/// let error: hip_alloc::Error = hip_alloc::DeviceBuffer::new(1 << 60).unwrap_err();
/// assert_eq!(error.hip_error(), Some(hip_alloc::HipError::OUT_OF_MEMORY));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Error(Box<Inner>);

#[derive(Clone, Debug)]
struct Inner {
    operation: &'static str,
    cause: Cause,
}

/// What kind of failure an [`Error`] is.
///
/// ```
/// use hip_alloc::{DeviceBuffer, ErrorKind};
///
/// /// As much as there is room for, up to `len` bytes.
/// fn allocate_up_to(mut len: usize) -> hip_alloc::Result<DeviceBuffer> {
///     loop {
///         match DeviceBuffer::new(len) {
///             Err(error) if error.kind() == ErrorKind::OutOfMemory && len > 1 => len /= 2,
///             answer => return answer,
///         }
///     }
/// }
/// # fn main() -> hip_alloc::Result<()> {
/// assert!(!allocate_up_to(1 << 60)?.is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The device has not enough free memory (`hipErrorOutOfMemory`).
    OutOfMemory,
    /// A range or offset is not within the memory it is meant for.
    OutOfRange,
    /// A length or alignment that no memory can have, two lengths that differ, memory of another device than the stream's, or
    /// a value that HIP refused (`hipErrorInvalidValue`).
    InvalidInput,
    /// There is no such device (`hipErrorNoDevice`, `hipErrorInvalidDevice`).
    NoDevice,
    /// A library still holds a registration of the memory, or HIP is in use already.
    Busy,
    /// The base address is registered already, with another length, by a guard that shares the memory.
    AlreadyRegistered,
    /// The process is a forked child, in which HIP cannot be used.
    Forked,
    /// HIP's library could not be loaded.
    NotLoaded,
    /// The HIP in use lacks the function, or the device can't do it (`hipErrorNotSupported`).
    Unsupported,
    /// The thread that operations need could not be started.
    NoThread,
    /// Any other code of HIP: see [`Error::hip_error`].
    Hip,
}

#[derive(Clone, Debug)]
pub(crate) enum Cause {
    Hip {
        failure: Failure,
        bytes: Option<usize>,
        device: Option<Device>,
        memory: Option<MemoryInfo>,
    },
    Range {
        start: Bound<usize>,
        end: Bound<usize>,
        len: usize,
    },
    Span {
        offset: usize,
        count: usize,
        len: usize,
    },
    Length {
        len: usize,
    },
    Lengths {
        source: usize,
        destination: usize,
    },
    OtherDevice {
        stream: Device,
        memory: Device,
    },
    Alignment {
        align: usize,
    },
    #[cfg(feature = "bytemuck")]
    Elements {
        address: usize,
        len: usize,
        size: usize,
        align: usize,
    },
    NoDevice {
        ordinal: u32,
        count: u32,
    },
    Busy {
        base: usize,
        len: usize,
    },
    LengthDiffers {
        base: usize,
        len: usize,
        registered: usize,
    },
    InUse {
        path: PathBuf,
    },
    Forked,
    NotLoaded(String),
    Missing {
        call: &'static str,
    },
    NoThread(String),
}

impl Error {
    pub(crate) fn new(operation: &'static str, cause: Cause) -> Self {
        Self(Box::new(Inner { operation, cause }))
    }

    /// A failed HIP call, as `map_err` wants it.
    pub(crate) fn hip(operation: &'static str) -> impl Fn(Failure) -> Self {
        move |failure| Self::new(operation, Cause::Hip { failure, bytes: None, device: None, memory: None })
    }

    /// A failed HIP call for `bytes` bytes.
    pub(crate) fn hip_for(operation: &'static str, bytes: usize) -> impl Fn(Failure) -> Self {
        move |failure| {
            Self::new(operation, Cause::Hip { failure, bytes: Some(bytes), device: None, memory: None })
        }
    }

    /// A failed HIP call for `bytes` bytes on `device`.
    pub(crate) fn hip_on(operation: &'static str, device: Device, bytes: usize) -> impl Fn(Failure) -> Self {
        move |failure| {
            Self::new(
                operation,
                Cause::Hip { failure, bytes: Some(bytes), device: Some(device), memory: None },
            )
        }
    }

    /// The kind of failure.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match &self.0.cause {
            Cause::Hip { failure, .. } => failure.error.kind(),
            Cause::Range { .. } | Cause::Span { .. } => ErrorKind::OutOfRange,
            Cause::Length { .. }
            | Cause::Lengths { .. }
            | Cause::OtherDevice { .. }
            | Cause::Alignment { .. } => ErrorKind::InvalidInput,
            #[cfg(feature = "bytemuck")]
            Cause::Elements { .. } => ErrorKind::InvalidInput,
            Cause::NoDevice { .. } => ErrorKind::NoDevice,
            Cause::Busy { .. } | Cause::InUse { .. } => ErrorKind::Busy,
            Cause::LengthDiffers { .. } => ErrorKind::AlreadyRegistered,
            Cause::Forked => ErrorKind::Forked,
            Cause::NotLoaded(_) => ErrorKind::NotLoaded,
            Cause::Missing { .. } => ErrorKind::Unsupported,
            Cause::NoThread(_) => ErrorKind::NoThread,
        }
    }

    /// HIP's code, if a call into HIP failed.
    #[must_use]
    pub fn hip_error(&self) -> Option<HipError> {
        match &self.0.cause {
            Cause::Hip { failure, .. } => Some(failure.error),
            _ => None,
        }
    }

    /// The operation that failed, such as `DeviceBuffer::new`.
    #[must_use]
    pub fn operation(&self) -> &'static str {
        self.0.operation
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

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.operation, self.0.cause)
    }
}

impl core::error::Error for Error {}

impl From<Error> for io::Error {
    /// Keeps the whole error as the inner one.
    ///
    /// ```
    /// use std::io;
    ///
    /// fn on_device(bytes: &[u8]) -> io::Result<hip_alloc::DeviceBuffer> {
    ///     Ok(hip_alloc::DeviceBuffer::from_host(bytes)?)
    /// }
    /// # fn main() -> io::Result<()> {
    /// let error: io::Error = on_device(b"four")?.slice(5..).unwrap_err().into();
    /// assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    /// let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<hip_alloc::Error>());
    /// assert_eq!(inner.map(hip_alloc::Error::kind), Some(hip_alloc::ErrorKind::OutOfRange));
    /// # Ok(())
    /// # }
    /// ```
    fn from(error: Error) -> Self {
        Self::new(error.kind().into(), error)
    }
}

impl From<ErrorKind> for io::ErrorKind {
    /// `Other` for what has no counterpart there.
    fn from(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::OutOfMemory => Self::OutOfMemory,
            ErrorKind::OutOfRange | ErrorKind::InvalidInput => Self::InvalidInput,
            ErrorKind::Busy => Self::ResourceBusy,
            ErrorKind::AlreadyRegistered => Self::AlreadyExists,
            ErrorKind::Unsupported => Self::Unsupported,
            ErrorKind::NoDevice
            | ErrorKind::Forked
            | ErrorKind::NotLoaded
            | ErrorKind::NoThread
            | ErrorKind::Hip => Self::Other,
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hip { failure, bytes, device, memory } => {
                f.write_str(failure.call)?;
                if let Some(bytes) = bytes {
                    write!(f, " of {bytes} bytes")?;
                }
                if let Some(device) = device {
                    write!(f, " on device {}", device.ordinal())?;
                }
                write!(f, " failed: {}", failure.error)?;
                match memory {
                    Some(memory) => write!(f, "; {} of {} bytes are free", memory.free, memory.total),
                    None => Ok(()),
                }
            }
            Self::Range { start, end, len } => {
                f.write_str("bytes ")?;
                match start {
                    Bound::Included(start) => write!(f, "{start}..")?,
                    Bound::Excluded(start) => write!(f, "(after {start})..")?,
                    Bound::Unbounded => f.write_str("..")?,
                }
                match end {
                    Bound::Included(end) => write!(f, "={end}")?,
                    Bound::Excluded(end) => write!(f, "{end}")?,
                    Bound::Unbounded => {}
                }
                write!(f, " are not within 0..{len}")
            }
            Self::Span { offset, count, len } => {
                write!(f, "{count} bytes at offset {offset} are not within 0..{len}")
            }
            Self::Length { len } => {
                write!(f, "a length of {len} bytes is more than any memory can have, {} bytes", isize::MAX)
            }
            Self::Lengths { source, destination } => {
                write!(f, "{source} bytes can't be copied into {destination}")
            }
            Self::OtherDevice { stream, memory } => write!(
                f,
                "a stream of device {} can't use memory of device {}",
                stream.ordinal(),
                memory.ordinal()
            ),
            Self::Alignment { align } => write!(f, "an alignment of {align} is not a power of two"),
            #[cfg(feature = "bytemuck")]
            Self::Elements { address, len, size, align } => write!(
                f,
                "{len} bytes at {address:#x} are no whole number of elements of {size} bytes that are aligned to {align}"
            ),
            Self::NoDevice { ordinal, count: 0 } => {
                write!(f, "there is no device {ordinal}: HIP has no device")
            }
            Self::NoDevice { ordinal, count } => {
                write!(f, "there is no device {ordinal}: HIP has devices 0 to {}", count.saturating_sub(1))
            }
            Self::Busy { base, len } => write!(
                f,
                "a library still holds the registration of {len} bytes at {base:#x}; try again when its operations have ended"
            ),
            Self::LengthDiffers { base, len, registered } => write!(
                f,
                "{len} bytes at {base:#x} can't share the registration of {registered} bytes there; register the same length"
            ),
            Self::InUse { path } => {
                write!(f, "HIP is in use already, so {} can no longer be chosen; load first", path.display())
            }
            Self::Forked => f.write_str("HIP cannot be used in a forked child; exec a new program instead"),
            Self::NotLoaded(reason) => f.write_str(reason),
            Self::Missing { call } => write!(f, "the HIP in use has no {call}"),
            Self::NoThread(reason) => write!(f, "the thread hip-completion could not be started: {reason}"),
        }
    }
}
