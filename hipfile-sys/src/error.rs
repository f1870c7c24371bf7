//! Why there is no function table.

use std::fmt;
use std::path::PathBuf;

/// There is no libhipfile to call.
///
/// ```
/// // SAFETY: requires a libhipfile; there is no such file.
/// let error = unsafe { hipfile_sys::Api::load("/nonexistent".as_ref()) }.unwrap_err();
/// assert!(error.to_string().contains("/nonexistent"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadError(Reason);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Reason {
    NotLoaded(rocm_loader::LoadError),
    Lacks { library: PathBuf, function: &'static str },
}

impl LoadError {
    pub(crate) fn lacks(library: PathBuf, function: &'static str) -> Self {
        Self(Reason::Lacks { library, function })
    }
}

impl From<rocm_loader::LoadError> for LoadError {
    fn from(error: rocm_loader::LoadError) -> Self {
        Self(Reason::NotLoaded(error))
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Reason::NotLoaded(error) => error.fmt(f),
            Reason::Lacks { library, function } => {
                write!(f, "{} has no {function}: libhipfile 0.2 or newer is needed", library.display())
            }
        }
    }
}

impl std::error::Error for LoadError {}

/// The process has a function table already, so another one cannot be chosen.
///
/// ```
/// assert_eq!(hipfile_sys::AlreadyInUse.to_string(), "a libhipfile is in use already; choose one before the first call");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AlreadyInUse;

impl fmt::Display for AlreadyInUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a libhipfile is in use already; choose one before the first call")
    }
}

impl std::error::Error for AlreadyInUse {}
