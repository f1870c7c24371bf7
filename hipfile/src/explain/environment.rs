//! The variables by which the library chooses paths.

use std::ffi::OsStr;
use std::sync::OnceLock;

/// What the environment says of paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Environment {
    /// `HIPFILE_FORCE_COMPAT_MODE`: no fast path.
    pub(crate) force_compat: bool,
    /// `HIPFILE_ALLOW_COMPAT_MODE`: what the fast path does not take goes through host memory.
    pub(crate) allow_compat: bool,
    /// `HIPFILE_UNSUPPORTED_FILE_SYSTEMS`: the fast path is taken on every file system.
    pub(crate) any_file_system: bool,
}

impl Environment {
    /// What it says where nothing is set.
    pub(crate) const DEFAULT: Self = Self { force_compat: false, allow_compat: true, any_file_system: false };

    /// As it was when this was called first, which is when a driver was first opened: the library reads it once too, at its
    /// first transfer.
    pub(crate) fn in_force() -> Self {
        static READ: OnceLock<Environment> = OnceLock::new();
        *READ.get_or_init(|| {
            let set = |name| std::env::var_os(name).and_then(|value| boolean(&value));
            let default = Self::DEFAULT;
            Self {
                force_compat: set("HIPFILE_FORCE_COMPAT_MODE").unwrap_or(default.force_compat),
                allow_compat: set("HIPFILE_ALLOW_COMPAT_MODE").unwrap_or(default.allow_compat),
                any_file_system: set("HIPFILE_UNSUPPORTED_FILE_SYSTEMS").unwrap_or(default.any_file_system),
            }
        })
    }
}

/// The two words that the library knows, in any case. Everything else it takes for a variable that is not set.
fn boolean(value: &OsStr) -> Option<bool> {
    if value.eq_ignore_ascii_case("true") {
        Some(true)
    } else if value.eq_ignore_ascii_case("false") {
        Some(false)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_words_only() {
        let table =
            [("true", Some(true)), ("TRUE", Some(true)), ("False", Some(false)), ("false", Some(false))];
        for (word, value) in table {
            assert_eq!(boolean(OsStr::new(word)), value, "{word}");
        }
        for word in ["", "1", "0", "yes", "no", " true", "true ", "on", "truee"] {
            assert_eq!(boolean(OsStr::new(word)), None, "{word:?}");
        }
    }
}
