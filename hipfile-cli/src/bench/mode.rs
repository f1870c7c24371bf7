//! How the bytes go: gdsio's `-x`, and what gdsio has no number for.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

/// A way from the file to its destination, or back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// One call of hipFile after the other.
    Sync,
    /// hipFile's transfers on a stream, several under way.
    Async,
    /// hipFile's batches.
    Batch,
    /// Large transfers by `hipfile::transfer`, which divides them among threads of its own.
    Transfer,
    /// `pread` into host memory and a copy to the GPU; the other way round for writes.
    Posix,
    /// `pread` into host memory, where the data stays.
    Host,
    /// A mapping of the file, copied to the GPU.
    Mmap,
}

/// With gdsio's number, its word for the line of results, and ours. For what gdsio lacks the word is made like its own.
const MODES: [(Mode, Option<u8>, &str, &str); 7] = [
    (Mode::Sync, Some(0), "GPUD", "sync"),
    (Mode::Host, Some(1), "CPUONLY", "host"),
    (Mode::Posix, Some(2), "CPU_GPU", "posix"),
    (Mode::Async, Some(5), "GPUD_ASYNC", "async"),
    (Mode::Batch, Some(6), "GPU_BATCH", "batch"),
    (Mode::Transfer, None, "GPUD_TRANSFER", "transfer"),
    (Mode::Mmap, None, "MMAP_GPU", "mmap"),
];

impl Mode {
    /// As `--mode` has it.
    pub fn name(self) -> &'static str {
        self.row().3
    }

    /// As gdsio's line has it.
    pub fn xfer_type(self) -> &'static str {
        self.row().2
    }

    fn row(self) -> (Self, Option<u8>, &'static str, &'static str) {
        MODES.into_iter().find(|(mode, ..)| *mode == self).unwrap_or((self, None, "", ""))
    }

    /// Whether hipFile does it.
    pub fn is_hipfile(self) -> bool {
        matches!(self, Self::Sync | Self::Async | Self::Batch | Self::Transfer)
    }

    /// Whether the data comes from or goes to a GPU.
    pub fn uses_gpu(self) -> bool {
        self != Self::Host
    }

    /// Whether it can do with memory that is not registered.
    pub fn takes_plain_memory(self) -> bool {
        matches!(self, Self::Sync | Self::Transfer)
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl Serialize for Mode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl FromStr for Mode {
    type Err = String;

    /// A name, or gdsio's number. `hipfile` is the plain use of it.
    fn from_str(text: &str) -> Result<Self, String> {
        let number = text.parse().ok();
        let known = MODES
            .into_iter()
            .find(|(_, known, _, name)| *name == text || (number.is_some() && *known == number));
        match (known, text) {
            (Some((mode, ..)), _) => Ok(mode),
            (None, "hipfile") => Ok(Self::Sync),
            (None, "3") => Err(
                "gdsio's CPU_ASYNC_GPU has no counterpart here; 2 (posix) copies in step, 5 (async) uses streams"
                    .to_owned(),
            ),
            (None, "4") => Err(
                "gdsio's CPU_CACHED_GPU has no counterpart here; `-x 2 --cache warm` reads from the page cache"
                    .to_owned(),
            ),
            (None, _) => Err(
                "there are 0 or sync, 1 or host, 2 or posix, 5 or async, 6 or batch, transfer, mmap".to_owned()
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_gdsio() {
        let table =
            [("0", "GPUD"), ("1", "CPUONLY"), ("2", "CPU_GPU"), ("5", "GPUD_ASYNC"), ("6", "GPU_BATCH")];
        for (number, word) in table {
            let mode: Mode = number.parse().unwrap();
            assert_eq!(mode.xfer_type(), word);
            assert_eq!(mode.name().parse(), Ok(mode));
        }
        assert_eq!("hipfile".parse(), Ok(Mode::Sync));
    }

    #[test]
    fn what_has_no_counterpart_is_refused_in_words() {
        for (text, part) in [
            ("3", "CPU_ASYNC_GPU"),
            ("4", "-x 2 --cache warm"),
            ("7", "there are 0 or sync"),
            ("", "there are"),
        ] {
            assert!(text.parse::<Mode>().unwrap_err().contains(part), "{text}");
        }
    }
}
