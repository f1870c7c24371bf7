//! How a file is named to the library.

/// What a file is registered by.
///
/// ```
/// use hipfile::{Driver, FileHandleType, OpenOptions};
///
/// # fn main() -> hipfile::Result<()> {
/// # let path = std::env::temp_dir().join(format!("hipfile-doc-handle-type-{}", std::process::id()));
/// let driver = Driver::open()?;
/// let file = OpenOptions::new().write(true).create(true).open(&driver, &path)?;
/// assert_eq!(file.handle_type(), FileHandleType::OpaqueFd);
/// assert_eq!(FileHandleType::OpaqueFd.code(), 1);
/// # std::fs::remove_file(&path).unwrap();
/// # Ok(())
/// # }
/// ```
#[doc(alias = "hipFileFileHandleType_t")]
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum FileHandleType {
    /// A file descriptor: the one form that AMD's library takes.
    #[doc(alias = "hipFileHandleTypeOpaqueFD")]
    #[default]
    OpaqueFd,
    /// A Windows handle. Refused with [`OpError::IoNotSupported`](crate::OpError::IoNotSupported).
    #[doc(alias = "hipFileHandleTypeOpaqueWin32")]
    OpaqueWin32,
    /// A file of a user-space file system. Refused with [`OpError::IoNotSupported`](crate::OpError::IoNotSupported).
    #[doc(alias = "hipFileHandleTypeUserspaceFS")]
    UserspaceFs,
}

impl FileHandleType {
    /// The enumerator's value in C.
    #[must_use]
    pub const fn code(self) -> u32 {
        match self {
            Self::OpaqueFd => hipfile_sys::hipFileHandleTypeOpaqueFD.0,
            Self::OpaqueWin32 => hipfile_sys::hipFileHandleTypeOpaqueWin32.0,
            Self::UserspaceFs => hipfile_sys::hipFileHandleTypeUserspaceFS.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_the_header() {
        let types = [FileHandleType::OpaqueFd, FileHandleType::OpaqueWin32, FileHandleType::UserspaceFs];
        assert_eq!(types.map(FileHandleType::code), [1, 2, 3]);
    }
}
