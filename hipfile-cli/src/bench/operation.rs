//! What is done with the file: gdsio's `-I`.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

/// Reads or writes, in order or at random places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Operation {
    Read,
    Write,
    RandRead,
    RandWrite,
}

impl Operation {
    /// By gdsio's number.
    const ALL: [Self; 4] = [Self::Read, Self::Write, Self::RandRead, Self::RandWrite];

    /// From a GPU, or from host memory, to the file.
    pub fn writes(self) -> bool {
        matches!(self, Self::Write | Self::RandWrite)
    }

    /// At random places.
    pub fn is_random(self) -> bool {
        matches!(self, Self::RandRead | Self::RandWrite)
    }

    /// As `--operation` has it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::RandRead => "randread",
            Self::RandWrite => "randwrite",
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Operation {
    type Err = String;

    /// A name, or gdsio's number.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut all = (0..).zip(Self::ALL);
        let found = all.find(|(number, operation)| operation.name() == text || text.parse() == Ok(*number));
        found
            .map(|(_, operation): (u8, Self)| operation)
            .ok_or_else(|| "there are 0 or read, 1 or write, 2 or randread, 3 or randwrite".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_are_the_same() {
        for (number, operation) in ["0", "1", "2", "3"].into_iter().zip(Operation::ALL) {
            assert_eq!(number.parse(), Ok(operation));
            assert_eq!(operation.name().parse(), Ok(operation));
        }
        assert!("4".parse::<Operation>().unwrap_err().contains("3 or randwrite"));
        assert!(Operation::RandWrite.writes() && Operation::RandWrite.is_random());
        assert!(!Operation::Read.writes() && !Operation::Write.is_random());
    }
}
