//! Which part of which file a thread transfers next.

use super::pattern::mix;

/// One transfer's part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    pub offset: u64,
    pub len: usize,
    /// Counted in blocks from the beginning of the data.
    pub block: usize,
}

/// The data of a file, in blocks of which the last may be shorter.
#[derive(Clone, Copy, Debug)]
pub struct Blocks {
    pub offset: u64,
    pub size: u64,
    pub block: u64,
}

/// The pieces of one thread, in its order.
#[derive(Clone, Debug)]
pub struct Work {
    blocks: Blocks,
    next: u64,
    /// The blocks from the first on, up to but without the end; at random as many others.
    first: u64,
    end: u64,
    random: Option<u64>,
    endless: bool,
}

impl Blocks {
    /// How many there are.
    pub fn count(&self) -> u64 {
        self.size.div_ceil(self.block)
    }

    fn piece(&self, index: u64) -> Piece {
        let start = index * self.block;
        let len = self.block.min(self.size - start);
        Piece {
            offset: self.offset + start,
            len: usize::try_from(len).unwrap_or(usize::MAX),
            block: usize::try_from(index).unwrap_or(usize::MAX),
        }
    }

    /// The share of thread `index` among `threads`: neighbouring blocks, or as many random ones if there is a seed; again and
    /// again if it is endless.
    pub fn share(self, index: usize, threads: usize, seed: Option<u64>, endless: bool) -> Work {
        let bound = |index: usize| {
            let share = u128::from(self.count()) * index as u128 / threads.max(1) as u128;
            u64::try_from(share).unwrap_or(u64::MAX)
        };
        let (first, end) = (bound(index), bound(index + 1));
        let random = seed.map(|seed| mix(seed ^ mix(index as u64)));
        Work { blocks: self, next: first, first, end, random, endless }
    }
}

impl Iterator for Work {
    type Item = Piece;

    fn next(&mut self) -> Option<Piece> {
        if self.next == self.end {
            if !self.endless || self.first == self.end {
                return None;
            }
            self.next = self.first;
        }
        let index = match &mut self.random {
            None => self.next,
            Some(state) => {
                *state = mix(*state);
                // The high half of the product: every block is as likely as any other.
                let product = u128::from(*state) * u128::from(self.blocks.count());
                u64::try_from(product >> 64).unwrap_or(0)
            }
        };
        self.next += 1;
        Some(self.blocks.piece(index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    const BLOCKS: Blocks = Blocks { offset: 100, size: 1050, block: 100 };

    #[test]
    fn shares_are_disjoint_and_are_the_whole() {
        let shares: Vec<Vec<_>> = (0..4).map(|index| BLOCKS.share(index, 4, None, false).collect()).collect();
        let all: Vec<Piece> = shares.concat();
        assert_eq!(all.len(), 11);
        assert_eq!(all[0], Piece { offset: 100, len: 100, block: 0 });
        assert_eq!(all[10], Piece { offset: 1100, len: 50, block: 10 });
        assert!(all.iter().zip(0..).all(|(piece, index)| piece.block == index));
        assert!(shares.iter().all(|share| share.len() >= 2));
    }

    #[test]
    fn random_places_come_from_the_seed_and_reach_everything() {
        let places = |seed, index| BLOCKS.share(index, 2, Some(seed), true).take(300).collect::<Vec<_>>();
        assert_eq!(places(1, 0), places(1, 0));
        assert_ne!(places(1, 0), places(2, 0));
        assert_ne!(places(1, 0), places(1, 1));
        let blocks: HashSet<_> = places(1, 0).into_iter().map(|piece| piece.block).collect();
        assert_eq!(blocks.len(), 11);
        assert_eq!(BLOCKS.share(0, 1, Some(1), false).count(), 11);
    }

    #[test]
    fn endless_work_begins_again() {
        let offsets: Vec<_> = BLOCKS.share(1, 4, None, true).take(5).map(|piece| piece.block).collect();
        assert_eq!(offsets, [2, 3, 4, 2, 3]);
    }
}
