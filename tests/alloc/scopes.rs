//! SND-02, SND-11, SND-20: what a scope lends to its stream comes back when the stream has passed it, or not at all.
//!
//! Work of lazy streams begins when it is waited or asked for, so memory that was given back without a wait still has its old
//! content.

use std::panic::{AssertUnwindSafe, catch_unwind};

use hip_alloc::{DeviceBuffer, ErrorKind, PinnedBuffer, Stream, StreamOptions};
use hipfile_tests::isolate::aborts;
use hipfile_tests::soft;

const LAZY: &[(&str, &str)] = &[("SOFT_ROCM_STREAMS", "lazy")];
const LEN: usize = 1 << 16;

fn pattern(seed: u8) -> Vec<u8> {
    (0..LEN).map(|index| (index as u8).wrapping_mul(31).wrapping_add(seed)).collect()
}

/// Not ordered with the default stream, so that only the scope's wait counts.
fn stream() -> Stream {
    StreamOptions::new().non_blocking(true).create().unwrap()
}

#[test]
fn everything_has_happened_when_a_scope_ends() {
    soft::only("scopes::everything_has_happened_when_a_scope_ends", LAZY, || {
        let stream = stream();
        let (mut one, mut two) = (DeviceBuffer::zeroed(LEN).unwrap(), DeviceBuffer::zeroed(LEN).unwrap());
        let source = PinnedBuffer::from_slice(&pattern(1)).unwrap();
        stream.scope(|scope| scope.copy_from_host(one.as_mut_slice(), &source)).unwrap();
        drop(source);
        stream.scope(|scope| scope.copy(two.as_mut_slice(), one.as_slice())).unwrap();
        stream.scope(|scope| scope.fill(one.slice_mut(..LEN / 2).unwrap(), 9)).unwrap();
        let (mut head, mut back) = ([0; 16], PinnedBuffer::zeroed(LEN).unwrap());
        stream.scope(|scope| {
            scope.copy_to_host(one.slice(LEN / 2 - 8..LEN / 2 + 8).unwrap(), &mut head).unwrap();
            scope.copy_to_host(two.as_slice(), &mut back).unwrap();
        });
        assert_eq!(*back, pattern(1));
        assert_eq!(head[..8], [9; 8]);
        assert_eq!(head[8..], pattern(1)[LEN / 2..LEN / 2 + 8]);
    });
}

#[test]
fn everything_has_happened_when_a_scope_unwinds() {
    soft::only("scopes::everything_has_happened_when_a_scope_unwinds", LAZY, || {
        let stream = stream();
        let device = DeviceBuffer::from_host(&pattern(2)).unwrap();
        let mut back = vec![0; LEN];
        let unwound = catch_unwind(AssertUnwindSafe(|| {
            stream.scope(|scope| {
                scope.copy_to_host(device.as_slice(), &mut back).unwrap();
                panic!("as planned");
            })
        }));
        assert!(unwound.is_err());
        assert_eq!(back, pattern(2));
    });
}

#[test]
fn a_wait_in_the_middle_is_one() {
    soft::only("scopes::a_wait_in_the_middle_is_one", LAZY, || {
        let (stream, mut device) = (stream(), DeviceBuffer::new(LEN).unwrap());
        stream.scope(|scope| {
            scope.fill(device.as_mut_slice(), 3).unwrap();
            scope.synchronize().unwrap();
            assert!(stream.is_idle().unwrap());
        });
        assert_eq!(device.to_vec().unwrap(), [3; LEN]);
    });
}

const LOST: &[(&str, &str)] = &[("SOFT_ROCM_FAULTS", "hipStreamSynchronize:hip=719")];
const SAYS: &str = "Stream::scope: hipStreamSynchronize failed: ";

/// The body that a failing wait must stop.
fn lend_and(leave: impl FnOnce()) {
    let (stream, device) = (stream(), DeviceBuffer::new(LEN).unwrap());
    let mut back = vec![0; LEN];
    _ = catch_unwind(AssertUnwindSafe(|| {
        stream.scope(|scope| {
            scope.copy_to_host(device.as_slice(), &mut back).unwrap();
            leave();
        })
    }));
}

#[test]
fn a_closing_wait_that_fails_ends_the_process() {
    if soft::is_here() {
        aborts("scopes::a_closing_wait_that_fails_ends_the_process", LOST, SAYS, || lend_and(|| ()));
    }
}

#[test]
fn a_closing_wait_that_fails_while_unwinding_ends_the_process() {
    if soft::is_here() {
        aborts("scopes::a_closing_wait_that_fails_while_unwinding_ends_the_process", LOST, SAYS, || {
            lend_and(|| panic!("as planned"));
        });
    }
}

#[test]
fn a_device_that_is_lost_before_a_scope_is_an_error() {
    soft::only("scopes::a_device_that_is_lost_before_a_scope_is_an_error", LOST, || {
        let stream = stream();
        assert_eq!(stream.scope(|_| 1), 1);
        let error = stream.scope(|scope| scope.synchronize()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Hip);
    });
}
