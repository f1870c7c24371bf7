//! What the environment asks for.

use std::ffi::OsString;
use std::fmt;

const DEVICE: &str = "SOFT_ROCM_DEVICE";
const DEVICE_COUNT: &str = "SOFT_ROCM_DEVICE_COUNT";
const DEVICE_MEM: &str = "SOFT_ROCM_DEVICE_MEM";
const KFD_ALIGN: &str = "SOFT_ROCM_KFD_ALIGN";
const LEAKS: &str = "SOFT_ROCM_LEAKS";
const STREAMS: &str = "SOFT_ROCM_STREAMS";
const STRICT: &str = "SOFT_ROCM_STRICT";

const MAX_DEVICES: u32 = 64;
/// What AMD's kernel driver asks of file functions.
const KFD_ALIGNMENT: u64 = 4096;

/// The settings of a runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Config {
    /// What devices are made of.
    pub(crate) made_of: MadeOf,
    /// Number of devices, if it is set.
    pub(crate) devices: Option<u32>,
    /// Memory of each device in bytes, if it is set; more than 0.
    pub(crate) device_memory: Option<usize>,
    /// What becomes of illegal use.
    pub(crate) strict: Strict,
    /// What becomes of memory that is not freed at exit.
    pub(crate) leaks: Leaks,
    /// What offsets, sizes and addresses of file functions have to be multiples of.
    pub(crate) file_alignment: u64,
    /// Whether the work of streams waits until something waits for it.
    pub(crate) lazy_streams: bool,
}

/// What devices are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MadeOf {
    /// Memory of the host.
    Host,
    /// NVIDIA's GPUs.
    Cuda,
}

/// What becomes of illegal use of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strict {
    /// Calls refuse it; host code may read device memory.
    Readable,
    /// Calls refuse it; host code that touches device memory faults.
    Faults,
    /// It is reported and the process aborted.
    Abort,
}

/// What becomes of memory that is not freed when the process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leaks {
    /// Nothing.
    Ignored,
    /// It is listed.
    Listed,
    /// It is listed and the process fails.
    Fatal,
}

/// A variable with a value that is not accepted.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ConfigError {
    variable: &'static str,
    value: OsString,
    expected: &'static str,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // One line, whatever the value.
        let value = self.value.to_string_lossy();
        write!(f, "{}={}: expected {}", self.variable, value.escape_debug(), self.expected)
    }
}

impl std::error::Error for ConfigError {}

impl Config {
    /// The settings of an empty environment.
    pub(crate) const DEFAULT: Config = Config {
        made_of: MadeOf::Host,
        devices: None,
        device_memory: None,
        strict: Strict::Faults,
        leaks: Leaks::Ignored,
        file_alignment: 1,
        lazy_streams: false,
    };

    /// Number of devices of host memory, and bytes of each.
    pub(crate) fn on_host(&self) -> (u32, usize) {
        (self.devices.unwrap_or(1), self.device_memory.unwrap_or(16 << 30))
    }

    /// Settings from variables; `variable` answers the value of one, if it is set.
    pub(crate) fn read(variable: impl Fn(&str) -> Option<OsString>) -> Result<Config, ConfigError> {
        let setting = Setting { variable };
        let unset = Config::DEFAULT;
        Ok(Config {
            made_of: setting.get(DEVICE, unset.made_of, "host or cuda", |text| match text {
                "host" => Some(MadeOf::Host),
                "cuda" => Some(MadeOf::Cuda),
                _ => None,
            })?,
            devices: setting.get(DEVICE_COUNT, None, "a number of devices from 0 to 64", |text| {
                device_count(text).map(Some)
            })?,
            device_memory: setting.get(
                DEVICE_MEM,
                None,
                "a number of bytes above 0, with or without a suffix K, M or G",
                |text| bytes(text).map(Some),
            )?,
            strict: setting.get(STRICT, unset.strict, "0, 1 or abort", |text| match text {
                "0" => Some(Strict::Readable),
                "1" => Some(Strict::Faults),
                "abort" => Some(Strict::Abort),
                _ => None,
            })?,
            leaks: setting.get(LEAKS, unset.leaks, "0, 1 or fail", |text| match text {
                "0" => Some(Leaks::Ignored),
                "1" => Some(Leaks::Listed),
                "fail" => Some(Leaks::Fatal),
                _ => None,
            })?,
            file_alignment: setting.get(KFD_ALIGN, unset.file_alignment, "0 or 1", |text| match text {
                "0" => Some(1),
                "1" => Some(KFD_ALIGNMENT),
                _ => None,
            })?,
            lazy_streams: setting.get(STREAMS, unset.lazy_streams, "eager or lazy", |text| match text {
                "eager" => Some(false),
                "lazy" => Some(true),
                _ => None,
            })?,
        })
    }
}

struct Setting<F> {
    variable: F,
}

impl<F: Fn(&str) -> Option<OsString>> Setting<F> {
    fn get<T>(
        &self,
        variable: &'static str,
        default: T,
        expected: &'static str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<T, ConfigError> {
        let Some(value) = (self.variable)(variable) else { return Ok(default) };
        match value.to_str().and_then(parse) {
            Some(parsed) => Ok(parsed),
            None => Err(ConfigError { variable, value, expected }),
        }
    }
}

fn device_count(text: &str) -> Option<u32> {
    digits(text)?.parse().ok().filter(|count| *count <= MAX_DEVICES)
}

fn bytes(text: &str) -> Option<usize> {
    let (number, unit) = match text.strip_suffix(['K', 'M', 'G']) {
        Some(number) if text.ends_with('K') => (number, 1 << 10),
        Some(number) if text.ends_with('M') => (number, 1 << 20),
        Some(number) => (number, 1 << 30),
        None => (text, 1),
    };
    let count: usize = digits(number)?.parse().ok()?;
    count.checked_mul(unit).filter(|bytes| *bytes > 0)
}

/// The text, if it is made of digits alone: `parse` would accept a sign.
fn digits(text: &str) -> Option<&str> {
    (!text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(set: &[(&str, &str)]) -> Result<Config, String> {
        Config::read(|name| set.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into()))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn nothing_set_gives_the_documented_defaults() {
        let expected = Config {
            made_of: MadeOf::Host,
            devices: None,
            device_memory: None,
            strict: Strict::Faults,
            leaks: Leaks::Ignored,
            file_alignment: 1,
            lazy_streams: false,
        };
        assert_eq!(read(&[]), Ok(expected));
    }

    #[test]
    fn defaults_are_those_of_the_page() {
        let page = include_str!("../../../docs/src/environment.md");
        for variable in [DEVICE, DEVICE_COUNT, DEVICE_MEM, STRICT, LEAKS, KFD_ALIGN, STREAMS] {
            let row = format!("| `{variable}` | `");
            let rest = page.lines().find_map(|line| line.strip_prefix(&row)).unwrap();
            let word = rest.split('`').next().unwrap();
            let found = read(&[(variable, word)]).unwrap();
            assert_eq!(found.on_host(), Config::DEFAULT.on_host(), "{variable}={word}");
            let rest = Config { devices: None, device_memory: None, ..found };
            assert_eq!(rest, Config::DEFAULT, "{variable}={word}");
        }
    }

    #[test]
    fn every_variable_is_read() {
        let set = [
            (DEVICE, "cuda"),
            (DEVICE_COUNT, "3"),
            (DEVICE_MEM, "5M"),
            (STRICT, "0"),
            (LEAKS, "fail"),
            (KFD_ALIGN, "1"),
            (STREAMS, "lazy"),
        ];
        let expected = Config {
            made_of: MadeOf::Cuda,
            devices: Some(3),
            device_memory: Some(5 << 20),
            strict: Strict::Readable,
            leaks: Leaks::Fatal,
            file_alignment: 4096,
            lazy_streams: true,
        };
        assert_eq!(read(&set), Ok(expected));
    }

    #[test]
    fn words_are_those_of_the_documentation() {
        let strict = [("0", Strict::Readable), ("1", Strict::Faults), ("abort", Strict::Abort)];
        for (text, expected) in strict {
            assert_eq!(read(&[(STRICT, text)]).unwrap().strict, expected);
        }
        for (text, expected) in [("0", Leaks::Ignored), ("1", Leaks::Listed), ("fail", Leaks::Fatal)] {
            assert_eq!(read(&[(LEAKS, text)]).unwrap().leaks, expected);
        }
        assert_eq!(read(&[(DEVICE, "host")]), Ok(Config::DEFAULT));
        assert_eq!(read(&[(KFD_ALIGN, "0")]).unwrap().file_alignment, 1);
        assert!(!read(&[(STREAMS, "eager")]).unwrap().lazy_streams);
        for (variable, expected) in [
            (STRICT, "0, 1 or abort"),
            (LEAKS, "0, 1 or fail"),
            (KFD_ALIGN, "0 or 1"),
            (STREAMS, "eager or lazy"),
            (DEVICE, "host or cuda"),
        ] {
            for text in ["", "2", "true", "no", "ABORT", "Lazy", " 1"] {
                assert_eq!(read(&[(variable, text)]), Err(format!("{variable}={text}: expected {expected}")));
            }
        }
    }

    #[test]
    fn sizes_take_binary_suffixes() {
        for (text, expected) in [("1", 1), ("4097", 4097), ("2K", 2048), ("3M", 3 << 20), ("4G", 4 << 30)] {
            assert_eq!(read(&[(DEVICE_MEM, text)]).unwrap().device_memory, Some(expected), "{text}");
        }
    }

    #[test]
    fn a_wrong_size_names_the_variable_the_value_and_what_is_accepted() {
        for text in ["", "0", "0G", "G", "-1", "+1", "1.5G", "1 G", "1g", "1T", "1GB", "99999999999999G"] {
            assert_eq!(
                read(&[(DEVICE_MEM, text)]),
                Err(format!(
                    "SOFT_ROCM_DEVICE_MEM={text}: \
                     expected a number of bytes above 0, with or without a suffix K, M or G"
                )),
            );
        }
    }

    #[test]
    fn the_number_of_devices_is_limited() {
        assert_eq!(read(&[(DEVICE_COUNT, "0")]).unwrap().devices, Some(0));
        assert_eq!(read(&[(DEVICE_COUNT, "64")]).unwrap().devices, Some(64));
        for text in ["65", "-1", "two", "", "4294967297"] {
            assert_eq!(
                read(&[(DEVICE_COUNT, text)]),
                Err(format!("SOFT_ROCM_DEVICE_COUNT={text}: expected a number of devices from 0 to 64")),
            );
        }
    }

    #[test]
    fn bytes_that_are_not_text_are_refused() {
        use std::os::unix::ffi::OsStringExt;
        let error =
            Config::read(|name| (name == STRICT).then(|| OsString::from_vec(vec![0xff]))).unwrap_err();
        assert_eq!(error.variable, STRICT);
    }
}
