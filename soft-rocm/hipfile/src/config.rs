//! The environment variables, read once when a value is first needed.

use std::ffi::OsStr;
use std::io::Write;
use std::sync::OnceLock;

use crate::behaviour::{self, Behaviour, Version};
use crate::driver::Driver;

/// Which paths transfers may take, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Config {
    /// Not `HIPFILE_FORCE_COMPAT_MODE`.
    pub(crate) fast_path: bool,
    /// `HIPFILE_ALLOW_COMPAT_MODE`, and after 0.2 always where the fast path is forbidden.
    pub(crate) fallback: bool,
    /// `HIPFILE_UNSUPPORTED_FILE_SYSTEMS`: the fast path may be taken on any file system.
    pub(crate) any_file_system: bool,
    /// Which libhipfile this is.
    pub(crate) behaviour: Behaviour,
}

/// Printed when the two variables together would leave no path.
const CONTRADICTION: &str = "hipFile: HIPFILE_FORCE_COMPAT_MODE=true and HIPFILE_ALLOW_COMPAT_MODE=false exclude \
                             every path; the fallback is used";

impl Config {
    /// The configuration in force: the environment's, unless the driver's parameters say otherwise.
    #[inline]
    pub(crate) fn get() -> &'static Self {
        let environment = Self::of_environment();
        if environment.behaviour.extensions.parameters { environment.with_parameters() } else { environment }
    }

    /// The same with what the program set.
    #[cold]
    fn with_parameters(&self) -> &'static Self {
        static VARIANTS: OnceLock<[[Config; 2]; 2]> = OnceLock::new();
        let [[none, fallback], [fast_path, both]] = VARIANTS.get_or_init(|| {
            [false, true].map(|fast_path| [false, true].map(|fallback| Self { fast_path, fallback, ..*self }))
        });
        let (force, allow) = Driver::get().compat_mode();
        let (force, allow) = (force.unwrap_or(!self.fast_path), allow.unwrap_or(self.fallback));
        let chosen = Self::new(Some(force), Some(allow), None, self.behaviour);
        match (chosen.fast_path, chosen.fallback) {
            (false, false) => none,
            (false, true) => fallback,
            (true, false) => fast_path,
            (true, true) => both,
        }
    }

    /// What the environment says, fixed by the first transfer.
    #[inline]
    pub(crate) fn of_environment() -> &'static Self {
        static CONFIG: OnceLock<Config> = OnceLock::new();
        CONFIG.get_or_init(|| {
            let behaviour = *behaviour::get();
            let force = boolean(variable("HIPFILE_FORCE_COMPAT_MODE").as_deref());
            let allow = boolean(variable("HIPFILE_ALLOW_COMPAT_MODE").as_deref());
            if force == Some(true) && allow == Some(false) && behaviour.version > Version::V0_2 {
                // There is nobody to tell if stderr is closed.
                let _ = writeln!(std::io::stderr(), "{CONTRADICTION}");
            }
            let any = boolean(variable("HIPFILE_UNSUPPORTED_FILE_SYSTEMS").as_deref());
            Self::new(force, allow, any, behaviour)
        })
    }

    fn new(
        force: Option<bool>,
        allow: Option<bool>,
        any_file_system: Option<bool>,
        behaviour: Behaviour,
    ) -> Self {
        let fast_path = !force.unwrap_or(false);
        Self {
            fast_path,
            fallback: allow.unwrap_or(true) || (!fast_path && behaviour.version > Version::V0_2),
            any_file_system: any_file_system.unwrap_or(false),
            behaviour,
        }
    }
}

/// `HIPFILE_STATS_LEVEL`: 0 counts nothing, 1 to 3 count.
pub(crate) fn stats_level() -> u32 {
    level(variable("HIPFILE_STATS_LEVEL").as_deref(), behaviour::get().version)
}

pub(crate) fn level(value: Option<&OsStr>, version: Version) -> u32 {
    let default = u64::from(version > Version::V0_2);
    integer(value, version).unwrap_or(default).min(3) as u32
}

/// `HIPFILE_ASYNC_BUFFER_SIZE`: bytes of the bounce buffer of each stream. 0 means the default as well.
pub(crate) fn async_buffer_size() -> usize {
    static SIZE: OnceLock<usize> = OnceLock::new();
    *SIZE.get_or_init(|| async_size(variable("HIPFILE_ASYNC_BUFFER_SIZE").as_deref()))
}

pub(crate) fn async_size(value: Option<&OsStr>) -> usize {
    let size = integer(value, Version::V0_5).filter(|size| *size != 0).unwrap_or(16 << 20);
    usize::try_from(size).unwrap_or(usize::MAX)
}

fn variable(name: &str) -> Option<std::ffi::OsString> {
    std::env::var_os(name)
}

/// `true` and `false` in any case; anything else counts as unset.
pub(crate) fn boolean(value: Option<&OsStr>) -> Option<bool> {
    let value = value?;
    if value.eq_ignore_ascii_case("true") {
        Some(true)
    } else if value.eq_ignore_ascii_case("false") {
        Some(false)
    } else {
        None
    }
}

/// A decimal number; anything else counts as unset. After 0.2 it is digits and nothing else, and what is too large
/// becomes the largest value.
fn integer(value: Option<&OsStr>, version: Version) -> Option<u64> {
    let text = value?.to_str()?;
    if version == Version::V0_2 { as_strtoul(text) } else { digits(text)?.or(Some(u64::MAX)) }
}

/// As C's strtoul reads a whole string: blanks and a sign may come first, a negative number counts from the top, and
/// what is too large is none.
fn as_strtoul(text: &str) -> Option<u64> {
    let text = text.trim_start_matches([' ', '\t', '\n', '\x0b', '\x0c', '\r']);
    match text.strip_prefix('-') {
        Some(magnitude) => digits(magnitude)?.map(u64::wrapping_neg),
        None => digits(text.strip_prefix('+').unwrap_or(text))?,
    }
}

/// The value of decimal digits, `Some(None)` if it is too large.
fn digits(text: &str) -> Option<Option<u64>> {
    let all = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    all.then(|| text.parse().ok())
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
        let parse = |text: &str| integer(Some(OsStr::new(text)), Version::V0_4);
        assert_eq!(parse("0"), Some(0));
        assert_eq!(parse("0003"), Some(3));
        assert_eq!(parse("4294967296"), Some(1 << 32));
        assert_eq!(parse("18446744073709551615"), Some(u64::MAX));
        assert_eq!(parse("18446744073709551616"), Some(u64::MAX));
        assert_eq!(parse("99999999999999999999999999"), Some(u64::MAX));
        for text in ["", "-1", "+1", " 1", "1 ", "0x1", "1.0", "one"] {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn integers_of_0_2() {
        let parse = |text: &str| integer(Some(OsStr::new(text)), Version::V0_2);
        for (text, value) in [("0", 0), (" \t\n7", 7), ("+3", 3), ("0003", 3), ("-0", 0), (" -1", u64::MAX)] {
            assert_eq!(parse(text), Some(value), "{text:?}");
        }
        assert_eq!(parse("18446744073709551615"), Some(u64::MAX));
        assert_eq!(parse("-18446744073709551615"), Some(1));
        for text in ["", " ", "-", "+", "1 ", "0x1", "1.0", "one", "+-1", "- 1", "18446744073709551616"] {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn levels() {
        let levels = |text: &str| Version::ALL.map(|version| level(Some(OsStr::new(text)), version));
        assert_eq!(Version::ALL.map(|version| level(None, version)), [0, 1, 1]);
        assert_eq!(levels("garbage"), [0, 1, 1]);
        assert_eq!(levels("0"), [0, 0, 0]);
        assert_eq!(levels("2"), [2, 2, 2]);
        assert_eq!(levels("77"), [3, 3, 3]);
        assert_eq!(levels(" 2"), [2, 1, 1]);
        assert_eq!(levels("-1"), [3, 1, 1]);
        assert_eq!(levels("18446744073709551616"), [0, 3, 3]);
    }

    #[test]
    fn asynchronous_buffers() {
        let size = |text: &str| async_size(Some(OsStr::new(text)));
        assert_eq!(async_size(None), 16 << 20);
        assert_eq!([size("0"), size(""), size("1M"), size("-1")], [16 << 20; 4]);
        assert_eq!((size("1"), size("4096")), (1, 4096));
        assert_eq!(size("99999999999999999999"), usize::MAX);
    }

    #[test]
    fn paths() {
        let paths = |force, allow| {
            let config = Config::new(force, allow, None, Behaviour::DEFAULT);
            (config.fast_path, config.fallback)
        };
        assert_eq!(paths(None, None), (true, true));
        assert_eq!(paths(Some(false), Some(true)), (true, true));
        assert_eq!(paths(None, Some(false)), (true, false));
        assert_eq!(paths(Some(true), None), (false, true));
        assert_eq!(paths(Some(true), Some(false)), (false, true));
        assert!(!Config::new(None, None, None, Behaviour::DEFAULT).any_file_system);
        assert!(Config::new(None, None, Some(true), Behaviour::DEFAULT).any_file_system);

        let contradiction = |version| {
            let config =
                Config::new(Some(true), Some(false), None, Behaviour { version, ..Behaviour::DEFAULT });
            (config.fast_path, config.fallback)
        };
        assert_eq!(Version::ALL.map(contradiction), [(false, false), (false, true), (false, true)]);
    }

    #[test]
    fn defaults_are_those_of_the_page() {
        let page = include_str!("../../../docs/src/environment.md");
        let default = |variable: &str| {
            let row = format!("| `{variable}` | ");
            let rest = page.lines().find_map(|line| line.strip_prefix(&row)).unwrap();
            OsStr::new(rest.split_once(" |").unwrap().0.trim_matches('`'))
        };
        let word = |variable: &str| {
            let word = boolean(Some(default(variable)));
            assert!(word.is_some(), "{variable}");
            word
        };
        let documented = Config::new(
            word("HIPFILE_FORCE_COMPAT_MODE"),
            word("HIPFILE_ALLOW_COMPAT_MODE"),
            word("HIPFILE_UNSUPPORTED_FILE_SYSTEMS"),
            Behaviour::DEFAULT,
        );
        assert_eq!(documented, Config::new(None, None, None, Behaviour::DEFAULT));
        let [oldest, .., newest] = Version::ALL.map(|version| level(None, version));
        assert_eq!(default("HIPFILE_STATS_LEVEL"), &*format!("{newest} ({oldest} in hipFile 0.2)"));
        assert_eq!(default("HIPFILE_ASYNC_BUFFER_SIZE"), &*format!("{} MiB", async_size(None) >> 20));
        let version = |name: &str| (name == "SOFT_ROCM_HIPFILE_VERSION").then(|| default(name).to_owned());
        assert_eq!(Behaviour::read(version), Ok(Behaviour { version: Version::V0_5, ..Behaviour::DEFAULT }));
        for none in ["SOFT_ROCM_QUIRKS", "SOFT_ROCM_EXTENSIONS"] {
            assert_eq!(default(none), "none");
        }
        assert_eq!(Behaviour::read(|_| None), Ok(Behaviour::DEFAULT));
    }
}
