//! Which libhipfile this one stands in for: the release, AMD's defects, what AMD lacks.
//!
//! Read from the environment at first use. A value that is not accepted is reported on standard error, and every call
//! then fails with 5030: a mistyped setting must not pass for the default.

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::sync::OnceLock;

const VERSION: &str = "SOFT_ROCM_HIPFILE_VERSION";
const QUIRKS: &str = "SOFT_ROCM_QUIRKS";
const EXTENSIONS: &str = "SOFT_ROCM_EXTENSIONS";

/// A release of libhipfile. Those between two of them behave as the older one, where the contract says no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Version {
    V0_2,
    V0_4,
    V0_5,
}

impl Version {
    pub(crate) const ALL: [Self; 3] = [Self::V0_2, Self::V0_4, Self::V0_5];

    /// The newest that this build stands in for.
    const NEWEST: Self = if cfg!(feature = "v0_5") {
        Self::V0_5
    } else if cfg!(feature = "v0_4") {
        Self::V0_4
    } else {
        Self::V0_2
    };

    fn name(self) -> &'static str {
        match self {
            Self::V0_2 => "0.2",
            Self::V0_4 => "0.4",
            Self::V0_5 => "0.5",
        }
    }

    /// Major, minor and patch number.
    pub(crate) fn numbers(self) -> [u32; 3] {
        match self {
            Self::V0_2 => [0, 2, 0],
            Self::V0_4 => [0, 4, 0],
            Self::V0_5 => [0, 5, 0],
        }
    }
}

/// Functions that AMD's library only pretends to have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extensions {
    /// `hipFileDriverGetProperties` and the four setters.
    pub(crate) properties: bool,
    /// `hipFileGetParameter*` and `hipFileSetParameter*`.
    pub(crate) parameters: bool,
    /// Pinned host memory as the buffer of a transfer.
    pub(crate) host_memory: bool,
}

/// What is stood in for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Behaviour {
    pub(crate) version: Version,
    /// AMD's defects are kept instead of mended.
    pub(crate) amd_quirks: bool,
    pub(crate) extensions: Extensions,
}

impl Behaviour {
    /// What holds where no variable is set.
    pub(crate) const DEFAULT: Self = Self {
        version: Version::NEWEST,
        amd_quirks: false,
        extensions: Extensions { properties: false, parameters: false, host_memory: false },
    };

    /// Builds it from the variables; `variable` answers the value of one, if it is set.
    ///
    /// # Errors
    ///
    /// As those of [`Behaviour::parse`].
    pub(crate) fn read(variable: impl Fn(&str) -> Option<OsString>) -> Result<Self, String> {
        let [version, quirks, extensions] = [VERSION, QUIRKS, EXTENSIONS].map(variable);
        Self::parse(version.as_deref(), quirks.as_deref(), extensions.as_deref())
    }

    /// Builds it from the values of the variables; unset and empty ones are `None` and `Some("")`.
    ///
    /// # Errors
    ///
    /// One line that names the variable, its value and what would be accepted.
    fn parse(
        version: Option<&OsStr>,
        quirks: Option<&OsStr>,
        extensions: Option<&OsStr>,
    ) -> Result<Self, String> {
        let mut behaviour = Self::DEFAULT;
        if let Some(word) = nonempty(version) {
            let built = || Version::ALL.into_iter().filter(|version| *version <= Version::NEWEST);
            behaviour.version = built().find(|version| word == version.name()).ok_or_else(|| {
                let names: Vec<_> = built().map(Version::name).collect();
                complaint(VERSION, word, &names.join(", "))
            })?;
        }
        if let Some(word) = nonempty(quirks) {
            if word != "amd" {
                return Err(complaint(QUIRKS, word, "amd, or nothing"));
            }
            behaviour.amd_quirks = true;
        }
        let Some(list) = extensions else { return Ok(behaviour) };
        let accepted = "properties, parameters, host-memory, several separated by commas, or nothing";
        let text = list.to_str().ok_or_else(|| complaint(EXTENSIONS, list, accepted))?;
        for word in text.split(',').map(str::trim) {
            match word {
                "properties" => behaviour.extensions.properties = true,
                "parameters" => behaviour.extensions.parameters = true,
                "host-memory" => behaviour.extensions.host_memory = true,
                "" if text.trim().is_empty() => {}
                _ => return Err(complaint(EXTENSIONS, list, accepted)),
            }
        }
        Ok(behaviour)
    }
}

/// A value, unless it is empty, which counts as unset.
fn nonempty(value: Option<&OsStr>) -> Option<&OsStr> {
    value.filter(|value| !value.is_empty())
}

fn complaint(variable: &str, value: &OsStr, accepted: &str) -> String {
    format!("libhipfile: {variable}={value:?} is not accepted: give {accepted}")
}

/// What holds in this process; `None` where a variable has a value that is not accepted, which standard error says once.
#[inline]
fn in_force() -> Option<&'static Behaviour> {
    static BEHAVIOUR: OnceLock<Option<Behaviour>> = OnceLock::new();
    let read = || {
        Behaviour::read(|name| std::env::var_os(name))
            .map_err(|line| {
                // There is nobody to tell if stderr is closed.
                let _ = writeln!(std::io::stderr(), "{line}");
            })
            .ok()
    };
    BEHAVIOUR.get_or_init(read).as_ref()
}

/// Whether a variable has a value that is not accepted, so that no call may do anything.
#[inline]
pub(crate) fn is_invalid() -> bool {
    in_force().is_none()
}

/// What holds in this process. Calls are refused where a variable is wrong, so the default stands in for nothing there.
#[inline]
pub(crate) fn get() -> &'static Behaviour {
    in_force().unwrap_or(&Behaviour::DEFAULT)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(version: &str, quirks: &str, extensions: &str) -> Result<Behaviour, String> {
        Behaviour::parse(Some(version.as_ref()), Some(quirks.as_ref()), Some(extensions.as_ref()))
    }

    #[test]
    fn accepted_values() {
        assert_eq!(Behaviour::parse(None, None, None), Ok(Behaviour::DEFAULT));
        assert_eq!(parse("", "", ""), Ok(Behaviour::DEFAULT));
        for version in Version::ALL {
            assert_eq!(parse(version.name(), "", ""), Ok(Behaviour { version, ..Behaviour::DEFAULT }));
        }
        assert_eq!(parse("", "amd", ""), Ok(Behaviour { amd_quirks: true, ..Behaviour::DEFAULT }));
        let with = |properties, parameters, host_memory| {
            let extensions = Extensions { properties, parameters, host_memory };
            Ok(Behaviour { extensions, ..Behaviour::DEFAULT })
        };
        assert_eq!(parse("", "", "properties"), with(true, false, false));
        assert_eq!(parse("", "", "parameters"), with(false, true, false));
        assert_eq!(parse("", "", "host-memory"), with(false, false, true));
        assert_eq!(parse("", "", "host-memory, properties"), with(true, false, true));
        assert!(Version::V0_2 < Version::V0_4 && Version::V0_4 < Version::V0_5);
    }

    #[test]
    fn refused_values() {
        let refused = [
            ("0.3", "", "", "SOFT_ROCM_HIPFILE_VERSION=\"0.3\" is not accepted: give 0.2, 0.4, 0.5"),
            ("0.2 ", "", "", "SOFT_ROCM_HIPFILE_VERSION=\"0.2 \" is not accepted: give 0.2, 0.4, 0.5"),
            ("", "AMD", "", "SOFT_ROCM_QUIRKS=\"AMD\" is not accepted: give amd, or nothing"),
            (
                "",
                "",
                "properties,",
                "SOFT_ROCM_EXTENSIONS=\"properties,\" is not accepted: give properties, parameters, host-memory, \
                 several separated by commas, or nothing",
            ),
            (
                "",
                "",
                "all",
                "SOFT_ROCM_EXTENSIONS=\"all\" is not accepted: give properties, parameters, host-memory, several \
                 separated by commas, or nothing",
            ),
        ];
        for (version, quirks, extensions, line) in refused {
            assert_eq!(parse(version, quirks, extensions), Err(format!("libhipfile: {line}")));
        }
    }
}
