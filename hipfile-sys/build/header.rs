//! The version that a header claims.

use std::fmt;
use std::path::Path;

/// A hipFile version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version {
    pub major: u32,
    pub minor: u32,
    pub patch: u32,
}

/// The oldest version with every function that the function table requires.
pub(crate) const FLOOR: Version = Version { major: 0, minor: 2, patch: 0 };
/// The newest version this crate was tested with.
pub(crate) const NEWEST_TESTED: Version = Version { major: 0, minor: 5, patch: 0 };

impl Version {
    /// Whether the first two numbers are above those of `other`.
    pub(crate) fn is_newer_release_than(self, other: Self) -> bool {
        (self.major, self.minor) > (other.major, other.minor)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// The version of `folder/hipfile.h`, or why it will not do.
pub(crate) fn version_in(folder: &Path) -> Result<Version, String> {
    let header = folder.join("hipfile.h");
    let text = match std::fs::read(&header) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(format!("{} does not exist", header.display()));
        }
        Err(error) => return Err(format!("{}: {error}", header.display())),
    };
    let number = |name: &str| {
        number(&text, name).ok_or_else(|| format!("{} does not define {name} as a number", header.display()))
    };
    let version = Version {
        major: number("HIPFILE_VERSION_MAJOR")?,
        minor: number("HIPFILE_VERSION_MINOR")?,
        patch: number("HIPFILE_VERSION_PATCH")?,
    };
    if version < FLOOR {
        return Err(format!("{} is of hipFile {version}, but {FLOOR} or newer is needed", header.display()));
    }
    Ok(version)
}

/// The number in `#define name number`.
fn number(header: &str, name: &str) -> Option<u32> {
    header.lines().find_map(|line| {
        let mut words = line.trim().strip_prefix('#')?.split_whitespace();
        (words.next()? == "define" && words.next()? == name).then(|| words.next()?.parse().ok())?
    })
}
