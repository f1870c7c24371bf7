//! What bench writes: bytes that tell at which offset of the file, and by which seed, they were written.
//!
//! Each 512 bytes of a file begin with a mark, by which bench knows a file of its own again.

/// Begins each [`STRIDE`] bytes.
const MARK: [u8; 8] = *b"hipfile\xbe";

/// From one mark to the next.
pub const STRIDE: u64 = 512;

/// Bytes of a word.
const WORD: usize = 8;

/// The bytes that belong at an offset of a file.
pub fn fill(bytes: &mut [u8], seed: u64, offset: u64) {
    let mut words = Words::at(seed, offset);
    let (first, rest) = bytes.split_at_mut(words.odd.min(bytes.len()));
    copy_part(first, words.first());
    let mut parts = rest.chunks_exact_mut(WORD);
    for part in &mut parts {
        part.copy_from_slice(&words.next());
    }
    copy_part(parts.into_remainder(), &words.next());
}

/// As many of the bytes as there is room for.
fn copy_part(to: &mut [u8], from: &[u8]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
}

/// The first of the bytes that does not belong there: its index, and what belongs there.
pub fn check(bytes: &[u8], seed: u64, offset: u64) -> Option<(usize, u8)> {
    let mut words = Words::at(seed, offset);
    let (first, rest) = bytes.split_at(words.odd.min(bytes.len()));
    let differs = |at: usize, found: &[u8], expected: &[u8]| {
        let mut pairs = found.iter().zip(expected).enumerate();
        pairs.find_map(|(index, (found, expected))| (found != expected).then_some((at + index, *expected)))
    };
    if let Some(wrong) = differs(0, first, words.first()) {
        return Some(wrong);
    }
    let parts = rest.chunks_exact(WORD);
    let last = parts.remainder();
    for (index, part) in parts.enumerate() {
        let expected = words.next();
        if part != expected {
            return differs(first.len() + index * WORD, part, &expected);
        }
    }
    differs(bytes.len() - last.len(), last, &words.next())
}

/// Whether these bytes, which lie at a multiple of [`STRIDE`], begin with the mark, or are as much of it as there was room for.
pub fn is_marked(bytes: &[u8]) -> bool {
    !bytes.is_empty() && bytes.iter().zip(MARK).all(|(byte, mark)| *byte == mark)
}

/// The words of a file from an offset on.
struct Words {
    seed: u64,
    index: u64,
    /// The one that the offset is inside of, and how many bytes of it are left; none at a multiple of [`WORD`].
    begun: [u8; WORD],
    odd: usize,
}

impl Words {
    fn at(seed: u64, offset: u64) -> Self {
        let (seed, index) = (mix(seed), offset / WORD as u64);
        let into = (offset % WORD as u64) as usize;
        let mut words = Self { seed, index, begun: [0; WORD], odd: 0 };
        if into > 0 {
            words.begun = words.next();
            words.odd = WORD - into;
        }
        words
    }

    /// What is left of the word that the offset is inside of.
    fn first(&self) -> &[u8] {
        self.begun.get(WORD - self.odd..).unwrap_or_default()
    }

    fn next(&mut self) -> [u8; WORD] {
        let index = self.index;
        self.index += 1;
        if index % (STRIDE / WORD as u64) == 0 { MARK } else { mix(self.seed ^ index).to_le_bytes() }
    }
}

/// Every bit of the result depends on every bit of the number.
pub fn mix(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_are_those_of_the_offset_however_they_are_cut() {
        let mut whole = vec![0; 3000];
        fill(&mut whole, 7, 1000);
        assert_eq!(check(&whole, 7, 1000), None);
        for start in [0, 1, 7, 8, 24, 511, 2999] {
            for len in [1, 2, 8, 9, 600] {
                let mut part = vec![0; len.min(3000 - start)];
                fill(&mut part, 7, 1000 + start as u64);
                assert_eq!(part, whole[start..start + part.len()], "{start} {len}");
            }
        }
        assert!(
            is_marked(&whole[24..])
                && is_marked(&whole[536..539])
                && !is_marked(&whole[32..])
                && !is_marked(&[])
        );
    }

    #[test]
    fn any_wrong_byte_is_found() {
        let mut bytes = vec![0; 1100];
        fill(&mut bytes, 1, 3);
        for index in [0, 4, 5, 6, 500, 1098, 1099] {
            let right = bytes[index];
            bytes[index] ^= 0x10;
            assert_eq!(check(&bytes, 1, 3), Some((index, right)));
            bytes[index] = right;
        }
        // Another seed and another offset are other bytes.
        assert!(check(&bytes, 2, 3).is_some());
        assert!(check(&bytes, 1, 3 + STRIDE).is_some());
        assert_eq!(check(&[], 1, 0), None);
    }
}
