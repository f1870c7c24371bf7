//! Huge pages for device memory. The system backs a memfd with pages of 4 KiB unless it is told otherwise: to bring in
//! fresh memory page by page takes several times as long as to write to it, and copying to such pages is slower as well.
//!
//! Only what an access is about to cover at least half of is asked for, so that sparse use of a large allocation stays
//! sparse, and only inside one allocation, so that freeing it gives the memory back.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use soft_rocm_faults::sys;

use crate::arena::Arena;

/// Bytes of a huge page, and what it starts at a multiple of.
pub(crate) const HUGE: usize = 2 << 20;

/// Accesses of fewer bytes cover less than half of any.
pub(crate) const LEAST: usize = HUGE / 2;

/// Which huge pages have been asked for.
#[derive(Debug)]
pub(crate) struct HugePages {
    /// A bit each.
    asked: Vec<AtomicU64>,
}

impl HugePages {
    /// For `len` bytes, none asked for.
    pub(crate) fn new(len: usize) -> HugePages {
        let words = len.div_ceil(HUGE * u64::BITS as usize);
        HugePages { asked: (0..words).map(|_| AtomicU64::new(0)).collect() }
    }

    /// Asks for what an access to some offsets, [`LEAST`] or more inside those of an allocation, covers at least half of.
    /// Where the system has none the pages come in as they are touched.
    pub(crate) fn bring_in(&self, arena: &Arena, access: Range<usize>, allocation: Range<usize>) {
        let nearest = |offset: usize| (offset + LEAST) / HUGE;
        // Of two that are equally near the one before it.
        let first = nearest(access.start.saturating_sub(1)).max(allocation.start.div_ceil(HUGE));
        let last = nearest(access.end).min(allocation.end / HUGE);
        let mut page = first;
        while page < last {
            let fresh = (page..last).take_while(|page| self.begin(*page)).count();
            ask(arena, page..page + fresh);
            page += fresh.max(1);
        }
    }

    /// Forgets those of offsets that were given back to the system.
    pub(crate) fn forget(&self, offsets: Range<usize>) {
        for page in offsets.start.div_ceil(HUGE)..offsets.end / HUGE {
            if let Some((word, bit)) = self.bit(page) {
                word.fetch_and(!bit, Ordering::Relaxed);
            }
        }
    }

    /// Whether it is this call that has to ask for a page.
    fn begin(&self, page: usize) -> bool {
        self.bit(page).is_some_and(|(word, bit)| {
            word.load(Ordering::Relaxed) & bit == 0 && word.fetch_or(bit, Ordering::Relaxed) & bit == 0
        })
    }

    fn bit(&self, page: usize) -> Option<(&AtomicU64, u64)> {
        let bits = u64::BITS as usize;
        self.asked.get(page / bits).map(|word| (word, 1 << (page % bits)))
    }
}

/// Unites the pages of some huge pages, whatever they hold.
#[cold]
fn ask(arena: &Arena, pages: Range<usize>) {
    for page in pages.clone() {
        // Nothing is united where there is no page at all yet.
        let start = arena.alias(page * HUGE).cast();
        // SAFETY: requires a range of a mapping; holds, and pages that come in hold what they held or zeros.
        unsafe { sys::madvise(start, 1, libc::MADV_POPULATE_READ) };
    }
    if !pages.is_empty() {
        let start = arena.alias(pages.start * HUGE).cast();
        // SAFETY: as above; the content stays what it is.
        unsafe { sys::madvise(start, pages.len() * HUGE, libc::MADV_COLLAPSE) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: usize = 4096;

    fn arena(len: usize) -> (Arena, HugePages) {
        (Arena::new(len, false).unwrap(), HugePages::new(len))
    }

    /// Bytes of a range that are backed by memory.
    fn resident(arena: &Arena, offsets: Range<usize>) -> usize {
        let mut pages = vec![0u8; offsets.len() / PAGE];
        // SAFETY: requires one byte a page; holds for the vector above.
        let failed =
            unsafe { libc::mincore(arena.alias(offsets.start).cast(), offsets.len(), pages.as_mut_ptr()) };
        assert_eq!(failed, 0);
        pages.iter().filter(|page| **page & 1 == 1).count() * PAGE
    }

    /// Whether this system unites pages of a memfd; if not it says so.
    fn is_supported(arena: &Arena) -> bool {
        ask(arena, 0..1);
        let supported = resident(arena, 0..HUGE) == HUGE;
        if !supported {
            println!("skipped: this system unites no pages of memory files");
        }
        supported
    }

    #[test]
    fn what_is_covered_by_half_inside_the_allocation_comes_in_whole() {
        const ALL: usize = 8 * HUGE;
        let half = HUGE / 2;
        let whole = 0..ALL;
        for (access, allocation, expected) in [
            (HUGE..2 * HUGE, whole.clone(), HUGE..2 * HUGE),
            (HUGE..3 * HUGE + 1, whole.clone(), HUGE..3 * HUGE),
            (HUGE + half..2 * HUGE, whole.clone(), HUGE..2 * HUGE),
            (HUGE + PAGE..HUGE + PAGE + half, whole.clone(), HUGE..2 * HUGE),
            (HUGE + half + PAGE..2 * HUGE + half - PAGE, whole.clone(), 0..0),
            (HUGE - half..3 * HUGE + half, whole.clone(), 0..4 * HUGE),
            (0..ALL, PAGE..ALL, HUGE..ALL),
            (HUGE..2 * HUGE, HUGE..2 * HUGE - PAGE, 0..0),
            (HUGE..3 * HUGE, HUGE + PAGE..3 * HUGE, 2 * HUGE..3 * HUGE),
        ] {
            let (arena, huge) = arena(ALL);
            if !is_supported(&arena) {
                return;
            }
            // SAFETY: requires that nobody needs the content; holds.
            unsafe { arena.release(0..ALL) };
            huge.bring_in(&arena, access.clone(), allocation.clone());
            let (inside, all) = (resident(&arena, expected.clone()), resident(&arena, 0..ALL));
            assert_eq!((inside, all), (expected.len(), expected.len()), "{access:?} of {allocation:?}");
        }
    }

    #[test]
    fn each_is_asked_for_once_until_it_is_given_back() {
        let (arena, huge) = arena(2 * HUGE);
        if !is_supported(&arena) {
            return;
        }
        let empty = || {
            // SAFETY: requires that nobody needs the content; holds.
            unsafe { arena.release(0..2 * HUGE) };
        };
        for expected in [2 * HUGE, 0] {
            empty();
            huge.bring_in(&arena, 0..2 * HUGE, 0..2 * HUGE);
            assert_eq!(resident(&arena, 0..2 * HUGE), expected);
        }
        huge.forget(PAGE..2 * HUGE);
        huge.bring_in(&arena, 0..2 * HUGE, 0..2 * HUGE);
        assert_eq!(resident(&arena, 0..2 * HUGE), HUGE, "only the second was given back whole");
    }

    #[test]
    fn bytes_stay_what_they_are() {
        let (arena, huge) = arena(HUGE);
        let marks = [0, 5, PAGE, HUGE - 1];
        for mark in marks {
            // SAFETY: requires a writable byte; holds inside the alias.
            unsafe { arena.alias(mark).write(7) };
        }
        huge.bring_in(&arena, 0..HUGE, 0..HUGE);
        // SAFETY: requires readable bytes that nobody writes; holds.
        let bytes = unsafe { std::slice::from_raw_parts(arena.alias(0), HUGE) };
        let found: Vec<usize> = (0..HUGE).filter(|at| bytes[*at] != 0).collect();
        assert_eq!(found, marks);
    }
}
