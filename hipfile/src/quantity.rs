//! Quantities in our units and in those of C.

use std::time::Duration;

use crate::error::Cause;

/// What the library counts a quantity in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Things.
    One,
    /// 1024 bytes.
    Kib,
}

impl Unit {
    /// The library's number as a number of things or bytes. What no number holds is the largest number.
    pub(crate) fn ours(self, number: u64) -> u64 {
        match self {
            Self::One => number,
            Self::Kib => number.saturating_mul(1024),
        }
    }

    /// A number of things or bytes as the library's number.
    pub(crate) fn theirs(self, number: u64) -> Result<usize, Cause> {
        let whole = match self {
            Self::One => Some(number),
            Self::Kib => (number % 1024 == 0).then_some(number / 1024),
        };
        whole.and_then(|whole| usize::try_from(whole).ok()).ok_or_else(|| {
            Cause::InvalidArgument(match self {
                Self::One => format!("{number} is more than the library can count"),
                Self::Kib => {
                    format!("{number} bytes are no whole number of KiB, in which the library counts")
                }
            })
        })
    }
}

/// The milliseconds that are so much time.
pub(crate) fn milliseconds(time: Duration) -> Result<usize, Cause> {
    match usize::try_from(time.as_millis()) {
        Ok(milliseconds) if time.subsec_nanos() % 1_000_000 == 0 => Ok(milliseconds),
        _ => Err(Cause::InvalidArgument(format!(
            "{time:?} is no whole number of milliseconds, in which the library counts"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_kib() {
        let [none, some, most] = [0, 3, u64::MAX].map(|number| Unit::Kib.ours(number));
        assert_eq!((none, some, most), (0, 3072, u64::MAX));
        assert_eq!((Unit::Kib.theirs(0).unwrap(), Unit::Kib.theirs(3072).unwrap()), (0, 3));
        for refused in [1, 1023, 1025, u64::MAX] {
            assert_eq!(
                Unit::Kib.theirs(refused).unwrap_err().to_string(),
                format!("{refused} bytes are no whole number of KiB, in which the library counts")
            );
        }
    }

    #[test]
    fn things() {
        assert_eq!((Unit::One.ours(7), Unit::One.theirs(7).unwrap()), (7, 7));
    }

    #[test]
    fn times() {
        assert_eq!(milliseconds(Duration::from_millis(1500)).unwrap(), 1500);
        assert_eq!(milliseconds(Duration::ZERO).unwrap(), 0);
        let refused = milliseconds(Duration::from_micros(1500)).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "1.5ms is no whole number of milliseconds, in which the library counts"
        );
        assert!(milliseconds(Duration::MAX).is_err());
    }
}
