//! The parts of a transfer.

use std::ops::Range;

use crate::alignment::Alignment;
use crate::error::{Cause, Error, Result};
use crate::explain::Explanation;
use crate::file::FileHandle;
use crate::file_offset;
use crate::io::Way;
use crate::span::Span;
use crate::system;
use crate::trace::{self, FileBytes};

/// What direct I/O takes has to be so long, in bytes, for two more calls around it to be worth their time.
const WORTHWHILE: u64 = 256 << 10;

/// Chunks are a multiple of this, in bytes, and so of every page size and every alignment that counts.
pub(super) const UNIT: usize = 64 << 10;

/// A run of bytes that is moved in order.
#[derive(Debug)]
pub(super) struct Piece<'a> {
    work: Work<'a>,
    /// At most `isize::MAX`, as for memory.
    len: usize,
    /// The position of its first byte.
    start: u64,
}

#[derive(Debug)]
enum Work<'a> {
    Move { way: Way, end: End<'a>, span: Span },
    Copy { from: End<'a>, to: End<'a>, through: Lanes },
}

/// Where a piece begins in a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct End<'a> {
    pub file: &'a FileHandle,
    pub offset: u64,
}

/// Memory of a copy: as many bytes for each thread as the longest chunk has.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lanes {
    pub span: Span,
    pub chunk: usize,
}

impl<'a> Piece<'a> {
    /// The next part after those of `before`.
    pub fn new(way: Way, file: &'a FileHandle, span: Span, offset: u64, before: Option<&Self>) -> Self {
        let start = before.map_or(0, Self::end);
        Self { work: Work::Move { way, end: End { file, offset }, span }, len: span.len, start }
    }

    /// `len` bytes from one file to another.
    pub fn copy(from: End<'a>, to: End<'a>, len: usize, through: Lanes) -> Self {
        Self { work: Work::Copy { from, to, through }, len, start: 0 }
    }

    /// Whether it changes a file.
    pub fn writes(&self) -> bool {
        !matches!(self.work, Work::Move { way: Way::Read, .. })
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
        let check = |way, end: &End<'_>| end.check(way, self.len);
        match &self.work {
            Work::Move { way, end, .. } => check(*way, end),
            Work::Copy { from, to, .. } => check(Way::Read, from).and_then(|()| check(Way::Write, to)),
        }
    }

    /// Moves `len` bytes from `at` on, for the thread of this number. The error's bytes are counted from the start of this
    /// piece.
    pub fn perform(&self, at: usize, len: usize, thread: usize) -> Result<()> {
        match &self.work {
            Work::Move { way, end, span } => end.perform(*way, span.part(at, len), at, self.len),
            Work::Copy { from, to, through } => {
                // No other thread has this number.
                let lane = through.span.part(thread.saturating_mul(through.chunk), len);
                let read = from.perform(Way::Read, lane, at, self.len);
                let there =
                    read.as_ref().map_or_else(|error| error.bytes_done().saturating_sub(at), |()| len);
                to.perform(Way::Write, lane.part(0, there), at, self.len).and(read)
            }
        }
    }

    /// An error that comes after `done` bytes of this piece.
    pub fn error(&self, cause: Cause, done: usize) -> Error {
        match &self.work {
            Work::Move { way, end, .. } => end.error(*way, cause, self.len),
            Work::Copy { from, .. } => from.error(Way::Read, cause, self.len),
        }
        .after(done)
    }

    /// What direct I/O takes of it, in bytes from its start; empty if that is nothing, or not worth the calls.
    ///
    /// It begins and ends at pages, too: a page that is written through the page cache and directly at once ends up as
    /// either of the two.
    pub fn direct(&self) -> Range<usize> {
        self.middle().unwrap_or(0..0)
    }

    /// What is predicted of its first call of up to `chunk` bytes that is no edge; of a copy the read. None if that can't be
    /// told.
    pub fn explain(&self, chunk: usize) -> Option<Explanation> {
        let direct = self.direct();
        let bytes = if direct.is_empty() { 0..self.len } else { direct };
        let len = bytes.len().min(chunk);
        let (end, span) = match &self.work {
            Work::Move { end, span, .. } => (end, span.part(bytes.start, len)),
            Work::Copy { from, through, .. } => (from, through.span.part(0, len)),
        };
        end.file.explained(span, end.offset.saturating_add(bytes.start as u64)).ok()
    }

    fn middle(&self) -> Option<Range<usize>> {
        if (self.len as u64) < WORTHWHILE {
            return None;
        }
        match &self.work {
            Work::Move { end, span, .. } => {
                let alignment = end.alignment()?;
                let range = end.within(self.len, grain(alignment)?)?;
                let address = span.start().after(range.start).0.addr() as u64;
                (address.checked_rem(alignment.memory) == Some(0)).then_some(range)
            }
            // A thread's memory begins as every alignment asks.
            Work::Copy { from, to, .. } => {
                let grain = grain(from.alignment()?)?.max(grain(to.alignment()?)?);
                let in_step = from.offset.abs_diff(to.offset).checked_rem(grain) == Some(0);
                if in_step { from.within(self.len, grain) } else { None }
            }
        }
    }
}

impl End<'_> {
    fn check(&self, way: Way, len: usize) -> Result<()> {
        let open = if len == 0 { Ok(()) } else { self.file.admits(way) };
        open.and_then(|()| file_offset::checked(self.offset, len))
            .map(|_offset| ())
            .map_err(|cause| self.error(way, cause, len))
    }

    /// Moves all of `span`, `at` bytes from here, as part of a piece of `len` bytes.
    fn perform(&self, way: Way, span: Span, at: usize, len: usize) -> Result<()> {
        // The end of the piece was checked, and what is asked for lies within.
        let offset = self.offset.saturating_add(at as u64);
        let work = trace::Work::Chunk(way, FileBytes { file: self.file, offset, bytes: span.len });
        let moving = trace::moving(work, || self.file.whole(way, span, offset).map(|()| span.len));
        moving.map(|_| ()).map_err(|error| {
            let done = at.saturating_add(error.bytes_done());
            error.at(self.offset, len).after(done)
        })
    }

    fn error(&self, way: Way, cause: Cause, len: usize) -> Error {
        self.file.error(way.name(), cause).at(self.offset, len)
    }

    /// What direct I/O asks. None if there is no direct I/O, or no answer: the transfer itself will find out why.
    fn alignment(&self) -> Option<Alignment> {
        self.file.alignment().ok()?
    }

    /// Of the next `len` bytes those between multiples of `grain`, counted from here.
    fn within(&self, len: usize, grain: u64) -> Option<Range<usize>> {
        let range = within(self.offset, len as u64, grain);
        Some(usize::try_from(range.start).ok()?..usize::try_from(range.end).ok()?)
    }
}

/// What offsets have to be multiples of for direct I/O that touches no page in part.
fn grain(alignment: Alignment) -> Option<u64> {
    let grain = alignment.offset.max(system::page_size());
    (grain.is_power_of_two() && grain <= UNIT as u64).then_some(grain)
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
