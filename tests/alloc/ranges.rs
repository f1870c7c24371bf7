//! SND-12, SND-13: no range that safe code can write reaches memory outside the buffer, or HIP with no bytes.

use std::ops::{Bound, RangeBounds};

use hip_alloc::{DeviceBuffer, ErrorKind};
use proptest::prelude::*;

const LEN: usize = 4096;

fn edge() -> impl Strategy<Value = usize> {
    let edges =
        [0, 1, LEN - 1, LEN, LEN + 1, 0x7fff_f000, isize::MAX as usize, isize::MAX as usize + 1, usize::MAX];
    prop_oneof![proptest::sample::select(edges.to_vec()), any::<usize>(), 0..2 * LEN]
}

fn bounds() -> impl Strategy<Value = (Bound<usize>, Bound<usize>)> {
    let bound = || {
        prop_oneof![
            edge().prop_map(Bound::Included),
            edge().prop_map(Bound::Excluded),
            Just(Bound::Unbounded)
        ]
    };
    (bound(), bound())
}

proptest! {
    #[test]
    fn a_slice_is_within_its_buffer_or_refused(range in bounds(), inner in bounds(), mid in edge()) {
        let mut buffer = DeviceBuffer::new(LEN).unwrap();
        let (start, end) = (buffer.as_ptr().addr(), buffer.as_ptr().addr() + LEN);
        let within = |pointer: *mut std::ffi::c_void, len: usize| {
            pointer.addr() >= start && pointer.addr().checked_add(len).is_some_and(|last| last <= end)
        };
        // std's own checked access says what is valid, for ranges that it can resolve.
        let resolves = |range: (Bound<usize>, Bound<usize>), len: usize| {
            let bytes = vec![0u8; len];
            bytes.get(range).map(<[u8]>::len)
        };
        match buffer.slice(range) {
            Ok(slice) => {
                prop_assert!(within(slice.as_ptr(), slice.len()));
                prop_assert_eq!(Some(slice.len()), resolves(range, LEN));
                match slice.slice(inner) {
                    Ok(part) => {
                        prop_assert!(within(part.as_ptr(), part.len()));
                        prop_assert_eq!(Some(part.len()), resolves(inner, slice.len()));
                        prop_assert_eq!(part.to_vec().unwrap().len(), part.len());
                    }
                    Err(error) => prop_assert_eq!(error.kind(), ErrorKind::OutOfRange),
                }
                prop_assert_eq!(slice.split_at(mid).is_ok(), mid <= slice.len());
            }
            Err(error) => {
                prop_assert_eq!(error.kind(), ErrorKind::OutOfRange);
                prop_assert_eq!(resolves(range, LEN), None);
            }
        }
        if let Ok(mut slice) = buffer.slice_mut(range) {
            prop_assert!(within(slice.as_ptr(), slice.len()));
            slice.fill(1).unwrap();
            if let Ok(mut part) = slice.slice_mut(inner) {
                prop_assert!(within(part.as_ptr(), part.len()));
                part.fill(2).unwrap();
            }
        }
    }
}

/// A range that answers differently every time it is asked.
struct Liar(std::cell::Cell<usize>);

impl RangeBounds<usize> for Liar {
    fn start_bound(&self) -> Bound<&usize> {
        self.0.set(self.0.get() + 1);
        if self.0.get() > 1 { Bound::Included(&usize::MAX) } else { Bound::Included(&0) }
    }

    fn end_bound(&self) -> Bound<&usize> {
        self.0.set(self.0.get() + 1);
        if self.0.get() > 2 { Bound::Excluded(&usize::MAX) } else { Bound::Excluded(&8) }
    }
}

#[test]
fn a_range_is_asked_once() {
    let mut buffer = DeviceBuffer::zeroed(16).unwrap();
    assert_eq!(buffer.slice(Liar(0.into())).unwrap().len(), 8);
    buffer.slice_mut(Liar(0.into())).unwrap().fill(1).unwrap();
    assert_eq!(buffer.to_vec().unwrap(), [[1; 8], [0; 8]].concat());
}

#[test]
fn an_empty_buffer_is_null_and_takes_only_empty_ranges() {
    let mut empty = DeviceBuffer::new(0).unwrap();
    assert!(empty.as_ptr().is_null());
    assert!(empty.is_empty());
    assert!(empty.slice(..).unwrap().is_empty());
    assert!(empty.slice_mut(0..0).unwrap().is_empty());
    empty.fill(3).unwrap();
    empty.copy_to_host(0, &mut []).unwrap();
    for error in [
        empty.slice(..=0).unwrap_err(),
        empty.slice(1..).unwrap_err(),
        empty.copy_to_host(0, &mut [0]).unwrap_err(),
        empty.copy_to_host(1, &mut []).unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::OutOfRange);
    }
    let raw = empty.into_raw().unwrap();
    assert!(raw.allocation.is_null());
    // SAFETY: requires null parts or memory of one's own; holds because they are null.
    unsafe { DeviceBuffer::from_raw(raw) }.free().unwrap();
}

#[test]
fn no_length_is_too_hostile() {
    for len in [usize::MAX, isize::MAX as usize + 1] {
        assert_eq!(DeviceBuffer::new(len).unwrap_err().kind(), ErrorKind::InvalidInput);
        assert_eq!(DeviceBuffer::zeroed(len).unwrap_err().kind(), ErrorKind::InvalidInput);
        let error = DeviceBuffer::with_alignment(len, 4096).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
    }
    assert_eq!(DeviceBuffer::new(isize::MAX as usize).unwrap_err().kind(), ErrorKind::OutOfMemory);
    for align in [0, 3, 12, usize::MAX] {
        let error = DeviceBuffer::with_alignment(4096, align).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert!(error.to_string().contains(&format!("an alignment of {align} is not a power of two")));
    }
}
