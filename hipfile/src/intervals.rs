//! Address ranges, found by what they contain.

use std::collections::BTreeMap;

/// Ranges by their first address. They may overlap, but no two start at the same address.
#[derive(Debug)]
pub(crate) struct Intervals(BTreeMap<usize, Interval>);

#[derive(Debug)]
struct Interval {
    end: usize,
    /// The furthest end of this range and of all that start before it: where a search downwards may stop.
    reach: usize,
}

impl Intervals {
    pub(crate) const fn new() -> Self {
        Self(BTreeMap::new())
    }

    /// Adds the `len` bytes at `start`, in place of what started there.
    pub(crate) fn insert(&mut self, start: usize, len: usize) {
        self.0.insert(start, Interval { end: start.saturating_add(len), reach: 0 });
        self.renew(start);
    }

    /// Removes what starts at `start`.
    pub(crate) fn remove(&mut self, start: usize) {
        if self.0.remove(&start).is_some() {
            self.renew(start);
        }
    }

    /// Whether a range starts at `start`.
    pub(crate) fn starts_at(&self, start: usize) -> bool {
        self.0.contains_key(&start)
    }

    /// The start of the range that contains all of the `len` bytes at `start`, of several the last one.
    pub(crate) fn containing(&self, start: usize, len: usize) -> Option<usize> {
        let end = start.checked_add(len)?;
        self.0
            .range(..=start)
            .rev()
            .take_while(|(_, interval)| interval.reach >= end)
            .find(|(_, interval)| interval.end >= end)
            .map(|(base, _)| *base)
    }

    /// Computes the reaches from `start` on, as far as they have changed: one or two steps where nothing overlaps.
    fn renew(&mut self, start: usize) {
        let mut reach = self.0.range(..start).next_back().map_or(0, |(_, interval)| interval.reach);
        for interval in self.0.range_mut(start..).map(|(_, interval)| interval) {
            reach = reach.max(interval.end);
            if interval.reach == reach {
                break;
            }
            interval.reach = reach;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Debug, Clone)]
    enum Step {
        Insert(usize, usize),
        Remove(usize),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            2 => (0..40usize, 1..20usize).prop_map(|(start, len)| Step::Insert(start, len)),
            1 => (0..40usize).prop_map(Step::Remove),
        ]
    }

    proptest! {
        #[test]
        fn what_is_found_is_what_a_search_of_all_finds(steps in proptest::collection::vec(step(), 0..30)) {
            let mut intervals = Intervals::new();
            let mut model: BTreeMap<usize, usize> = BTreeMap::new();
            for step in steps {
                match step {
                    Step::Insert(start, len) => {
                        intervals.insert(start, len);
                        model.insert(start, len);
                    }
                    Step::Remove(start) => {
                        intervals.remove(start);
                        model.remove(&start);
                    }
                }
            }
            for start in 0..62 {
                prop_assert_eq!(intervals.starts_at(start), model.contains_key(&start));
                for len in 0..22 {
                    let found = model
                        .iter()
                        .rev()
                        .find(|(base, room)| **base <= start && start + len <= **base + **room)
                        .map(|(base, _)| *base);
                    prop_assert_eq!(intervals.containing(start, len), found, "{} bytes at {}", len, start);
                }
            }
        }
    }

    #[test]
    fn nothing_wraps_at_the_end_of_the_address_space() {
        let mut intervals = Intervals::new();
        intervals.insert(usize::MAX - 15, 15);
        assert_eq!(intervals.containing(usize::MAX - 3, 3), Some(usize::MAX - 15));
        assert_eq!(intervals.containing(usize::MAX - 3, 4), None);
    }

    /// Otherwise a search for memory that is not registered would walk over everything that is.
    #[test]
    fn a_reach_is_an_end_where_nothing_overlaps() {
        let mut intervals = Intervals::new();
        for start in [30, 10, 20, 0] {
            intervals.insert(start, 10);
        }
        intervals.insert(5, 100);
        assert!(intervals.0.range(10..).all(|(_, interval)| interval.reach == 105));
        intervals.remove(5);
        assert!(intervals.0.values().all(|interval| interval.reach == interval.end));
    }
}
