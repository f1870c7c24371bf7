//! Random splits, joins and drops against intervals. SND-12.

use std::ffi::c_void;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hip_alloc::{Device, DeviceBuffer, DeviceMemory, DeviceMemoryMut};
use proptest::prelude::*;

use super::*;
use crate::{Driver, ErrorKind};

/// Memory that tells when it goes.
struct Watched {
    buffer: DeviceBuffer,
    gone: Arc<AtomicBool>,
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.gone.store(true, Ordering::SeqCst);
    }
}

// SAFETY: requires a stable description of memory that goes with the value and is written through `&mut` only; holds for
// the buffer inside.
unsafe impl DeviceMemory for Watched {
    fn as_ptr(&self) -> *mut c_void {
        self.buffer.as_ptr()
    }
    fn len(&self) -> usize {
        self.buffer.len()
    }
    fn device(&self) -> Device {
        self.buffer.device()
    }
}

// SAFETY: requires exclusive memory; holds for the buffer inside, which is not shared.
unsafe impl DeviceMemoryMut for Watched {}

/// The registration starts inside the memory, so offsets must count from its base.
const SKIPPED: usize = 64;
const LEN: usize = 48;

fn registered(driver: &Driver) -> (Registered<Watched>, Arc<AtomicBool>) {
    let gone = Arc::new(AtomicBool::new(false));
    let memory = Watched { buffer: DeviceBuffer::zeroed(SKIPPED + LEN).unwrap(), gone: Arc::clone(&gone) };
    (driver.register_range(memory, SKIPPED..).unwrap(), gone)
}

#[derive(Debug, Clone)]
enum Step {
    SplitTo(usize, usize),
    SplitOff(usize, usize),
    Unsplit(usize, usize),
    Drop(usize),
    IntoRegistered(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let piece = || 0usize..12;
    prop_oneof![
        4 => (piece(), 0..LEN + 3).prop_map(|(piece, at)| Step::SplitTo(piece, at)),
        4 => (piece(), 0..LEN + 3).prop_map(|(piece, at)| Step::SplitOff(piece, at)),
        6 => (piece(), piece()).prop_map(|(piece, other)| Step::Unsplit(piece, other)),
        2 => piece().prop_map(Step::Drop),
        1 => piece().prop_map(Step::IntoRegistered),
    ]
}

/// A piece, which of the two registrations it is of, and the bytes it should have.
struct Piece {
    region: Region,
    of: usize,
    bytes: Range<usize>,
}

fn run(steps: Vec<Step>) -> std::result::Result<(), TestCaseError> {
    let driver = Driver::open().unwrap();
    let mut pieces = Vec::new();
    let (mut bases, mut gone) = (Vec::new(), Vec::new());
    for of in 0..2 {
        let (registered, flag) = registered(&driver);
        bases.push(registered.as_ptr().addr());
        gone.push(flag);
        pieces.push(Piece { region: registered.into_region(), of, bytes: 0..LEN });
    }
    for step in steps {
        if pieces.is_empty() {
            break;
        }
        let len = pieces.len();
        let nth = |piece: usize| piece % len;
        match step {
            Step::SplitTo(piece, at) | Step::SplitOff(piece, at) => {
                let piece = &mut pieces[nth(piece)];
                let to = matches!(step, Step::SplitTo(..));
                let split = if to { piece.region.split_to(at) } else { piece.region.split_off(at) };
                match split {
                    Ok(region) => {
                        prop_assert!(at <= piece.bytes.len());
                        let mid = piece.bytes.start + at;
                        let (head, tail) = (piece.bytes.start..mid, mid..piece.bytes.end);
                        let (kept, split) = if to { (tail, head) } else { (head, tail) };
                        piece.bytes = kept;
                        let of = piece.of;
                        pieces.push(Piece { region, of, bytes: split });
                    }
                    Err(error) => {
                        prop_assert!(at > piece.bytes.len());
                        prop_assert_eq!(error.kind(), ErrorKind::OutOfRange);
                    }
                }
            }
            Step::Unsplit(piece, other) => {
                let (piece, other) = (nth(piece), nth(other));
                if piece == other {
                    continue;
                }
                let Piece { region, of, bytes } = pieces.swap_remove(other);
                let at = if piece == pieces.len() { other } else { piece };
                let joins = pieces[at].of == of && pieces[at].bytes.end == bytes.start;
                match pieces[at].region.unsplit(region) {
                    Ok(()) => {
                        prop_assert!(joins);
                        pieces[at].bytes.end = bytes.end;
                    }
                    Err(region) => {
                        prop_assert!(!joins);
                        pieces.push(Piece { region, of, bytes });
                    }
                }
            }
            Step::Drop(piece) => drop(pieces.swap_remove(nth(piece))),
            Step::IntoRegistered(piece) => {
                let Piece { region, of, bytes } = pieces.swap_remove(nth(piece));
                let last = pieces.iter().all(|piece| piece.of != of);
                let region = region.try_into_registered::<DeviceBuffer>().expect_err("another type");
                match region.try_into_registered::<Watched>() {
                    Ok(registered) => {
                        prop_assert!(last);
                        prop_assert_eq!((registered.as_ptr().addr(), registered.len()), (bases[of], LEN));
                        pieces.push(Piece { region: registered.into_region(), of, bytes: 0..LEN });
                    }
                    Err(region) => {
                        prop_assert!(!last);
                        pieces.push(Piece { region, of, bytes });
                    }
                }
            }
        }
        for (of, gone) in gone.iter().enumerate() {
            let live = pieces.iter().any(|piece| piece.of == of);
            prop_assert_eq!(gone.load(Ordering::SeqCst), !live);
        }
        for piece in &pieces {
            let span = piece.region.span();
            prop_assert_eq!(span.base.0.addr(), bases[piece.of]);
            prop_assert_eq!(span.offset..span.offset + span.len, piece.bytes.clone());
            prop_assert_eq!(piece.region.as_ptr().addr(), bases[piece.of] + piece.bytes.start);
            prop_assert_eq!(piece.region.slice(..).unwrap().len(), piece.region.len());
        }
        for (index, piece) in pieces.iter().enumerate() {
            for other in &pieces[..index] {
                let shared = piece.bytes.start.max(other.bytes.start)..piece.bytes.end.min(other.bytes.end);
                prop_assert!(shared.is_empty() || piece.of != other.of);
            }
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn pieces_are_disjoint_intervals_and_the_last_lets_the_memory_go(
        steps in proptest::collection::vec(step(), 0..40)
    ) {
        run(steps)?;
    }

    #[test]
    fn equal_pieces_cover_the_registration_in_order(len in 1..LEN + 3, taken in 0usize..60) {
        let driver = Driver::open().unwrap();
        let (registered, gone) = registered(&driver);
        let mut regions = registered.into_regions(len).unwrap();
        prop_assert_eq!(regions.len(), LEN.div_ceil(len));
        let mut pieces: Vec<Region> = regions.by_ref().take(taken).collect();
        prop_assert_eq!(regions.len(), LEN.div_ceil(len).saturating_sub(taken));
        let mut end = 0;
        for piece in &pieces {
            prop_assert_eq!(piece.span().offset, end);
            prop_assert_eq!(piece.len(), len.min(LEN - end));
            end += piece.len();
        }
        drop(regions);
        prop_assert_eq!(gone.load(Ordering::SeqCst), pieces.is_empty());
        // Nothing but the pieces holds the memory.
        if let Some(last) = pieces.pop() {
            drop(pieces);
            prop_assert!(last.try_into_registered::<Watched>().is_ok());
            prop_assert!(gone.load(Ordering::SeqCst));
        }
    }
}

#[test]
fn pieces_of_no_bytes_are_refused() {
    let (registered, gone) = registered(&Driver::open().unwrap());
    let error = registered.into_regions(0).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert_eq!(
        error.to_string(),
        "Registered::into_regions: pieces of 0 bytes never add up to memory, at least 1 is needed"
    );
    assert!(gone.load(Ordering::SeqCst));
}

#[test]
fn splits_and_slices_past_the_end_are_refused_in_the_operations_name() {
    let (registered, _) = registered(&Driver::open().unwrap());
    let mut region = registered.into_region();
    let texts = [
        region.split_to(49).unwrap_err().to_string(),
        region.split_off(49).unwrap_err().to_string(),
        region.slice(40..49).unwrap_err().to_string(),
        region.slice_mut(49..).unwrap_err().to_string(),
    ];
    assert_eq!(
        texts,
        [
            "Region::split_to: bytes ..49 are not within 0..48",
            "Region::split_off: bytes ..49 are not within 0..48",
            "Region::slice: bytes 40..49 are not within 0..48",
            "Region::slice_mut: bytes 49.. are not within 0..48",
        ]
    );
    assert_eq!(region.len(), 48);
}

#[test]
fn a_region_shows_where_it_is() {
    let (registered, _) = registered(&Driver::open().unwrap());
    let base = registered.as_ptr();
    let device = registered.device();
    let mut region = registered.into_region();
    let tail = region.split_off(40).unwrap();
    assert_eq!(
        format!("{tail:?}"),
        format!("Region {{ base: {base:?}, offset: 40, len: 8, device: {device:?}, .. }}")
    );
}

proptest! {
    #[test]
    fn a_piece_in_step_with_a_file_skips_as_little_as_can_be(
        offset in prop_oneof![0u64..10_000, any::<u64>()], before in 0usize..5000, len in 0usize..20_000,
    ) {
        let memory = DeviceBuffer::with_alignment(20_000, Region::STEP).unwrap();
        let mut rest = Driver::open().unwrap().register(memory).unwrap().into_region();
        drop(rest.split_to(before).unwrap());
        let (start, had) = (rest.as_ptr().addr(), rest.len());
        match rest.split_in_step(offset, len) {
            Ok(piece) => {
                let skipped = piece.as_ptr().addr() - start;
                prop_assert_eq!(piece.as_ptr().addr() as u64 % 4096, offset % 4096);
                prop_assert!(skipped < Region::STEP && piece.len() == len && rest.len() == had - skipped - len);
                prop_assert_eq!(rest.as_ptr().addr(), start + skipped + len);
            }
            Err(error) => {
                prop_assert_eq!(error.kind(), ErrorKind::OutOfRange);
                prop_assert!(len + Region::STEP > had && (rest.as_ptr().addr(), rest.len()) == (start, had));
            }
        }
    }
}

#[test]
fn a_piece_too_long_for_its_step_says_where_it_would_end() {
    let memory = DeviceBuffer::with_alignment(8192, Region::STEP).unwrap();
    let mut region = Driver::open().unwrap().register(memory).unwrap().into_region();
    let error = region.split_in_step(4097, 8192).unwrap_err();
    assert_eq!(error.to_string(), "Region::split_in_step: bytes 1..8193 are not within 0..8192");
    let error = region.split_in_step(1, usize::MAX).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OutOfRange);
}
