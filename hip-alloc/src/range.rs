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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;
    use proptest::prelude::*;

    /// Lengths and bounds near every edge.
    fn edge() -> impl Strategy<Value = usize> {
        let edges = [0, 1, 4095, 4096, 4097, 0x7fff_f000, isize::MAX as usize, usize::MAX];
        (proptest::sample::select(edges.to_vec()), 0usize..4, any::<bool>())
            .prop_map(|(edge, by, up)| if up { edge.saturating_add(by) } else { edge.saturating_sub(by) })
    }

    fn bound() -> impl Strategy<Value = Bound<usize>> {
        prop_oneof![
            edge().prop_map(Bound::Included),
            edge().prop_map(Bound::Excluded),
            Just(Bound::Unbounded)
        ]
    }

    proptest! {
        #[test]
        fn a_range_is_resolved_exactly_if_it_is_within(start in bound(), end in bound(), len in edge()) {
            // In 128 bits nothing overflows.
            let first = match start {
                Bound::Included(start) => start as u128,
                Bound::Excluded(start) => start as u128 + 1,
                Bound::Unbounded => 0,
            };
            let after = match end {
                Bound::Included(end) => end as u128 + 1,
                Bound::Excluded(end) => end as u128,
                Bound::Unbounded => len as u128,
            };
            let valid = first <= after && after <= len as u128;
            match resolve("op", (start, end), len) {
                Ok(range) => {
                    prop_assert!(valid);
                    prop_assert_eq!((range.start as u128, range.end as u128), (first, after));
                }
                Err(error) => {
                    prop_assert!(!valid);
                    prop_assert_eq!(error.kind(), ErrorKind::OutOfRange);
                }
            }
        }

        #[test]
        fn a_span_is_resolved_exactly_if_it_is_within(offset in edge(), count in edge(), len in edge()) {
            let valid = offset as u128 + count as u128 <= len as u128;
            match span("op", offset, count, len) {
                Ok(range) => {
                    prop_assert!(valid);
                    prop_assert_eq!((range.start, range.len()), (offset, count));
                }
                Err(error) => {
                    prop_assert!(!valid);
                    prop_assert_eq!(error.kind(), ErrorKind::OutOfRange);
                }
            }
        }
    }

    #[test]
    #[expect(clippy::reversed_empty_ranges, reason = "hostile ranges are the point")]
    fn errors_show_the_range_as_it_was_written() {
        fn text(range: impl RangeBounds<usize>) -> String {
            resolve("op", range, 10).unwrap_err().to_string()
        }
        assert_eq!(text(5..11), "op: bytes 5..11 are not within 0..10");
        assert_eq!(text(7..3), "op: bytes 7..3 are not within 0..10");
        assert_eq!(text(11..), "op: bytes 11.. are not within 0..10");
        assert_eq!(text(..11), "op: bytes ..11 are not within 0..10");
        assert_eq!(text(0..=10), "op: bytes 0..=10 are not within 0..10");
        assert_eq!(text(..=usize::MAX), format!("op: bytes ..={} are not within 0..10", usize::MAX));
        let after = (Bound::Excluded(usize::MAX), Bound::Unbounded);
        assert_eq!(text(after), format!("op: bytes (after {}).. are not within 0..10", usize::MAX));
        assert_eq!(
            span("op", 8, 3, 10).unwrap_err().to_string(),
            "op: 3 bytes at offset 8 are not within 0..10"
        );
    }
}
