//! The parts of a transfer.

use std::ops::Range;

use crate::error::{Cause, Error, Result};
use crate::file::FileHandle;
use crate::file_offset;
use crate::io::Way;
use crate::span::Span;
use crate::system;

/// What direct I/O takes has to be so long, in bytes, for two more calls around it to be worth their time.
const WORTHWHILE: u64 = 256 << 10;

/// Chunks are a multiple of this, in bytes, and so of every page size and every alignment that counts.
pub(super) const UNIT: usize = 64 << 10;

/// A run of bytes that is moved in order.
#[derive(Debug)]
pub(crate) struct Piece<'a> {
    file: &'a FileHandle,
    offset: u64,
    /// At most `isize::MAX`, as for memory.
    len: usize,
    way: Way,
    span: Span,
    /// The position of its first byte.
    start: u64,
}

impl<'a> Piece<'a> {
    /// The next part after those of `before`.
    pub fn new(way: Way, file: &'a FileHandle, span: Span, offset: u64, before: Option<&Self>) -> Self {
        let start = before.map_or(0, Self::end);
        Self { file, offset, len: span.len, way, span, start }
    }

    pub fn way(&self) -> Way {
        self.way
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn start(&self) -> u64 {
        self.start
    }

    /// The position after its last byte.
    pub fn end(&self) -> u64 {
        self.start.saturating_add(self.len as u64)
    }

    /// Refuses what can't be done whole, before any of it is.
    pub fn check(&self) -> Result<()> {
        let appends = self.file.flags() & libc::O_APPEND != 0;
        let answer = match self.way {
            Way::Write if appends => Err(Cause::InvalidArgument(
                "the file is open to append, which takes no offsets, and chunks would end up in any order"
                    .into(),
            )),
            _ => file_offset::checked(self.offset, self.len).map(|_offset| ()),
        };
        answer.map_err(|cause| self.error(cause, 0))
    }

    /// Moves `len` bytes from `at` on. The error's bytes are counted from the start of this part.
    pub fn perform(&self, at: usize, len: usize) -> Result<()> {
        // The end of the part was checked, and what is asked for lies within.
        let offset = self.offset.saturating_add(at as u64);
        self.file.whole(self.way, self.span.part(at, len), offset).map_err(|error| {
            let done = at.saturating_add(error.bytes_done());
            error.at(self.offset, self.len).after(done)
        })
    }

    /// An error that comes after `done` bytes of this part.
    pub fn error(&self, cause: Cause, done: usize) -> Error {
        self.file.failed(self.way, cause, self.span, self.offset, done)
    }

    /// What direct I/O takes of it, in bytes from its start; empty if that is nothing, or not worth the calls.
    ///
    /// It begins and ends at pages, too: a page that is written through the page cache and directly at once ends up as
    /// either of the two.
    pub fn direct(&self) -> Range<usize> {
        // Without an answer direct I/O is not what matters; the transfer will find out.
        let Ok(Some(alignment)) = self.file.alignment() else { return 0..0 };
        let grain = alignment.offset.max(system::page_size());
        if !grain.is_power_of_two() || grain > UNIT as u64 {
            return 0..0;
        }
        let range = within(self.offset, self.len as u64, grain);
        let (Ok(start), Ok(end)) = (usize::try_from(range.start), usize::try_from(range.end)) else {
            return 0..0;
        };
        let address = self.span.start().after(start).0.addr() as u64;
        let aligned = address.checked_rem(alignment.memory) == Some(0);
        if aligned { start..end } else { 0..0 }
    }
}

/// Of `len` bytes at `offset`, those from the first to the last multiple of `grain`, counted from `offset`; none if they are
/// too few. The end is at most `i64::MAX`.
fn within(offset: u64, len: u64, grain: u64) -> Range<u64> {
    let end = offset.saturating_add(len);
    let (first, last) = (offset.next_multiple_of(grain), end.saturating_sub(end % grain));
    if last.saturating_sub(first) < WORTHWHILE {
        return 0..0;
    }
    first.saturating_sub(offset)..last.saturating_sub(offset)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_middle_is_aligned_and_as_long_as_can_be(
            offset in 0u64..1 << 40, len in 0u64..1 << 22, shift in 9u32..17,
        ) {
            let grain = 1 << shift;
            let range = within(offset, len, grain);
            if range.is_empty() {
                prop_assert!(len < WORTHWHILE + 2 * grain);
            } else {
                prop_assert_eq!((offset + range.start) % grain, 0);
                prop_assert_eq!((offset + range.end) % grain, 0);
                prop_assert!(range.start < grain && range.end <= len && len - range.end < grain);
            }
        }
    }

    #[test]
    fn whole_pages_have_no_edges() {
        assert_eq!(within(4096, 1 << 20, 4096), 0..1 << 20);
        assert_eq!(within(4095, 1 << 20, 4096), 1..(1 << 20) - 4095);
        assert_eq!(within(0, WORTHWHILE - 1, 4096), 0..0);
        assert_eq!(within(0, 0, 4096), 0..0);
    }
}
