//! What is wrong with a range or an address that a call refused.

use super::Memory;
use super::tables::Freed;
use crate::allocation::{Allocation, Kind};

/// What is wrong.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Verdict {
    /// Nothing that memory could tell.
    Fine,
    /// It leaves the allocation that it begins in or directly behind.
    Leaves(Allocation),
    /// It begins in memory that has ended.
    Ended(Freed),
    /// A device address that belongs to nothing.
    Nowhere,
    /// What it starts is ended by another function.
    OtherFunction(Allocation),
    /// It is inside an allocation, not at its start.
    Inside(Allocation),
}

impl Memory {
    /// Whether calls that use memory illegally are to be explained.
    pub(crate) fn explains(&self) -> bool {
        self.read().remembers()
    }

    /// What is wrong with a range that was to be read or written.
    pub(crate) fn judge_use(&self, address: usize, len: usize) -> Verdict {
        let tables = self.read();
        if let Some(found) = tables.at(address) {
            let fits = found.holds(address, len) || found.kind.is_registered();
            return if fits { Verdict::Fine } else { Verdict::Leaves(found) };
        }
        if len == 0 || !self.touches_device(address, len) {
            return Verdict::Fine;
        }
        let page_end = |found: &Allocation| found.base + found.len.next_multiple_of(self.page);
        let is_behind = |found: &Allocation| found.kind == Kind::Device && address < page_end(found);
        match (tables.before(address).filter(is_behind), tables.ended(address)) {
            (Some(found), _) => Verdict::Leaves(found),
            (None, Some(freed)) => Verdict::Ended(freed),
            (None, None) => Verdict::Nowhere,
        }
    }

    /// What is wrong with an address that was to be freed.
    pub(crate) fn judge_end(&self, address: usize) -> Verdict {
        let tables = self.read();
        match (tables.at(address), tables.ended(address)) {
            (Some(found), _) if found.base == address => Verdict::OtherFunction(found),
            (Some(found), _) => Verdict::Inside(found),
            (None, Some(freed)) => Verdict::Ended(freed),
            (None, None) => Verdict::Nowhere,
        }
    }

    /// Everything that lives, by address.
    pub(crate) fn live(&self) -> Vec<Allocation> {
        self.read().live.values().copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backing::{Backing, Host};

    const PAGE: usize = 4096;

    #[test]
    fn a_range_is_judged_by_where_it_begins() {
        let memory = Memory::new(Backing::Host(Host::new(1, 1 << 20, false).unwrap()), true);
        let first = memory.allocate(0, 100).unwrap().addr();
        let second = memory.allocate(0, PAGE).unwrap().addr();
        let third = memory.allocate(0, PAGE).unwrap().addr();
        memory.free(second).unwrap();
        assert!(matches!(memory.judge_use(first, 100), Verdict::Fine));
        assert!(matches!(memory.judge_use(0x1000, 100), Verdict::Fine));
        for (address, len) in [(first, 101), (first + 99, 2), (first + 100, 1), (first + PAGE - 1, 1)] {
            let verdict = memory.judge_use(address, len);
            assert!(matches!(verdict, Verdict::Leaves(found) if found.base == first), "{verdict:?}");
        }
        for (address, len) in [(second, 1), (second + PAGE - 1, 2)] {
            let verdict = memory.judge_use(address, len);
            assert!(
                matches!(verdict, Verdict::Ended(freed) if freed.allocation.base == second),
                "{verdict:?}"
            );
        }
        assert!(matches!(memory.judge_use(third + PAGE, 1), Verdict::Nowhere));
        assert!(matches!(memory.judge_use(first - 1, 2), Verdict::Nowhere));
        assert!(matches!(memory.judge_use(third + PAGE, 0), Verdict::Fine));
    }

    #[test]
    fn registered_memory_is_the_programs_own_on_both_sides_of_its_end() {
        let memory = Memory::new(Backing::Host(Host::new(1, 1 << 20, false).unwrap()), true);
        let own = [0u8; 100];
        memory.register(0, own.as_ptr().addr(), 50, 0).unwrap();
        assert!(matches!(memory.judge_use(own.as_ptr().addr() + 40, 50), Verdict::Fine));
    }

    #[test]
    fn an_end_is_judged_by_what_the_address_is() {
        let memory = Memory::new(Backing::Host(Host::new(1, 1 << 20, false).unwrap()), true);
        let device = memory.allocate(0, 100).unwrap().addr();
        let pinned = memory.allocate_mapped(0, 100, Kind::Pinned { flags: 0 }).unwrap().addr();
        assert!(matches!(memory.judge_end(pinned), Verdict::OtherFunction(found) if found.base == pinned));
        assert!(matches!(memory.judge_end(device + 1), Verdict::Inside(found) if found.base == device));
        assert!(matches!(memory.judge_end(0x1000), Verdict::Nowhere));
        memory.free(device).unwrap();
        assert!(matches!(memory.judge_end(device), Verdict::Ended(freed) if freed.allocation.base == device));
        assert_eq!(memory.live().iter().map(|found| found.base).collect::<Vec<_>>(), [pinned]);
    }
}
