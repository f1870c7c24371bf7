//! The parts of a file: what holds data, and what of that direct I/O takes.

use std::io;
use std::ops::Range;
use std::os::fd::AsFd;

use super::system;

/// Bytes of a file, ascending, without a byte in common.
pub type Ranges = Vec<Range<u64>>;

/// What holds data in the first `len` bytes; all of it where the file system does not tell.
pub fn data(file: impl AsFd, len: u64) -> io::Result<Ranges> {
    let mut found = Vec::new();
    let mut from = 0;
    while from < len {
        match system::next_data(file.as_fd(), from, len) {
            Ok(None) => break,
            Ok(Some(range)) => {
                from = range.end;
                found.push(range);
            }
            Err(error) if matches!(error.raw_os_error(), Some(libc::EINVAL | libc::EOPNOTSUPP)) => {
                return Ok(whole(len));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

/// All of the first `len` bytes.
pub fn whole(len: u64) -> Ranges {
    std::iter::once(0..len).filter(|all| !all.is_empty()).collect()
}

/// How many bytes there are.
pub fn bytes(ranges: &[Range<u64>]) -> u64 {
    ranges.iter().map(|range| range.end.saturating_sub(range.start)).sum()
}

/// Cuts what direct I/O in these blocks takes from what it does not take: the odd bytes at the ends.
pub fn split(ranges: &[Range<u64>], block: u64) -> (Ranges, Ranges) {
    let (mut direct, mut odd) = (Vec::new(), Vec::new());
    for range in ranges {
        let start = range.start.next_multiple_of(block).min(range.end);
        let end = (range.end - range.end % block).max(start);
        direct.extend(Some(start..end).filter(|part| !part.is_empty()));
        odd.extend([range.start..start, end..range.end].into_iter().filter(|part| !part.is_empty()));
    }
    (direct, odd)
}

/// The ranges in pieces of at most `chunk` bytes, in order.
pub fn chunks(ranges: Ranges, chunk: u64) -> impl Iterator<Item = Range<u64>> + Send {
    ranges.into_iter().flat_map(move |range| {
        let end = range.end;
        let starts = std::iter::successors(Some(range.start), move |start| start.checked_add(chunk));
        starts
            .take_while(move |start| *start < end)
            .map(move |start| start..end.min(start.saturating_add(chunk)))
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::single_range_in_vec_init, reason = "lists of ranges that have one")]

    use super::*;

    #[test]
    fn odd_ends_are_cut_off() {
        let split = |range: Range<u64>| split(&[range], 4096);
        assert_eq!(split(0..8192), (vec![0..8192], vec![]));
        assert_eq!(split(0..8193), (vec![0..8192], vec![8192..8193]));
        assert_eq!(split(1..12289), (vec![4096..12288], vec![1..4096, 12288..12289]));
        assert_eq!(split(5..6), (vec![], vec![5..6]));
        assert_eq!(split(4000..8000), (vec![], vec![4000..4096, 4096..8000]));
        assert_eq!(split(4096..8000), (vec![], vec![4096..8000]));
    }

    #[test]
    fn chunks_are_every_byte_once() {
        let cut = |ranges: &[Range<u64>]| chunks(ranges.to_vec(), 10).collect::<Vec<_>>();
        assert_eq!(cut(&[0..25, 30..40, 50..51]), [0..10, 10..20, 20..25, 30..40, 50..51]);
        assert_eq!(cut(&[]), []);
        assert_eq!(cut(&[u64::MAX - 5..u64::MAX]), [u64::MAX - 5..u64::MAX]);
    }

    #[test]
    fn holes_are_found() {
        let file = tempfile::tempfile().unwrap();
        assert_eq!(data(&file, 0).unwrap(), []);
        file.set_len(1 << 20).unwrap();
        std::os::unix::fs::FileExt::write_at(&file, &[1; 4096], 512 << 10).unwrap();
        let found = data(&file, 1 << 20).unwrap();
        // A file system may know of no holes.
        assert!(found == whole(1 << 20) || found == [512 << 10..(512 << 10) + 4096], "{found:?}");
        assert_eq!(bytes(&[0..5, 7..9]), 7);
    }
}
