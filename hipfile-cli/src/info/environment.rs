//! The variables that libhipfile reads, what they are set to, and what the library makes of that.

use std::ffi::OsString;
use std::fmt;

use serde::Serialize;

/// One variable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Variable {
    pub name: &'static str,
    /// What it is set to; none if it is not set.
    pub value: Option<String>,
    /// What is in force.
    pub effective: Effective,
    /// Whether it is set to something that the library takes for not set.
    pub ignored: bool,
}

/// What is in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Effective {
    Boolean(bool),
    Number(u64),
    /// What the release in use takes where nothing is set; `null` in JSON.
    Default,
}

impl fmt::Display for Effective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Boolean(value) => value.fmt(f),
            Self::Number(value) => value.fmt(f),
            Self::Default => f.write_str("the release's default"),
        }
    }
}

/// With what is in force where they are not set.
const VARIABLES: [(&str, Effective); 5] = [
    ("HIPFILE_FORCE_COMPAT_MODE", Effective::Boolean(false)),
    ("HIPFILE_ALLOW_COMPAT_MODE", Effective::Boolean(true)),
    ("HIPFILE_UNSUPPORTED_FILE_SYSTEMS", Effective::Boolean(false)),
    ("HIPFILE_STATS_LEVEL", Effective::Default),
    ("HIPFILE_ASYNC_BUFFER_SIZE", Effective::Default),
];

/// Reads them as the library does: two words in any case, or digits; anything else counts as not set.
pub fn read(variable: impl Fn(&str) -> Option<OsString>) -> Vec<Variable> {
    let read = |(name, default): (&'static str, Effective)| {
        let value = variable(name).map(|value| value.to_string_lossy().into_owned());
        let understood = value.as_deref().and_then(|value| understood(default, value));
        let ignored = value.is_some() && understood.is_none();
        Variable { name, value, effective: understood.unwrap_or(default), ignored }
    };
    VARIABLES.into_iter().map(read).collect()
}

/// A value of the same kind as the default.
fn understood(default: Effective, value: &str) -> Option<Effective> {
    match default {
        Effective::Boolean(_) => value.to_ascii_lowercase().parse().ok().map(Effective::Boolean),
        Effective::Number(_) | Effective::Default => {
            let digits = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
            // More than there is room for counts as the most, as in the library.
            digits.then(|| Effective::Number(value.parse().unwrap_or(u64::MAX)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(name: &str, value: Option<&str>) -> (String, bool) {
        let all = read(|asked| (asked == name).then(|| value.map(OsString::from)).flatten());
        let variable = all.into_iter().find(|variable| variable.name == name).unwrap();
        (variable.effective.to_string(), variable.ignored)
    }

    #[test]
    fn values_are_read_as_the_library_reads_them() {
        let table = [
            ("HIPFILE_ALLOW_COMPAT_MODE", None, "true", false),
            ("HIPFILE_ALLOW_COMPAT_MODE", Some("FALSE"), "false", false),
            ("HIPFILE_ALLOW_COMPAT_MODE", Some("0"), "true", true),
            ("HIPFILE_FORCE_COMPAT_MODE", Some("1"), "false", true),
            ("HIPFILE_FORCE_COMPAT_MODE", Some(""), "false", true),
            ("HIPFILE_FORCE_COMPAT_MODE", Some("True"), "true", false),
            ("HIPFILE_STATS_LEVEL", None, "the release's default", false),
            ("HIPFILE_STATS_LEVEL", Some("2"), "2", false),
            ("HIPFILE_STATS_LEVEL", Some("-1"), "the release's default", true),
        ];
        for (name, value, effective, ignored) in table {
            assert_eq!(one(name, value), (effective.to_owned(), ignored), "{name}={value:?}");
        }
    }
}
