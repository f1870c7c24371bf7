//! The tables behind [`Memory`](super::Memory): what lives, what is free, and what lived before.

use std::collections::{BTreeMap, VecDeque};
use std::time::Instant;

use crate::allocation::{Allocation, Kind};
use crate::blocks::Blocks;

/// How many ended allocations are remembered.
const REMEMBERED: usize = 4096;

/// An allocation that has ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Freed {
    /// What it was.
    pub(crate) allocation: Allocation,
    /// The thread that ended it, by the system's number.
    pub(crate) thread: i64,
    /// When.
    pub(crate) at: Instant,
}

#[derive(Debug)]
pub(super) struct Tables {
    /// Free ranges of each device, as arena offsets.
    pub(super) free: Vec<Blocks>,
    /// Every live allocation by its first address.
    pub(super) live: BTreeMap<usize, Allocation>,
    /// What has ended, the last one last; none if nobody will ask.
    history: Option<VecDeque<Freed>>,
}

impl Tables {
    /// Nothing lives yet.
    pub(super) fn new(free: Vec<Blocks>, remembers: bool) -> Tables {
        Tables { free, live: BTreeMap::new(), history: remembers.then(VecDeque::new) }
    }

    /// The allocation that starts last at or before the address.
    #[inline]
    pub(super) fn before(&self, address: usize) -> Option<Allocation> {
        self.live.range(..=address).next_back().map(|(_, allocation)| *allocation)
    }

    /// The allocation that holds the address.
    pub(super) fn at(&self, address: usize) -> Option<Allocation> {
        self.before(address).filter(|found| found.holds(address, 1))
    }

    /// The last allocation that has a byte in common with the range.
    pub(super) fn overlapping(&self, base: usize, len: usize) -> Option<Allocation> {
        self.before(base.saturating_add(len) - 1).filter(|last| last.holds(base, 1) || last.base >= base)
    }

    /// Takes out the allocation that starts at the address, if it is of that sort.
    pub(super) fn take(&mut self, address: usize, is_wanted: impl Fn(Kind) -> bool) -> Option<Allocation> {
        self.live.get(&address).filter(|found| is_wanted(found.kind))?;
        let allocation = self.live.remove(&address)?;
        if let Some(history) = &mut self.history {
            if history.len() == REMEMBERED {
                history.pop_front();
            }
            history.push_back(Freed { allocation, thread: thread(), at: Instant::now() });
        }
        Some(allocation)
    }

    /// Whether what ends is remembered.
    pub(super) fn remembers(&self) -> bool {
        self.history.is_some()
    }

    /// The ended allocation that held the address last.
    pub(super) fn ended(&self, address: usize) -> Option<Freed> {
        let holds = |freed: &&Freed| freed.allocation.holds(address, 1);
        self.history.iter().flatten().rev().find(holds).copied()
    }
}

/// The system's number of the calling thread.
fn thread() -> i64 {
    // SAFETY: requires nothing.
    unsafe { libc::syscall(libc::SYS_gettid) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allocation(base: usize, len: usize) -> Allocation {
        Allocation { base, len, device: 0, kind: Kind::Device }
    }

    fn tables(remembers: bool) -> Tables {
        let mut tables = Tables::new(Vec::new(), remembers);
        for (base, len) in [(100, 10), (110, 20), (200, 10)] {
            tables.live.insert(base, allocation(base, len));
        }
        tables
    }

    #[test]
    fn an_overlap_is_seen_from_both_sides_and_from_within() {
        let tables = tables(false);
        for (base, len, expected) in [
            (90, 10, None),
            (90, 11, Some(100)),
            (105, 1, Some(100)),
            (105, 10, Some(110)),
            (129, 1, Some(110)),
            (130, 70, None),
            (130, 71, Some(200)),
            (0, usize::MAX, Some(200)),
            (210, 1, None),
        ] {
            assert_eq!(tables.overlapping(base, len).map(|found| found.base), expected, "{base} {len}");
        }
    }

    #[test]
    fn the_last_that_held_an_address_is_remembered() {
        let mut tables = tables(true);
        tables.take(100, |_| true).unwrap();
        tables.live.insert(100, allocation(100, 50));
        assert_eq!(tables.ended(105).unwrap().allocation.len, 10);
        tables.take(100, |_| true).unwrap();
        assert_eq!(tables.ended(105).unwrap().allocation.len, 50);
        assert_eq!(tables.ended(105).unwrap().thread, thread());
        assert!(tables.ended(150).is_none());
        for _ in 0..REMEMBERED {
            tables.live.insert(300, allocation(300, 1));
            tables.take(300, |_| true).unwrap();
        }
        assert!(tables.ended(105).is_none());
        assert_eq!(tables.history.unwrap().len(), REMEMBERED);
    }

    #[test]
    fn nothing_is_remembered_if_nobody_will_ask() {
        let mut tables = tables(false);
        assert!(tables.take(100, |kind| kind != Kind::Device).is_none());
        assert!(tables.take(100, |_| true).is_some());
        assert!(!tables.remembers() && tables.ended(100).is_none());
    }
}
