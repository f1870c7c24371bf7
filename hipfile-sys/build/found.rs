//! What the search is for.

use std::path::PathBuf;

use crate::header::Version;

/// A libhipfile to build against.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    /// The directory of hipfile.h.
    pub include: PathBuf,
    /// The directory of libhipfile.so; none if the linker finds it by itself.
    pub lib_dir: Option<PathBuf>,
    /// The version in the header.
    pub version: Version,
    /// What the user should know all the same.
    pub warnings: Vec<String>,
}

impl Found {
    /// The header.
    pub(crate) fn header(&self) -> PathBuf {
        self.include.join("hipfile.h")
    }
}
