//! Ranges given by callers, checked once and with checked arithmetic.

use core::ops::{Bound, Range, RangeBounds};

use crate::error::{Cause, Error, Result};

/// The bytes that `range` means in memory of `len` bytes.
///
/// # Errors
/// [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange), naming `operation`, if the range ends before it starts, ends
/// after `len`, or has a bound above `usize::MAX`.
pub fn resolve(operation: &'static str, range: impl RangeBounds<usize>, len: usize) -> Result<Range<usize>> {
    let (start, end) = (range.start_bound().cloned(), range.end_bound().cloned());
    within(start, end, len).ok_or_else(|| Error::new(operation, Cause::Range { start, end, len }))
}

fn within(start: Bound<usize>, end: Bound<usize>, len: usize) -> Option<Range<usize>> {
    let start = match start {
        Bound::Included(start) => start,
        Bound::Excluded(before) => before.checked_add(1)?,
        Bound::Unbounded => 0,
    };
    let end = match end {
        Bound::Included(last) => last.checked_add(1)?,
        Bound::Excluded(end) => end,
        Bound::Unbounded => len,
    };
    (start <= end && end <= len).then_some(start..end)
}

/// The `count` bytes at `offset` in memory of `len` bytes.
pub(crate) fn span(operation: &'static str, offset: usize, count: usize, len: usize) -> Result<Range<usize>> {
    match offset.checked_add(count) {
        Some(end) if end <= len => Ok(offset..end),
        _ => Err(Error::new(operation, Cause::Span { offset, count, len })),
    }
}
