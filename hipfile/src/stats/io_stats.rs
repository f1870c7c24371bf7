//! Counters of one direction, and what they say.

use std::fmt;
use std::time::Duration;

/// Counters of one direction.
///
/// ```
/// # fn main() -> hipfile::Result<()> {
/// let reads: hipfile::IoStats = hipfile::stats()?.reads;
/// if reads.fallback > 0 {
///     println!("{} of {} reads went through host memory", reads.fallback, reads.operations);
/// }
/// # Ok(())
/// # }
/// ```
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct IoStats {
    /// Operations that completed.
    pub operations: u64,
    /// Operations that failed. An operation that failed on the fast path and was done again is in both.
    pub errors: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Time that the operations took, one added to the other. The library counts microseconds.
    pub time: Duration,
    /// Operations on the fast path, between storage and GPU directly.
    pub fast_path: u64,
    /// Operations that went through host memory.
    pub fallback: u64,
    /// Those of `fallback` whose offsets or size suit no fast path.
    pub unaligned: u64,
}

impl IoStats {
    /// What was counted after `earlier` was.
    ///
    /// ```
    /// # fn main() -> hipfile::Result<()> {
    /// let before = hipfile::stats()?.writes;
    /// let since = hipfile::stats()?.writes.since(before);
    /// assert_eq!(since.operations, 0);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            operations: self.operations.saturating_sub(earlier.operations),
            errors: self.errors.saturating_sub(earlier.errors),
            bytes: self.bytes.saturating_sub(earlier.bytes),
            time: self.time.saturating_sub(earlier.time),
            fast_path: self.fast_path.saturating_sub(earlier.fast_path),
            fallback: self.fallback.saturating_sub(earlier.fallback),
            unaligned: self.unaligned.saturating_sub(earlier.unaligned),
        }
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            operations: self.operations.saturating_add(other.operations),
            errors: self.errors.saturating_add(other.errors),
            bytes: self.bytes.saturating_add(other.bytes),
            time: self.time.saturating_add(other.time),
            fast_path: self.fast_path.saturating_add(other.fast_path),
            fallback: self.fallback.saturating_add(other.fallback),
            unaligned: self.unaligned.saturating_add(other.unaligned),
        }
    }

    /// The path these operations took.
    ///
    /// ```
    /// # fn main() -> hipfile::Result<()> {
    /// use hipfile::{Observed, IoStats};
    ///
    /// let writes: IoStats = hipfile::stats()?.writes;
    /// assert_eq!(writes.observed(), Observed::Nothing);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn observed(self) -> Observed {
        match (self.fast_path, self.fallback) {
            (0, 0) => Observed::Nothing,
            (_, 0) => Observed::FastPath,
            (0, _) => Observed::Fallback,
            (_, _) => Observed::Both,
        }
    }

    /// The time that one of these operations took on average; `None` if there are none.
    ///
    /// ```
    /// # fn main() -> hipfile::Result<()> {
    /// match hipfile::stats()?.reads.mean_time() {
    ///     Some(time) => println!("a read takes {time:?}"),
    ///     None => println!("no reads yet"),
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn mean_time(self) -> Option<Duration> {
        let mean = self.time.as_nanos().checked_div(u128::from(self.operations))?;
        Some(Duration::from_nanos(u64::try_from(mean).unwrap_or(u64::MAX)))
    }

    /// Bytes moved in a second of these operations' time; `None` if they took none. Operations that ran side by side
    /// moved more in a second of the clock on the wall.
    ///
    /// ```
    /// # fn main() -> hipfile::Result<()> {
    /// assert_eq!(hipfile::IoStats::default().bytes_per_second(), None);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn bytes_per_second(self) -> Option<u64> {
        let rate = (u128::from(self.bytes) * 1_000_000).checked_div(self.time.as_micros())?;
        Some(u64::try_from(rate).unwrap_or(u64::MAX))
    }
}

/// The path that transfers took: what the library counted, not what its rules predict.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use hipfile::alloc::DeviceBuffer;
/// use hipfile::{Driver, FileHandle, Observed};
///
/// let driver = Driver::open()?;
/// let file = FileHandle::new(&driver, std::fs::File::open("/proc/self/exe")?)?;
/// let mut memory = DeviceBuffer::new(10)?;
/// let before = hipfile::stats()?;
/// file.read_exact_at(memory.slice_mut(..)?, 1)?;
/// let reads = hipfile::stats()?.since(before).reads;
/// assert_eq!((reads.observed(), reads.unaligned), (Observed::Fallback, 1)); // 10 bytes from offset 1
/// # Ok(())
/// # }
/// ```
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Observed {
    /// Nothing was transferred, or nothing is counted: `HIPFILE_STATS_LEVEL=0`, or transfers on streams.
    Nothing,
    /// All took the fast path, between storage and GPU directly.
    FastPath,
    /// All went through host memory.
    Fallback,
    /// Some took the fast path and some went through host memory.
    Both,
}

impl fmt::Display for Observed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nothing => "no path",
            Self::FastPath => "fast path",
            Self::Fallback => "fallback",
            Self::Both => "fast path and fallback",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_named_by_the_counters() {
        let table = [
            (0, 0, Observed::Nothing, "no path"),
            (3, 0, Observed::FastPath, "fast path"),
            (0, 3, Observed::Fallback, "fallback"),
            (1, 1, Observed::Both, "fast path and fallback"),
        ];
        for (fast_path, fallback, observed, text) in table {
            let transfers = IoStats { fast_path, fallback, ..IoStats::default() };
            assert_eq!((transfers.observed(), observed.to_string().as_str()), (observed, text));
        }
    }

    #[test]
    fn means_and_rates() {
        let time = Duration::from_micros(2000);
        let some = IoStats { operations: 3, bytes: 8192, time, ..IoStats::default() };
        assert_eq!(some.mean_time(), Some(Duration::from_nanos(666_666)));
        assert_eq!(some.bytes_per_second(), Some(4_096_000));
        assert_eq!((IoStats::default().mean_time(), IoStats::default().bytes_per_second()), (None, None));
        let most = IoStats {
            operations: 1,
            bytes: u64::MAX,
            time: Duration::from_micros(u64::MAX),
            ..IoStats::default()
        };
        assert_eq!(
            (most.mean_time(), most.bytes_per_second()),
            (Some(Duration::from_nanos(u64::MAX)), Some(1_000_000))
        );
        let soon = IoStats { bytes: u64::MAX, time: Duration::from_micros(1), ..IoStats::default() };
        assert_eq!(soon.bytes_per_second(), Some(u64::MAX));
    }
}
