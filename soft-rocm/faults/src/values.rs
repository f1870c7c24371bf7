//! Numbers, sizes, times and ranges. An error says what is accepted.

use std::ops::RangeInclusive;
use std::time::Duration;

use crate::error::shown;

/// The longest delay, so that a slip does not stop a program for years.
const LONGEST: Duration = Duration::from_secs(60 * 60);

/// A number made of digits alone.
pub(crate) fn number(text: &str) -> Result<u64, String> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!("{} is no number: expected decimal digits", shown(text)));
    }
    text.parse().map_err(|_| format!("{} is too large a number", shown(text)))
}

/// A number of bytes, with or without a suffix.
pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    let (digits, unit) = match text.strip_suffix(['K', 'M', 'G']) {
        Some(digits) if text.ends_with('K') => (digits, 1 << 10),
        Some(digits) if text.ends_with('M') => (digits, 1 << 20),
        Some(digits) => (digits, 1 << 30),
        None => (text, 1),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(format!("{}: expected a number of bytes, with or without K, M or G", shown(text)));
    }
    number(digits)?.checked_mul(unit).ok_or_else(|| format!("{} is too large a number", shown(text)))
}

/// A time with its unit.
pub(crate) fn time(text: &str) -> Result<Duration, String> {
    let unit = text.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let digits = text.strip_suffix(unit).unwrap_or_default();
    let make = match unit {
        "us" => Duration::from_micros,
        "ms" => Duration::from_millis,
        "s" => Duration::from_secs,
        _ => return Err(format!("{} is no time: expected a number with us, ms or s", shown(text))),
    };
    let time = make(number(digits)?);
    if time > LONGEST {
        Err(format!("{} is more than the longest delay, 3600s", shown(text)))
    } else {
        Ok(time)
    }
}

/// A probability.
pub(crate) fn probability(text: &str) -> Result<f64, String> {
    let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let parsed = if plain { text.parse().ok() } else { None };
    parsed.filter(|p| (0.0..=1.0).contains(p)).ok_or_else(|| {
        format!("{} is no probability: expected a number from 0 to 1, such as 0.25", shown(text))
    })
}

/// `N`, `N+` or `N-M`.
pub(crate) fn range(
    text: &str,
    value: impl Fn(&str) -> Result<u64, String>,
) -> Result<RangeInclusive<u64>, String> {
    if let Some(from) = text.strip_suffix('+') {
        return Ok(value(from)?..=u64::MAX);
    }
    let (from, to) = match text.split_once('-') {
        Some((from, to)) if !from.is_empty() => (value(from)?, value(to)?),
        _ => {
            let only = value(text)?;
            (only, only)
        }
    };
    if from > to {
        return Err(format!("{} is empty: the first number is the larger", shown(text)));
    }
    Ok(from..=to)
}

/// Text in which `%` and two hexadecimal digits stand for a byte.
pub(crate) fn unescape(text: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((plain, escaped)) = rest.split_once('%') {
        bytes.extend_from_slice(plain.as_bytes());
        let byte = escaped.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        let hexadecimal = escaped.bytes().take(2).all(|byte| byte.is_ascii_hexdigit());
        match byte.filter(|_| hexadecimal) {
            Some(byte) => bytes.push(byte),
            None => {
                return Err(format!("{}: expected two hexadecimal digits after %, such as %2C", shown(text)));
            }
        }
        rest = escaped.get(2..).unwrap_or_default();
    }
    bytes.extend_from_slice(rest.as_bytes());
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_digits_that_fit() {
        assert_eq!(number("0"), Ok(0));
        assert_eq!(number("18446744073709551615"), Ok(u64::MAX));
        assert!(number("18446744073709551616").unwrap_err().contains("too large"));
        for text in ["", "-1", "+1", " 1", "1 ", "0x1", "1.0", "one", "١"] {
            assert!(number(text).unwrap_err().contains("decimal digits"), "{text}");
        }
    }

    #[test]
    fn bytes_take_binary_suffixes() {
        for (text, expected) in [("0", 0), ("4096", 4096), ("4K", 4096), ("1M", 1 << 20), ("2G", 2 << 30)] {
            assert_eq!(bytes(text), Ok(expected));
        }
        assert!(bytes("17179869184G").unwrap_err().contains("too large"));
        for text in ["", "K", "1k", "1KB", "-1K", "1.5M"] {
            assert!(bytes(text).unwrap_err().contains("number of bytes"), "{text}");
        }
    }

    #[test]
    fn times_need_a_unit_and_end_somewhere() {
        assert_eq!(time("50ms"), Ok(Duration::from_millis(50)));
        assert_eq!(time("2s"), Ok(Duration::from_secs(2)));
        assert_eq!(time("10us"), Ok(Duration::from_micros(10)));
        assert_eq!(time("3600s"), Ok(LONGEST));
        for text in ["3601s", "18446744073709551615s", "99999999999999999999999s"] {
            assert!(time(text).is_err(), "{text}");
        }
        for text in ["", "50", "ms", "1m", "1.5s", "-1s", "1 s", "5ns"] {
            assert!(time(text).is_err(), "{text}");
        }
    }

    #[test]
    fn probabilities_lie_between_none_and_all() {
        for (text, expected) in [("0", 0.0), ("1", 1.0), ("0.25", 0.25), (".5", 0.5), ("1.0", 1.0)] {
            assert_eq!(probability(text), Ok(expected));
        }
        for text in ["", ".", "1.01", "2", "-0.1", "1e-3", "nan", "inf", "0.1.2", "50%"] {
            assert!(probability(text).is_err(), "{text}");
        }
    }

    #[test]
    fn ranges() {
        assert_eq!(range("3", number), Ok(3..=3));
        assert_eq!(range("3+", number), Ok(3..=u64::MAX));
        assert_eq!(range("2-5", number), Ok(2..=5));
        assert_eq!(range("4K-1M", bytes), Ok(4096..=1 << 20));
        for text in ["", "+", "-", "3-", "-3", "5-2", "1-2-3", "3++"] {
            assert!(range(text, number).is_err(), "{text}");
        }
        assert!(range("-1", bytes).unwrap_err().starts_with("`-1`: expected a number of bytes"));
    }

    #[test]
    fn escapes_stand_for_bytes() {
        assert_eq!(unescape("/a/b").unwrap(), b"/a/b");
        assert_eq!(unescape("a%2Cb%3b%25").unwrap(), b"a,b;%");
        assert_eq!(unescape("%ff").unwrap(), [0xff]);
        for text in ["%", "%2", "%2g", "%+1", "a%é1"] {
            assert!(unescape(text).is_err(), "{text}");
        }
    }
}
