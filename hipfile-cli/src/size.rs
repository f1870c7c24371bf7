//! Sizes and offsets on the command line and in the output.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

/// A number of bytes, read with binary suffixes and shown with binary units. In JSON it is the number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Size(pub u64);

/// The most bytes that one call of libhipfile transfers.
pub const ONE_CALL: u64 = 0x7fff_f000;

/// As in `1 byte` and `2 bytes`.
pub fn in_bytes(number: u64) -> String {
    if number == 1 { "1 byte".to_owned() } else { format!("{number} bytes") }
}

/// From the largest to the smallest: suffix, power of two.
const UNITS: [(char, u32); 5] = [('P', 50), ('T', 40), ('G', 30), ('M', 20), ('K', 10)];

/// Text that is no size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SizeError {
    Empty,
    Number(String),
    Suffix(String),
    Decimal(String),
    TooLarge,
}

impl fmt::Display for SizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("a size is missing"),
            Self::Number(text) => write!(f, "`{text}` is no number of bytes; write 4096, 4K, 16M or 1G"),
            Self::Suffix(text) => {
                write!(f, "`{text}` is no suffix; there are K, M, G, T and P, all powers of 1024")
            }
            Self::Decimal(text) => {
                write!(f, "`{text}` could be 1000 or 1024; write K, M, G, T or P for powers of 1024")
            }
            Self::TooLarge => f.write_str("more than 2^64 - 1 bytes"),
        }
    }
}

impl std::error::Error for SizeError {}

impl FromStr for Size {
    type Err = SizeError;

    /// Digits, then nothing, `B`, or one of `K`, `M`, `G`, `T` and `P` in either case, which `iB` may follow.
    fn from_str(text: &str) -> Result<Self, SizeError> {
        let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (digits, suffix) = text.split_at(end);
        if text.is_empty() {
            return Err(SizeError::Empty);
        }
        if digits.is_empty() || suffix.starts_with(['.', ',']) {
            return Err(SizeError::Number(text.to_owned()));
        }
        let number: u64 = digits.parse().map_err(|_| SizeError::TooLarge)?;
        let bits = shift(suffix)?;
        number.checked_mul(1 << bits).map(Self).ok_or(SizeError::TooLarge)
    }
}

/// The power of two that a suffix stands for.
fn shift(suffix: &str) -> Result<u32, SizeError> {
    let mut letters = suffix.chars();
    let Some(first) = letters.next() else { return Ok(0) };
    let rest = letters.as_str();
    let unknown = || SizeError::Suffix(suffix.to_owned());
    if matches!(first, 'B' | 'b') && rest.is_empty() {
        return Ok(0);
    }
    let (_, bits) =
        UNITS.iter().find(|(letter, _)| letter.eq_ignore_ascii_case(&first)).ok_or_else(unknown)?;
    match rest {
        "" | "i" | "iB" | "ib" => Ok(*bits),
        "B" | "b" => Err(SizeError::Decimal(suffix.to_owned())),
        _ => Err(unknown()),
    }
}

impl fmt::Display for Size {
    /// In the largest unit of which it is at least one: `16 MiB`, `1.5 GiB`, `1023 B`. Rounded to three digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((letter, bits)) = UNITS.iter().find(|(_, bits)| self.0 >> bits > 0) else {
            return f.pad(&format!("{} B", self.0));
        };
        let value = self.0 as f64 / (1u64 << bits) as f64;
        let digits = match value {
            whole if whole.fract() == 0.0 => 0,
            small if small < 10.0 => 2,
            medium if medium < 100.0 => 1,
            _ => 0,
        };
        let number = format!("{value:.digits$}");
        let number = if digits > 0 { number.trim_end_matches('0').trim_end_matches('.') } else { &number };
        f.pad(&format!("{number} {letter}iB"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_are_powers_of_1024() {
        let table = [
            ("0", 0),
            ("4096", 4096),
            ("512B", 512),
            ("4K", 4096),
            ("4k", 4096),
            ("4KiB", 4096),
            ("4Ki", 4096),
            ("16M", 16 << 20),
            ("1g", 1 << 30),
            ("2T", 2 << 40),
            ("16383P", 16383 << 50),
            ("18446744073709551615", u64::MAX),
        ];
        for (text, bytes) in table {
            assert_eq!(text.parse(), Ok(Size(bytes)), "{text}");
        }
    }

    #[test]
    fn what_is_no_size_is_said_in_words() {
        let table = [
            ("", "a size is missing"),
            ("K", "`K` is no number of bytes; write 4096, 4K, 16M or 1G"),
            ("-1", "`-1` is no number of bytes; write 4096, 4K, 16M or 1G"),
            ("1.5G", "`1.5G` is no number of bytes; write 4096, 4K, 16M or 1G"),
            ("4KB", "`KB` could be 1000 or 1024; write K, M, G, T or P for powers of 1024"),
            ("4X", "`X` is no suffix; there are K, M, G, T and P, all powers of 1024"),
            ("4 K", "` K` is no suffix; there are K, M, G, T and P, all powers of 1024"),
            ("4KK", "`KK` is no suffix; there are K, M, G, T and P, all powers of 1024"),
            ("16384P", "more than 2^64 - 1 bytes"),
            ("18446744073709551616", "more than 2^64 - 1 bytes"),
        ];
        for (text, message) in table {
            assert_eq!(text.parse::<Size>().unwrap_err().to_string(), message, "{text:?}");
        }
    }

    #[test]
    fn sizes_are_shown_in_the_largest_unit() {
        let table = [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1 KiB"),
            (1536, "1.5 KiB"),
            (16 << 20, "16 MiB"),
            ((1 << 30) + (1 << 20), "1 GiB"),
            (10_737_418_239, "10 GiB"),
            (123_456_789, "118 MiB"),
            (12_345_678, "11.8 MiB"),
            (u64::MAX, "16384 PiB"),
        ];
        for (bytes, text) in table {
            assert_eq!(Size(bytes).to_string(), text);
        }
        assert_eq!(format!("{:>8}", Size(1024)), "   1 KiB");
        assert_eq!([0, 1, 2].map(in_bytes), ["0 bytes", "1 byte", "2 bytes"]);
    }
}
