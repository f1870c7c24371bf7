//! Free ranges of one device's memory.

use std::collections::{BTreeMap, BTreeSet};

/// The free blocks of a range: best fit, the lowest one among equals; neighbours are merged.
#[derive(Debug)]
pub(crate) struct Blocks {
    /// Length by start.
    by_start: BTreeMap<usize, usize>,
    /// The same blocks as (length, start).
    by_len: BTreeSet<(usize, usize)>,
    /// Sum of the lengths.
    free: usize,
}

impl Blocks {
    /// One free block, `len` long (more than 0), from `start`.
    pub(crate) fn new(start: usize, len: usize) -> Blocks {
        let mut blocks = Blocks { by_start: BTreeMap::new(), by_len: BTreeSet::new(), free: 0 };
        blocks.insert(start, len);
        blocks
    }

    /// How much is free in all.
    pub(crate) fn free(&self) -> usize {
        self.free
    }

    /// Takes `len` (more than 0) from the smallest block that is long enough and answers where it starts.
    pub(crate) fn take(&mut self, len: usize) -> Option<usize> {
        let (found, start) = self.by_len.range((len, 0)..).next().copied()?;
        self.remove(start, found);
        if found > len {
            self.insert(start + len, found - len);
        }
        Some(start)
    }

    /// Gives back what [`Blocks::take`] took.
    pub(crate) fn give(&mut self, mut start: usize, mut len: usize) {
        match self.by_start.range(..start).next_back() {
            Some((&before, &before_len)) if before + before_len == start => {
                self.remove(before, before_len);
                start = before;
                len += before_len;
            }
            _ => {}
        }
        if let Some(&after_len) = self.by_start.get(&(start + len)) {
            self.remove(start + len, after_len);
            len += after_len;
        }
        self.insert(start, len);
    }

    fn insert(&mut self, start: usize, len: usize) {
        self.by_start.insert(start, len);
        self.by_len.insert((len, start));
        self.free += len;
    }

    fn remove(&mut self, start: usize, len: usize) {
        self.by_start.remove(&start);
        self.by_len.remove(&(len, start));
        self.free -= len;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_smallest_block_that_is_long_enough_is_taken() {
        let mut blocks = Blocks::new(100, 100);
        let [a, _, c, _, e, _] = [30, 1, 10, 1, 20, 1].map(|len| blocks.take(len).unwrap());
        blocks.give(a, 30);
        blocks.give(c, 10);
        blocks.give(e, 20);
        assert_eq!(blocks.take(15), Some(e));
        assert_eq!(blocks.take(10), Some(c));
        assert_eq!(blocks.take(25), Some(a));
    }

    #[test]
    fn equal_blocks_are_taken_from_the_lowest_address() {
        let mut blocks = Blocks::new(0, 50);
        let [_, b, _, d, _] = [10; 5].map(|len| blocks.take(len).unwrap());
        blocks.give(d, 10);
        blocks.give(b, 10);
        assert_eq!(blocks.take(10), Some(b));
        assert_eq!(blocks.take(10), Some(d));
        assert_eq!(blocks.take(1), None);
    }

    #[test]
    fn neighbours_on_both_sides_are_merged() {
        let mut blocks = Blocks::new(0, 30);
        let [a, b, c] = [10; 3].map(|len| blocks.take(len).unwrap());
        blocks.give(a, 10);
        blocks.give(c, 10);
        assert_eq!(blocks.take(11), None);
        blocks.give(b, 10);
        assert_eq!(blocks.take(30), Some(0));
    }

    #[derive(Clone, Debug)]
    enum Step {
        Take(usize),
        Give(usize),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![3 => (1usize..40).prop_map(Step::Take), 2 => any::<usize>().prop_map(Step::Give)]
    }

    /// The free runs of a map with one entry a unit.
    fn runs(used: &[bool]) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        let mut start = None;
        for (at, used) in used.iter().chain([&true]).enumerate() {
            match (used, start) {
                (false, None) => start = Some(at),
                (true, Some(from)) => {
                    found.push((from, at - from));
                    start = None;
                }
                _ => {}
            }
        }
        found
    }

    proptest! {
        /// Compared with a map of units: what is taken was free, best fit holds, and the free blocks are always the
        /// free runs, so nothing is lost, doubled or left unmerged.
        #[test]
        fn behaves_like_a_map_of_units(steps in prop::collection::vec(step(), 1..200)) {
            const LEN: usize = 200;
            let mut blocks = Blocks::new(0, LEN);
            let mut used = vec![false; LEN];
            let mut live: Vec<(usize, usize)> = Vec::new();
            for step in steps {
                match step {
                    Step::Take(len) => {
                        let best = runs(&used).into_iter().map(|(start, run)| (run, start)).filter(|b| b.0 >= len).min();
                        let start = blocks.take(len);
                        prop_assert_eq!(start, best.map(|(_, start)| start));
                        if let Some(start) = start {
                            used[start..start + len].fill(true);
                            live.push((start, len));
                        }
                    }
                    Step::Give(which) if !live.is_empty() => {
                        let (start, len) = live.swap_remove(which % live.len());
                        used[start..start + len].fill(false);
                        blocks.give(start, len);
                    }
                    Step::Give(_) => {}
                }
                let expected = runs(&used);
                prop_assert_eq!(blocks.by_start.iter().map(|(s, l)| (*s, *l)).collect::<Vec<_>>(), expected.clone());
                prop_assert_eq!(blocks.by_len.len(), expected.len());
                prop_assert!(expected.iter().all(|(start, len)| blocks.by_len.contains(&(*len, *start))));
                prop_assert_eq!(blocks.free(), expected.iter().map(|(_, len)| len).sum::<usize>());
            }
        }
    }
}
