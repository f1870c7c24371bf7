//! HIP's error codes.

use core::fmt;

use crate::error::ErrorKind;
use crate::fork::forked;
use crate::table;

/// A code of HIP (C: `hipError_t`), known to this crate or not.
///
/// Displayed as name, code and text, which come from the HIP in use: `hipErrorOutOfMemory (2): out of memory`.
///
/// ```
/// # fn main() -> hip_alloc::Result<()> {
/// let error = hip_alloc::HipError::from(2);
/// assert_eq!(error.code(), 2);
/// assert_eq!(error, hip_alloc::HipError::OUT_OF_MEMORY);
///
/// hip_alloc::Device::current()?; // names and texts are those of the HIP in use, once one is
/// println!("{} means {}", error.name().unwrap_or("?"), error.description().unwrap_or("?"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[doc(alias = "hipError_t")]
pub struct HipError(u32);

impl HipError {
    /// `hipErrorInvalidValue` (1).
    pub const INVALID_VALUE: Self = Self(1);
    /// `hipErrorOutOfMemory` (2).
    pub const OUT_OF_MEMORY: Self = Self(2);
    /// `hipErrorNotReady` (600): not a failure, work goes on.
    pub const NOT_READY: Self = Self(600);
    /// `hipErrorNoDevice` (100).
    pub const NO_DEVICE: Self = Self(100);
    /// `hipErrorInvalidDevice` (101).
    pub const INVALID_DEVICE: Self = Self(101);
    /// `hipErrorNotSupported` (801).
    pub const NOT_SUPPORTED: Self = Self(801);

    /// Whether HIP refused to answer because a stream of the process is being captured into a graph: nothing is wrong.
    pub(crate) const fn is_of_capture(self) -> bool {
        matches!(self.0, 900..=908)
    }

    /// The number that HIP returned.
    #[must_use]
    pub const fn code(self) -> u32 {
        self.0
    }

    /// The kind of an error with this code.
    ///
    /// ```
    /// use hip_alloc::{ErrorKind, HipError};
    ///
    /// assert_eq!(HipError::OUT_OF_MEMORY.kind(), ErrorKind::OutOfMemory);
    /// assert_eq!(HipError::from(719).kind(), ErrorKind::Hip); // a kernel failed
    /// ```
    #[must_use]
    pub const fn kind(self) -> ErrorKind {
        match self {
            Self::OUT_OF_MEMORY => ErrorKind::OutOfMemory,
            Self::INVALID_VALUE => ErrorKind::InvalidInput,
            Self::NO_DEVICE | Self::INVALID_DEVICE => ErrorKind::NoDevice,
            Self::NOT_SUPPORTED => ErrorKind::Unsupported,
            _ => ErrorKind::Hip,
        }
    }

    /// HIP's name of the code, such as `hipErrorOutOfMemory`; `None` if HIP is not in use, or in a forked child.
    #[must_use]
    #[doc(alias = "hipGetErrorName")]
    pub fn name(self) -> Option<&'static str> {
        hip()?.error_name(self.0)
    }

    /// HIP's description of the code; `None` if HIP is not in use, in a forked child, or if it has only a name.
    #[must_use]
    #[doc(alias = "hipGetErrorString")]
    pub fn description(self) -> Option<&'static str> {
        let text = hip()?.error_text(self.0)?;
        // Older HIPs return the name here.
        (Some(text) != self.name()).then_some(text)
    }
}

fn hip() -> Option<&'static crate::ffi::Functions> {
    if forked() { None } else { table::in_use() }
}

impl From<u32> for HipError {
    fn from(code: u32) -> Self {
        Self(code)
    }
}

impl From<HipError> for u32 {
    fn from(error: HipError) -> Self {
        error.0
    }
}

impl fmt::Display for HipError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => write!(f, "{name} ({})", self.0)?,
            None => write!(f, "HIP error {}", self.0)?,
        }
        match self.description() {
            Some(text) => write!(f, ": {text}"),
            None => Ok(()),
        }
    }
}

impl core::error::Error for HipError {}
