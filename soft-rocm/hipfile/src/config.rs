//! The environment variables, read once when a value is first needed.

use std::ffi::OsStr;
use std::io::Write;
use std::sync::OnceLock;

/// Which paths transfers may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Config {
    /// Not `HIPFILE_FORCE_COMPAT_MODE`.
    pub(crate) fast_path: bool,
    /// `HIPFILE_ALLOW_COMPAT_MODE`, and always where the fast path is forbidden.
    pub(crate) fallback: bool,
    /// `HIPFILE_UNSUPPORTED_FILE_SYSTEMS`: the fast path may be taken on any file system.
    pub(crate) any_file_system: bool,
}

/// Printed when the two variables together would leave no path.
const CONTRADICTION: &str = "hipFile: HIPFILE_FORCE_COMPAT_MODE=true and HIPFILE_ALLOW_COMPAT_MODE=false exclude \
                             every path; the fallback is used";

impl Config {
    /// The configuration in force, fixed by the first transfer.
    #[inline]
    pub(crate) fn get() -> &'static Self {
        static CONFIG: OnceLock<Config> = OnceLock::new();
        CONFIG.get_or_init(|| {
            let force = boolean(variable("HIPFILE_FORCE_COMPAT_MODE").as_deref());
            let allow = boolean(variable("HIPFILE_ALLOW_COMPAT_MODE").as_deref());
            if force == Some(true) && allow == Some(false) {
                // There is nobody to tell if stderr is closed.
                let _ = writeln!(std::io::stderr(), "{CONTRADICTION}");
            }
            Self::new(force, allow, boolean(variable("HIPFILE_UNSUPPORTED_FILE_SYSTEMS").as_deref()))
        })
    }

    fn new(force: Option<bool>, allow: Option<bool>, any_file_system: Option<bool>) -> Self {
        let fast_path = !force.unwrap_or(false);
        Self {
            fast_path,
            fallback: allow.unwrap_or(true) || !fast_path,
            any_file_system: any_file_system.unwrap_or(false),
        }
    }
}

/// `HIPFILE_STATS_LEVEL`: 0 counts nothing, 1 to 3 count.
pub(crate) fn stats_level() -> u32 {
    level(variable("HIPFILE_STATS_LEVEL").as_deref())
}

fn level(value: Option<&OsStr>) -> u32 {
    integer(value).unwrap_or(1).min(3)
}

fn variable(name: &str) -> Option<std::ffi::OsString> {
    std::env::var_os(name)
}

/// `true` and `false` in any case; anything else counts as unset.
fn boolean(value: Option<&OsStr>) -> Option<bool> {
    let value = value?;
    if value.eq_ignore_ascii_case("true") {
        Some(true)
    } else if value.eq_ignore_ascii_case("false") {
        Some(false)
    } else {
        None
    }
}

/// Decimal digits and nothing else; what is too large becomes the largest value, anything else counts as unset.
fn integer(value: Option<&OsStr>) -> Option<u32> {
    let digits = value?.to_str()?;
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(digits.parse().unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boolean_words() {
        for word in ["true", "TRUE", "True", "tRuE"] {
            assert_eq!(boolean(Some(OsStr::new(word))), Some(true), "{word}");
        }
        for word in ["false", "FALSE", "fAlse"] {
            assert_eq!(boolean(Some(OsStr::new(word))), Some(false), "{word}");
        }
        for word in ["", "1", "0", "yes", "no", "on", "t", "true ", " true", "truee"] {
            assert_eq!(boolean(Some(OsStr::new(word))), None, "{word:?}");
        }
        assert_eq!(boolean(None), None);
    }

    #[test]
    fn integers() {
        let parse = |text: &str| integer(Some(OsStr::new(text)));
        assert_eq!(parse("0"), Some(0));
        assert_eq!(parse("0003"), Some(3));
        assert_eq!(parse("4294967295"), Some(u32::MAX));
        assert_eq!(parse("4294967296"), Some(u32::MAX));
        assert_eq!(parse("99999999999999999999999999"), Some(u32::MAX));
        for text in ["", "-1", "+1", " 1", "1 ", "0x1", "1.0", "one"] {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn levels() {
        assert_eq!(level(None), 1);
        assert_eq!(level(Some(OsStr::new("garbage"))), 1);
        assert_eq!(level(Some(OsStr::new("0"))), 0);
        assert_eq!(level(Some(OsStr::new("2"))), 2);
        assert_eq!(level(Some(OsStr::new("77"))), 3);
    }

    #[test]
    fn paths() {
        let paths = |force, allow| {
            let config = Config::new(force, allow, None);
            (config.fast_path, config.fallback)
        };
        assert_eq!(paths(None, None), (true, true));
        assert_eq!(paths(Some(false), Some(true)), (true, true));
        assert_eq!(paths(None, Some(false)), (true, false));
        assert_eq!(paths(Some(true), None), (false, true));
        assert_eq!(paths(Some(true), Some(false)), (false, true));
        assert!(!Config::new(None, None, None).any_file_system);
        assert!(Config::new(None, None, Some(true)).any_file_system);
    }
}
