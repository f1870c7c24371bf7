//! Which libhipfile is in use, and what it can do.

use std::fmt;

use crate::error::{Error, Result};
use crate::ffi;

/// A version of libhipfile.
///
/// ```
/// use hipfile::Version;
///
/// # fn main() -> hipfile::Result<()> {
/// let version = hipfile::version()?;
/// assert!(version >= Version { major: 0, minor: 2, patch: 0 });
/// println!("libhipfile {version}");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// First number.
    pub major: u32,
    /// Second number; before 1.0 it marks what can be relied on.
    pub minor: u32,
    /// Third number.
    pub patch: u32,
}

impl Version {
    /// Since this version batches run; before, they were accepted and never executed.
    pub(crate) const BATCH: Self = Self { major: 0, minor: 5, patch: 0 };
    /// Since this version transfers on streams can take the fast path.
    pub(crate) const ASYNC_FAST_PATH: Self = Self { major: 0, minor: 5, patch: 0 };
    /// Since this version the library counts operations.
    pub(crate) const STATS: Self = Self { major: 0, minor: 5, patch: 0 };
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// The version of the libhipfile in use. hipFile 0.2.
///
/// # Errors
///
/// [`ErrorKind::NotLoaded`](crate::ErrorKind::NotLoaded) if no libhipfile can be loaded,
/// [`ErrorKind::Forked`](crate::ErrorKind::Forked) in a forked child.
#[doc(alias = "hipFileGetVersion")]
pub fn version() -> Result<Version> {
    ffi::api().and_then(ffi::version).map_err(|cause| Error::new("read version", cause))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_order_by_number() {
        let v = |major, minor, patch| Version { major, minor, patch };
        assert!(v(0, 10, 0) > v(0, 9, 9));
        assert!(v(1, 0, 0) > v(0, 99, 0));
        assert_eq!(v(0, 5, 0).to_string(), "0.5.0");
    }
}
