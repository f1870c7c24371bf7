//! The order in which the bytes of a transfer move.

use std::ops::Range;

use super::piece::Piece;

/// What is moved by one thread in one go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Chunk {
    /// The number of its piece.
    pub piece: usize,
    /// Bytes from the start of the piece.
    pub at: usize,
    pub len: usize,
    /// Whether direct I/O takes it.
    pub direct: bool,
}

/// Chunks that may move at the same time. They are not listed but computed, since a large file has many.
#[derive(Debug, Default)]
pub(super) struct Phase {
    runs: Vec<Run>,
    chunks: usize,
}

/// Bytes of a piece that are cut into chunks of the same length.
#[derive(Debug)]
struct Run {
    piece: usize,
    bytes: Range<usize>,
    direct: bool,
    /// The number of its first chunk in the phase.
    first: usize,
}

impl Phase {
    fn push(&mut self, piece: usize, bytes: Range<usize>, direct: bool, chunk: usize) {
        if bytes.is_empty() {
            return;
        }
        let count = bytes.len().div_ceil(chunk);
        self.runs.push(Run { piece, bytes, direct, first: self.chunks });
        self.chunks = self.chunks.saturating_add(count);
    }

    /// How many chunks there are.
    pub fn chunks(&self) -> usize {
        self.chunks
    }

    /// A chunk by its number, if there are so many. `chunk` is the length that the phase was made with.
    pub fn get(&self, number: usize, chunk: usize) -> Option<Chunk> {
        let after = self.runs.partition_point(|run| run.first <= number);
        let run = self.runs.get(after.checked_sub(1)?)?;
        let skipped = number.checked_sub(run.first)?.checked_mul(chunk)?;
        let at = run.bytes.start.checked_add(skipped)?;
        let len = run.bytes.end.checked_sub(at)?.min(chunk);
        (len > 0).then_some(Chunk { piece: run.piece, at, len, direct: run.direct })
    }
}

/// The phases of a transfer, one after the other.
///
/// What direct I/O takes of a piece is cut off the rest. Where files are written, the edges before it come first, and those
/// behind it last: then no page of a file is written through the page cache while its neighbours are written directly, which
/// the system may answer with stale pages and an error at the next sync.
pub(super) fn phases(pieces: &[Piece<'_>], chunk: usize) -> Vec<Phase> {
    let [mut heads, mut middles, mut tails] = [const { Phase { runs: Vec::new(), chunks: 0 } }; 3];
    for (number, piece) in pieces.iter().enumerate() {
        let direct = piece.direct();
        if direct.is_empty() {
            middles.push(number, 0..piece.len(), false, chunk);
            continue;
        }
        let (head, tail) = (0..direct.start, direct.end..piece.len());
        if piece.writes() {
            heads.push(number, head, false, chunk);
            middles.push(number, direct, true, chunk);
            tails.push(number, tail, false, chunk);
        } else {
            middles.push(number, head, false, chunk);
            middles.push(number, direct, true, chunk);
            middles.push(number, tail, false, chunk);
        }
    }
    [heads, middles, tails].into_iter().filter(|phase| phase.chunks > 0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn chunks_are_every_byte_once_in_order(
            lens in proptest::collection::vec(0usize..5000, 0..20), chunk in 1usize..2000,
        ) {
            let mut phase = Phase::default();
            for (piece, len) in lens.iter().enumerate() {
                phase.push(piece, 7..7 + len, piece % 2 == 0, chunk);
            }
            let mut reached = vec![7; lens.len()];
            let mut last = 0;
            for number in 0..phase.chunks() {
                let Chunk { piece, at, len, direct } = phase.get(number, chunk).unwrap();
                prop_assert!(piece >= last && len <= chunk && direct == (piece % 2 == 0));
                prop_assert_eq!(at, reached[piece]);
                (last, reached[piece]) = (piece, at + len);
            }
            prop_assert_eq!(phase.get(phase.chunks(), chunk), None);
            prop_assert!(reached.iter().zip(&lens).all(|(reached, len)| *reached == 7 + len));
        }
    }
}
