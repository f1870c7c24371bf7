//! Failures that give back what they were given.

use core::fmt;
use std::io;
use std::sync::{Mutex, PoisonError};

use crate::error::Error;

/// Why a function that takes a value to keep or to use up failed, and the value: one pointer wide.
///
/// It reads as the error and converts into it, so `?` works where the value is of no more use; what it holds is dropped
/// then.
///
/// ```
/// # fn main() -> hip_alloc::Result<()> {
/// use hip_alloc::{DeviceBuffer, ErrorKind, Failed};
///
/// /// Frees, or keeps for later what is still in use.
/// fn free(buffer: DeviceBuffer, later: &mut Vec<DeviceBuffer>) -> hip_alloc::Result<()> {
///     match buffer.free() {
///         Err(failed) if failed.error().kind() == ErrorKind::Busy => Ok(later.push(failed.into_inner())),
///         answer => Ok(answer?),
///     }
/// }
/// # let mut later = Vec::new();
/// # free(DeviceBuffer::new(4096)?, &mut later)?;
///
/// let freed: Result<(), Failed<DeviceBuffer>> = DeviceBuffer::new(4096)?.free();
/// if let Err(failed) = freed {
///     let (error, buffer) = failed.into_parts();
///     eprintln!("{error}; trying once more");
///     buffer.free().map_err(Failed::into_error)?; // or just `?`
/// }
/// # Ok(())
/// # }
/// ```
pub struct Failed<T, E = Error>(Box<Inner<T, E>>);

struct Inner<T, E> {
    error: E,
    /// Reached by value only, so that the whole is `Sync`, as errors have to be, whether `T` is or not.
    value: Mutex<T>,
}

impl<T, E> Failed<T, E> {
    // For the hipfile crate: not covered by semantic versioning.
    #[doc(hidden)]
    #[cold]
    pub fn new(error: E, value: T) -> Self {
        Self(Box::new(Inner { error, value: Mutex::new(value) }))
    }

    /// What went wrong.
    #[must_use]
    pub fn error(&self) -> &E {
        &self.0.error
    }

    /// What went wrong. Drops the value.
    #[must_use]
    pub fn into_error(self) -> E {
        self.0.error
    }

    /// What had been given.
    #[must_use]
    pub fn into_inner(self) -> T {
        self.into_parts().1
    }

    /// What went wrong, and what had been given.
    #[must_use]
    pub fn into_parts(self) -> (E, T) {
        let Inner { error, value } = *self.0;
        (error, value.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<T, E: fmt::Debug> fmt::Debug for Failed<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Failed").field("error", &self.0.error).finish_non_exhaustive()
    }
}

impl<T, E: fmt::Display> fmt::Display for Failed<T, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.error.fmt(f)
    }
}

impl<T, E: core::error::Error> core::error::Error for Failed<T, E> {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        self.0.error.source()
    }
}

impl<T> From<Failed<T>> for Error {
    /// Drops the value: see [`Failed::into_error`].
    fn from(failed: Failed<T>) -> Self {
        failed.0.error
    }
}

impl<T, E: Into<Self>> From<Failed<T, E>> for io::Error {
    /// Drops the value.
    fn from(failed: Failed<T, E>) -> Self {
        failed.0.error.into()
    }
}
