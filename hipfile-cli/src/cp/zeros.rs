//! Blocks that are all zeros.

use std::ops::Range;

static ZEROS: [u8; 4096] = [0; 4096];

/// The ranges of `bytes`, in whole blocks from its start, that are not all zeros: ascending, with gaps between them.
pub fn data(bytes: &[u8], block: usize) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut start = 0;
    for block in bytes.chunks(block.max(1)) {
        let end = start + block.len();
        if !is_zero(block) {
            match found.last_mut() {
                Some(last) if last.end == start => last.end = end,
                _ => found.push(start..end),
            }
        }
        start = end;
    }
    found
}

fn is_zero(bytes: &[u8]) -> bool {
    bytes.chunks(ZEROS.len()).all(|part| ZEROS.starts_with(part))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::single_range_in_vec_init, reason = "lists of ranges that have one")]

    use super::*;

    #[test]
    fn blocks_of_zeros_are_left_out() {
        let mut bytes = vec![0; 10 * 4096 + 5];
        assert_eq!(data(&bytes, 4096), []);
        for at in [4096, 3 * 4096 - 1, 5 * 4096, 10 * 4096 + 4] {
            bytes[at] = 1;
        }
        assert_eq!(data(&bytes, 4096), [4096..3 * 4096, 5 * 4096..6 * 4096, 10 * 4096..10 * 4096 + 5]);
        assert_eq!(data(&bytes, 8192), [0..24576, 40960..40965]);
        assert_eq!(data(&[], 4096), []);
        assert_eq!(data(&[1; 3], 4096), [0..3]);
    }
}
