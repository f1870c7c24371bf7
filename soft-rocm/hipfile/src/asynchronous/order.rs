//! Which reads of a stream may run side by side.
//!
//! Operations of a stream run in order, and each may rely on those before it. Two reads whose values are fixed and that
//! touch nothing in common can't tell whether they did, so HIP is told that they may overlap. What touches something
//! that a read at the end of the stream touches, and whatever else is put there, waits for all before it.

use std::ops::Range;

/// What is known of the end of a stream.
#[derive(Debug)]
pub(crate) struct Order {
    known: bool,
    retired: bool,
    /// Device memory that reads write which may run side by side with the next.
    memory: Ranges,
    /// Where they put their results.
    results: Ranges,
}

impl Order {
    /// Of a stream that anybody may have put reads on.
    pub(crate) const fn new() -> Self {
        Self { known: false, retired: false, memory: Ranges(Vec::new()), results: Ranges(Vec::new()) }
    }

    /// Whether a read may run side by side with those at the end; if so it is now one of them.
    pub(crate) fn join(&mut self, memory: Range<usize>, result: Range<usize>) -> bool {
        self.known && self.memory.add(memory) && self.results.add(result)
    }

    /// What was just put on the stream waits for all before it.
    pub(crate) fn begin_again(&mut self) {
        self.known = !self.retired;
        self.memory.0.clear();
        self.results.0.clear();
    }

    /// From now on somebody else may put reads on the stream, so none here joins any.
    pub(crate) fn retire(&mut self) {
        *self = Self { retired: true, ..Self::new() };
    }
}

/// The most stretches that are remembered; then a read waits, and all begins again.
const MOST: usize = 1024;

/// Disjoint stretches of addresses in ascending order, neighbours joined.
#[derive(Debug)]
struct Ranges(Vec<Range<usize>>);

impl Ranges {
    /// Adds a stretch, unless it meets one that is there, or there are too many.
    fn add(&mut self, new: Range<usize>) -> bool {
        // Mostly addresses rise.
        let at = match self.0.last() {
            Some(last) if last.end > new.start => self.0.partition_point(|old| old.end <= new.start),
            _ => self.0.len(),
        };
        let full = self.0.len() == MOST;
        let (low, high) = self.0.split_at_mut(at);
        if high.first().is_some_and(|after| after.start < new.end) {
            return false;
        }
        let before = low.last_mut().filter(|before| before.end == new.start);
        let after = high.first_mut().filter(|after| after.start == new.end);
        match (before, after) {
            (Some(before), Some(after)) => {
                before.end = after.end;
                self.0.remove(at);
            }
            (Some(before), None) => before.end = new.end,
            (None, Some(after)) => after.start = new.start,
            (None, None) if full => return false,
            (None, None) => self.0.insert(at, new),
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn join(order: &mut Order, memory: Range<usize>, result: usize) -> bool {
        order.join(memory, result..result + 8)
    }

    #[test]
    fn stretches_join_and_never_overlap() {
        // Every stretch inside 0..8, in an order that mixes: a plain array of marks is the model.
        let stretches: Vec<_> = (0..8).flat_map(|start| (start + 1..=8).map(move |end| start..end)).collect();
        for step in 1..stretches.len() {
            let (mut ranges, mut marks) = (Ranges(Vec::new()), [false; 8]);
            for turn in 0..stretches.len() {
                let new = stretches[turn * step % stretches.len()].clone();
                let free = !marks[new.clone()].contains(&true);
                assert_eq!(ranges.add(new.clone()), free, "{new:?} to {ranges:?}");
                if free {
                    marks[new].fill(true);
                }
                assert!(ranges.0.windows(2).all(|pair| pair[0].end < pair[1].start), "{ranges:?}");
            }
        }
    }

    #[test]
    fn a_row_of_neighbours_is_one_stretch() {
        let mut ranges = Ranges(Vec::new());
        assert!((0..10_000).all(|page| ranges.add(page * 4096..(page + 1) * 4096)));
        assert_eq!((ranges.0.len(), ranges.0[0].clone()), (1, 0..40_960_000));
    }

    #[test]
    fn there_is_an_end_to_what_is_remembered() {
        let mut ranges = Ranges(Vec::new());
        assert!((0..MOST).all(|index| ranges.add(index * 2..index * 2 + 1)));
        assert!(!ranges.add(MOST * 2..MOST * 2 + 1));
        assert!(ranges.add(1..2), "a gap closed needs no place");
    }

    #[test]
    fn reads_join_until_they_touch_something_in_common() {
        let mut order = Order::new();
        assert!(!join(&mut order, 0..10, 1000), "nobody knows what is on the stream");
        order.begin_again();
        assert!(join(&mut order, 0..10, 1000));
        assert!(join(&mut order, 10..20, 1008));
        assert!(!join(&mut order, 19..21, 1016), "memory in common");
        order.begin_again();
        assert!(join(&mut order, 19..21, 1016));
        assert!(!join(&mut order, 30..40, 1016), "a result in common");
        order.begin_again();
        assert!(join(&mut order, 30..40, 1016));
        order.retire();
        for _ in 0..2 {
            assert!(!join(&mut order, 50..60, 1024), "somebody else puts reads on the stream");
            order.begin_again();
        }
    }
}
