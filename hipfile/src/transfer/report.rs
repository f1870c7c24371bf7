//! What a transfer did.

use std::ops::Range;
use std::time::Duration;

use crate::explain::Explanation;

/// How far a transfer has come.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # use hipfile::alloc::DeviceBuffer;
/// # use hipfile::{Driver, OpenOptions};
/// use hipfile::transfer::{Options, Progress};
///
/// # let path = std::env::temp_dir().join(format!("hipfile-doc-progress-{}", std::process::id()));
/// # std::fs::write(&path, vec![7; 1 << 20])?;
/// # let file = OpenOptions::new().read(true).open(&Driver::open()?, &path)?;
/// # let mut memory = DeviceBuffer::new(1 << 20)?;
/// let mut last = 0;
/// let show = |Progress { bytes, total, .. }: Progress| {
///     println!("{} %", bytes * 100 / total);
///     assert!(bytes > last);
///     last = bytes;
/// };
/// Options::new().progress(show).read_file_into(&file, memory.slice_mut(..)?, 0)?;
/// assert_eq!(last, 1 << 20);
/// # std::fs::remove_file(&path)?;
/// # Ok(())
/// # }
/// ```
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Bytes that have moved, in any order.
    pub bytes: u64,
    /// Bytes that are to move; never 0.
    pub total: u64,
}

/// What a transfer did, whether it came to its end or not.
///
/// Where it says *position* it means a byte's place among all that were asked for: those of the first part come first, in
/// the order of its memory, then those of the second.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # use hipfile::alloc::DeviceBuffer;
/// # use hipfile::{Driver, OpenOptions};
/// use hipfile::transfer::{Options, Report};
///
/// # let path = std::env::temp_dir().join(format!("hipfile-doc-report-{}", std::process::id()));
/// # std::fs::write(&path, vec![7; 1 << 20])?;
/// # let file = OpenOptions::new().read(true).open(&Driver::open()?, &path)?;
/// # let mut memory = DeviceBuffer::new(1 << 20)?;
/// let report: Report = Options::new().read_file_into(&file, memory.slice_mut(..)?, 0)?;
/// println!(
///     "{} of {} bytes in {:?}, {:?} of CPU time on {} threads; {} bytes as direct I/O asks for",
///     report.bytes, report.asked, report.wall, report.cpu, report.threads, report.aligned,
/// );
/// assert_eq!((report.contiguous(), &report.ranges[..]), (1 << 20, &[0..1 << 20][..]));
/// # std::fs::remove_file(&path)?;
/// # Ok(())
/// # }
/// ```
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Bytes that moved.
    pub bytes: u64,
    /// Bytes that were to move.
    pub asked: u64,
    /// The positions that moved, ascending and with gaps between them: one range after a success, none if nothing moved.
    pub ranges: Vec<Range<u64>>,
    /// Bytes that moved in calls which met the file's [`Alignment`](crate::Alignment) with offset, length and address.
    /// Others can't have taken the fast path.
    pub aligned: u64,
    /// Time from the call to its end.
    pub wall: Duration,
    /// CPU time of the transfer's threads, the caller's among them. What the library's own threads spend is not in it.
    pub cpu: Duration,
    /// The most threads that worked at once.
    pub threads: usize,
    /// Which path was to be expected, and why: what [`FileHandle::explain`](crate::FileHandle::explain) says of a call in the
    /// middle of the longest part, of a copy of its read. None below 16 MiB, where asking would take longer than it is worth,
    /// if nothing was begun, and where it can't be told.
    pub predicted: Option<Explanation>,
}

impl Report {
    /// How many bytes moved before the first position that did not: where a second attempt has to begin.
    #[must_use]
    pub fn contiguous(&self) -> u64 {
        self.ranges.first().filter(|range| range.start == 0).map_or(0, |range| range.end)
    }
}

/// What one thread did.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Positions, in the order in which they moved.
    pub ranges: Vec<Range<u64>>,
    pub aligned: u64,
    pub cpu: Duration,
}

impl Tally {
    /// Counts a call that moved `range`.
    pub fn add(&mut self, range: Range<u64>, aligned: bool) {
        if range.is_empty() {
            return;
        }
        if aligned {
            self.aligned = self.aligned.saturating_add(range.end.saturating_sub(range.start));
        }
        match self.ranges.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => self.ranges.push(range),
        }
    }

    /// Counts what another thread, or this one before, did.
    pub fn join(&mut self, other: Self) {
        self.ranges.extend(other.ranges);
        self.aligned = self.aligned.saturating_add(other.aligned);
        self.cpu = self.cpu.saturating_add(other.cpu);
    }

    /// The report of all threads.
    pub fn report(self, asked: u64, threads: usize, wall: Duration) -> Report {
        let Self { ranges, aligned, cpu } = self;
        let ranges = merged(ranges);
        let bytes = ranges.iter().map(|range| range.end.saturating_sub(range.start)).sum();
        Report { bytes, asked, ranges, aligned, wall, cpu, threads, predicted: None }
    }
}

/// Ranges without a byte in common, sorted, those that touch as one.
fn merged(mut ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    ranges.sort_unstable_by_key(|range| range.start);
    let mut merged: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => merged.push(range),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_touch_become_one() {
        let mut first = Tally::default();
        first.add(20..30, true);
        first.add(30..35, false);
        first.add(50..50, true);
        let mut second = Tally::default();
        second.add(0..10, false);
        second.add(40..45, false);
        second.add(10..20, true);
        first.join(second);
        let report = first.report(100, 2, Duration::ZERO);
        assert_eq!(report.ranges, [0..35, 40..45]);
        assert_eq!((report.bytes, report.aligned, report.contiguous()), (40, 20, 35));
    }

    #[test]
    fn nothing_is_contiguous_without_the_first_byte() {
        let mut tally = Tally::default();
        tally.add(1..10, false);
        assert_eq!(tally.report(10, 1, Duration::ZERO).contiguous(), 0);
        assert_eq!(Tally::default().report(10, 1, Duration::ZERO).contiguous(), 0);
    }
}
