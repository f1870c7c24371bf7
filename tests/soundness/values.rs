//! SND-01, SND-12, SND-20: late values of any kind, and closures that do anything. No byte outside of the region that was
//! asked for moves, and the stream goes on.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hipfile::alloc::DeviceBuffer;
use hipfile::{ErrorKind, LateValues, Region, RegisteredStream, Request, StreamFlags};
use hipfile_tests::isolate::{LEAKS, isolated};
use hipfile_tests::soft;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use crate::support::{Prepared, pattern, prepared, stream};

const PIECE: usize = 4096;
const FILE: usize = 4 * PIECE;

/// Edges, and what is near them.
fn sizes() -> impl Strategy<Value = usize> {
    let near = |edge: usize| (0..3_usize).prop_map(move |off| edge.wrapping_add(off).wrapping_sub(1));
    prop_oneof![
        0..=PIECE,
        near(0),
        near(PIECE),
        near(2 * PIECE),
        near(usize::MAX),
        near(isize::MAX as usize),
        near(0x7fff_f000),
        any::<usize>(),
    ]
}

fn flags() -> impl Strategy<Value = StreamFlags> {
    (0..8_u8).prop_map(|bits| {
        let all = [StreamFlags::FIXED_SIZE, StreamFlags::FIXED_FILE_OFFSET, StreamFlags::FIXED_BUFFER_OFFSET];
        let chosen = all.into_iter().enumerate().filter(|(index, _)| bits & (1 << index) != 0);
        chosen.fold(StreamFlags::empty(), |flags, (_, flag)| flags | flag)
    })
}

fn bytes(region: &Region) -> Vec<u8> {
    region.slice(..).unwrap().as_device().to_vec().unwrap()
}

/// SND-01, SND-12. On the fallback, where any values that are right work.
#[test]
fn late_values_reach_no_other_memory() {
    let fallback = [("HIPFILE_FORCE_COMPAT_MODE", "true")];
    soft::only("values::late_values_reach_no_other_memory", &fallback, || hostile_values(false));
}

/// SND-01, SND-12. On the fast path, which is chosen by the submitted values.
#[test]
fn late_values_reach_no_other_memory_on_the_fast_path() {
    let test = "values::late_values_reach_no_other_memory_on_the_fast_path";
    soft::only(test, &[], || hostile_values(true));
}

/// Reads with hostile late values into the middle of three pieces: what moved is what the values say, if they are right, and
/// nothing else, whether the stream is idle or held meanwhile. What does not fit the fast path is refused by it.
fn hostile_values(fast: bool) {
    let prepared = prepared(&pattern(FILE, 1));
    let Prepared { driver, file, .. } = &prepared;
    let memory = DeviceBuffer::zeroed(3 * PIECE).unwrap();
    let mut pieces = driver.register(memory).unwrap().into_regions(PIECE).unwrap();
    let mut next = || pieces.next().unwrap();
    let (before, mut region, after) = (next(), next(), next());
    let mut runner = TestRunner::deterministic();
    let cases = (flags(), sizes(), sizes(), sizes(), 0..3, any::<bool>());
    let (mut moved, mut refused) = (0, 0);
    for _ in 0..400 {
        let (flags, len, file_offset, region_offset, near, held) =
            cases.new_tree(&mut runner).unwrap().current();
        // A third of them fit.
        let (flags, len, region_offset) = match near {
            0 => (StreamFlags::empty(), len % (PIECE - 63), region_offset % 64),
            1 => (flags, PIECE, region_offset % 2),
            _ => (flags, len, region_offset),
        };
        let late = LateValues { len, file_offset: (file_offset as u64) % (2 * FILE as u64), region_offset };
        let submitted = LateValues { len: PIECE, file_offset: 512, region_offset: 0 };
        let fixed = |flag, same: bool| same || !flags.contains(flag);
        let right = !flags.contains(StreamFlags::FIXED_VALUES)
            && fixed(StreamFlags::FIXED_SIZE, len == PIECE)
            && fixed(StreamFlags::FIXED_FILE_OFFSET, late.file_offset == 512)
            && fixed(StreamFlags::FIXED_BUFFER_OFFSET, region_offset == 0)
            && region_offset.checked_add(len).is_some_and(|end| end <= PIECE);
        region.slice_mut(..).unwrap().as_device_mut().fill(0).unwrap();
        let stream = RegisteredStream::new(driver, stream(), flags).unwrap();
        let paused = held.then(|| soft::pause(stream.stream().as_raw()));
        let read = Request::read(file, region, 512)
            .late(move |values| {
                assert_eq!(values, submitted);
                late
            })
            .submit(&stream);
        drop(paused);
        let mut expected = vec![0; PIECE];
        region = match read.wait() {
            Ok(done) => {
                assert!(right, "{late:?} on {flags:?}");
                let there = pattern(FILE, 1).into_iter().skip(late.file_offset as usize).take(len);
                let there: Vec<u8> = there.collect();
                assert_eq!(done.bytes, there.len(), "{late:?} on {flags:?}");
                expected[region_offset..region_offset + there.len()].copy_from_slice(&there);
                moved += usize::from(done.bytes > 0);
                done.region
            }
            Err(error) => {
                assert!(!right || fast, "{late:?} on {flags:?}: {error}");
                let kind = if right { ErrorKind::Internal } else { ErrorKind::InvalidInput };
                assert_eq!(error.error().kind(), kind, "{late:?} on {flags:?}: {error}");
                refused += 1;
                error.into_parts().1.unwrap()
            }
        };
        assert!(bytes(&region) == expected, "{late:?} on {flags:?}");
        assert!(bytes(&before).iter().chain(&bytes(&after)).all(|byte| *byte == 0), "{late:?} on {flags:?}");
    }
    assert!((fast || moved > 40) && refused > 40, "{moved} moved, {refused} refused");
}

/// Panics when it is dropped, if nobody panics already.
struct PanicsInDrop(Arc<AtomicUsize>);

impl Drop for PanicsInDrop {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
        if !std::thread::panicking() {
            panic!("as planned, in drop");
        }
    }
}

/// SND-20. Closures that panic, also with something that panics when dropped, or own what panics when dropped: nothing moves,
/// nothing unwinds through HIP, each is dropped once, and the stream is as before.
#[test]
fn closures_that_panic_move_nothing() {
    isolated("values::closures_that_panic_move_nothing", &[LEAKS], || {
        let prepared = prepared(&pattern(FILE, 2));
        let Prepared { driver, file, .. } = &prepared;
        let stream = RegisteredStream::new(driver, stream(), StreamFlags::empty()).unwrap();
        let mut region = driver.register(DeviceBuffer::zeroed(PIECE).unwrap()).unwrap().into_region();
        let dropped = Arc::new(AtomicUsize::new(0));
        type Closure = Box<dyn FnOnce(LateValues) -> LateValues + Send>;
        let owned = || PanicsInDrop(Arc::clone(&dropped));
        let closures: [(usize, Closure); 4] = [
            (0, Box::new(|_| panic!("as planned"))),
            (1, {
                let owned = owned();
                Box::new(move |_| std::panic::panic_any(owned))
            }),
            (1, {
                let owned = owned();
                Box::new(move |values| {
                    let _owned = owned;
                    values
                })
            }),
            (1, {
                let owned = owned();
                Box::new(move |_| {
                    let _owned = owned;
                    panic!("as planned")
                })
            }),
        ];
        for (number, (drops, closure)) in closures.into_iter().enumerate() {
            let before = dropped.load(Ordering::SeqCst);
            let error = Request::read(file, region, 0).late(closure).submit(&stream).wait().unwrap_err();
            assert_eq!(error.error().kind(), ErrorKind::InvalidInput, "{number}: {error}");
            region = error.into_parts().1.unwrap();
            assert!(bytes(&region).iter().all(|byte| *byte == 0), "{number}");
            assert_eq!(dropped.load(Ordering::SeqCst) - before, drops, "{number}");
        }
        let done = file.read_owned(&stream, region, 0).wait().unwrap();
        assert_eq!(done.bytes, PIECE);
    });
}

/// SND-20. Closures that are never called are dropped, wherever that is, and their panics are the dropper's alone.
#[test]
fn closures_that_are_not_called_are_dropped() {
    isolated("values::closures_that_are_not_called_are_dropped", &[LEAKS], || {
        let prepared = prepared(&pattern(FILE, 3));
        let Prepared { driver, file, .. } = &prepared;
        let stream = RegisteredStream::new(driver, stream(), StreamFlags::FIXED_VALUES).unwrap();
        let dropped = Arc::new(AtomicUsize::new(0));
        let request = |offset| {
            let memory = DeviceBuffer::zeroed(PIECE).unwrap();
            let region = driver.register(memory).unwrap().into_region();
            let owned = PanicsInDrop(Arc::clone(&dropped));
            Request::read(file, region, offset).late(move |values| {
                let _owned = &owned;
                values
            })
        };
        let unwound =
            |what: Box<dyn FnOnce() + '_>| std::panic::catch_unwind(std::panic::AssertUnwindSafe(what));
        for offset in [0, u64::MAX] {
            assert!(unwound(Box::new(|| drop(request(offset)))).is_err());
            assert!(unwound(Box::new(|| drop(request(offset).submit(&stream).wait()))).is_err());
            let before = dropped.load(Ordering::SeqCst);
            drop(request(offset).submit(&stream));
            while dropped.load(Ordering::SeqCst) == before {
                std::thread::yield_now();
            }
        }
        assert_eq!(dropped.load(Ordering::SeqCst), 6);
        // The thread that dropped some of them is still there.
        let region = driver.register(DeviceBuffer::zeroed(PIECE).unwrap()).unwrap().into_region();
        drop(file.read_owned(&stream, region, 0));
        while Arc::strong_count(file) > 1 {
            std::thread::yield_now();
        }
    });
}
