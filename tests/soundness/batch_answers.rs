//! SND-15: what each answer of the library means for the transfers of a batch.

use std::collections::BTreeSet;
use std::time::Duration;

use hipfile::alloc::{self, Device, DeviceBuffer, Leaked};
use hipfile::sys::hipFileStatus_t;
use hipfile::{Batch, Completion, ErrorKind, Region, Request};
use hipfile_tests::isolate::alone;
use hipfile_tests::library;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use crate::fake::{self, Function, batches};
use crate::support::{Prepared, pattern, prepared};

const PAGE: usize = 4096;

/// A faulty library, and a file of so many pages.
fn stage(pages: usize) -> Prepared {
    fake::install();
    prepared(&pattern(pages * PAGE, 3))
}

fn regions(stage: &Prepared, count: usize) -> Vec<Region> {
    let pool = stage.driver.register(DeviceBuffer::zeroed(count * PAGE).unwrap()).unwrap();
    pool.into_regions(PAGE).unwrap().collect()
}

/// A read of each page, tagged by its number.
fn reads(stage: &Prepared, regions: Vec<Region>) -> Vec<Request> {
    let read = |(n, region): (u64, Region)| Request::read(&stage.file, region, n * PAGE as u64).tag(n);
    (0..).zip(regions).map(read).collect()
}

fn bytes(region: &Region) -> Vec<u8> {
    region.slice(..).unwrap().as_device().to_vec().unwrap()
}

fn ready(batch: &mut Batch) -> Vec<Completion> {
    std::iter::from_fn(|| batch.try_next().unwrap()).collect()
}

fn free() -> usize {
    Device::current().unwrap().memory_info().unwrap().free
}

/// SND-15. Some transfers are outstanding, and of others the library takes only some: each comes back once, by an event or by the
/// error. 5030 is what libhipfile answers; what a later one might answer may mean the same.
#[test]
fn a_submission_fails_half_way_beside_others() {
    if !library::has_0_5() {
        return;
    }
    alone("batch_answers::a_submission_fails_half_way_beside_others", || {
        let stage = stage(8);
        let mut batch = Batch::new(&stage.driver, 10).unwrap();
        for (answer, taken) in [(5030, 0), (5030, 3), (5030, 8), (5035, 4), (5999, 1), (1, 2)] {
            let earlier = reads(&stage, regions(&stage, 2)).into_iter().map(|request| request.tag(99));
            batch.submit(earlier).unwrap();
            batches::stop_after(taken as u32, answer);
            let pieces = regions(&stage, 8);
            let all: Vec<_> = pieces.iter().map(Region::as_ptr).collect();
            let (error, back) = batch.submit(reads(&stage, pieces)).unwrap_err().into_parts();
            assert_eq!(error.raw_code(), Some(i64::from(answer)));
            let back: Vec<_> = back.into_iter().map(Request::into_region).collect();
            assert!(back.iter().map(Region::as_ptr).eq(all[taken..].iter().copied()), "{answer} {taken}");
            assert!(back.iter().all(|region| bytes(region) == [0; PAGE]));
            // All that was outstanding has been waited for.
            assert_eq!(batch.wait(0, Some(Duration::ZERO)).unwrap(), 2 + taken, "{answer} {taken}");
            let done = ready(&mut batch);
            let ended: BTreeSet<_> = done.iter().map(|done| done.region.as_ptr()).collect();
            assert!(all[..taken].iter().all(|address| ended.contains(address)), "{answer} {taken}");
            assert!(done.iter().all(|done| done.result.as_ref().unwrap() == &PAGE));
            assert_eq!((ended.len(), batch.outstanding()), (2 + taken, 0));
        }
        assert_eq!(alloc::leaked(), Leaked::default());
    });
}

/// SND-15. Answers that refuse all: it comes back at once, though what was outstanding has not ended.
#[test]
fn a_submission_is_refused() {
    if !library::has_0_5() {
        return;
    }
    alone("batch_answers::a_submission_is_refused", || {
        let stage = stage(2);
        let mut batch = Batch::new(&stage.driver, 4).unwrap();
        batch.submit(reads(&stage, regions(&stage, 1))).unwrap();
        for answer in [5001, 5013, 5027, 5037, 5011] {
            fake::answer(Function::BatchSubmit, answer, 0);
            let asked = fake::calls(Function::BatchStatus);
            let (error, back) = batch.submit(reads(&stage, regions(&stage, 2))).unwrap_err().into_parts();
            assert_eq!((error.raw_code(), back.len()), (Some(i64::from(answer)), 2));
            assert_eq!((fake::calls(Function::BatchStatus), batch.outstanding()), (asked, 1));
        }
        // May be about an entry or about the batch, so the library is asked whether it knows that.
        fake::answer(Function::BatchSubmit, 5022, 0);
        let error = batch.submit(reads(&stage, regions(&stage, 2))).unwrap_err();
        assert_eq!(error.error().kind(), ErrorKind::InvalidInput);
        fake::answer(Function::BatchStatus, 5022, 0);
        let error = batch.submit(reads(&stage, regions(&stage, 2))).unwrap_err();
        assert_eq!(error.error().kind(), ErrorKind::NotRegistered);
        assert_eq!(error.into_inner().len(), 2);
    });
}

/// SND-13. What the library is asked: nothing for no bytes.
#[test]
fn requests_without_bytes_are_not_handed_over() {
    if !library::has_0_5() {
        return;
    }
    alone("batch_answers::requests_without_bytes_are_not_handed_over", || {
        let stage = stage(1);
        let mut batch = Batch::new(&stage.driver, 4).unwrap();
        let mut region = regions(&stage, 1).remove(0);
        let mut empty = || Request::write(&stage.file, region.split_to(0).unwrap(), 0);
        batch.submit([]).unwrap();
        batch.submit([empty(), empty()]).unwrap();
        assert_eq!(batch.wait(2, None).unwrap(), 2);
        assert_eq!(ready(&mut batch).len(), 2);
        let calls = [Function::BatchSubmit, Function::BatchStatus].map(fake::calls);
        assert_eq!(calls, [0, 0]);

        // Refused with those that have bytes.
        fake::answer(Function::BatchSubmit, 5013, 0);
        let requests = vec![empty(), Request::write(&stage.file, region, 0)];
        assert_eq!(batch.submit(requests).unwrap_err().into_inner().len(), 2);
        assert_eq!(batch.outstanding(), 0);
    });
}

/// SND-05, SND-15. Every state and number has one meaning; a region is back after a state that ends a transfer, and after no other.
#[test]
fn every_event_has_one_meaning() {
    if !library::has_0_5() {
        return;
    }
    alone("batch_answers::every_event_has_one_meaning", || {
        let stage = stage(1);
        let content = pattern(PAGE, 3);
        let mut batch = Batch::new(&stage.driver, 128).unwrap();
        let mut staying = 0;
        let mut check = |state: u32, ret: i64| {
            batches::events(move |events| {
                for event in events {
                    (event.status, event.ret) = (hipFileStatus_t(state), ret as usize);
                }
            });
            if batch.room() == 0 {
                batch = Batch::new(&stage.driver, 128).unwrap();
                staying = 0;
            }
            batch.submit(reads(&stage, regions(&stage, 1))).unwrap();
            let waited = batch.wait(staying + 1, None);
            if ![4, 8, 16, 32, 64].contains(&state) {
                staying += 1;
                let error = waited.unwrap_err();
                assert_eq!(error.kind(), ErrorKind::LibraryFault);
                let text =
                    format!("the library reports the end of a transfer with state {state}, which is none");
                assert_eq!(error.to_string(), format!("wait for batch: {text}"));
                assert!(batch.try_next().unwrap().is_none());
                return assert_eq!(batch.outstanding(), staying);
            }
            let completion = batch.try_next().unwrap().expect("it ended");
            assert!(bytes(&completion.region) == content);
            let error = match completion.result {
                Ok(count) => return assert_eq!((state, count as i64, count <= PAGE), (16, ret, true)),
                Err(error) => error,
            };
            match (state, error.kind()) {
                (8, kind) => assert_eq!(kind, ErrorKind::Cancelled),
                (16, ErrorKind::LibraryFault) => {
                    assert_eq!((error.raw_code(), ret > 4096), (Some(ret), true))
                }
                (16 | 64, kind) => {
                    assert!(ret < 0 || (state, kind) == (64, ErrorKind::Unknown), "{state} {ret}: {error}");
                    assert_eq!(error.raw_code().map(i64::unsigned_abs), Some(ret.unsigned_abs()));
                }
                (_, kind) => assert_eq!((kind, error.raw_code()), (ErrorKind::Unknown, Some(state.into()))),
            }
        };
        for state in [0, 1, 2, 3, 4, 8, 16, 24, 32, 64, 80, 128, u32::MAX] {
            for ret in [0, 1, 4096, 4097, i64::MAX, -1, -22, -4096, -5011, -5030, i64::MIN] {
                check(state, ret);
            }
        }
        let mut runner = TestRunner::default();
        let states = prop_oneof![any::<u32>(), 0u32..130, Just(16), Just(64)];
        let numbers = prop_oneof![any::<i64>(), -6000i64..6000];
        for _ in 0..500 {
            let state = states.new_tree(&mut runner).unwrap().current();
            check(state, numbers.new_tree(&mut runner).unwrap().current());
        }
        drop(batch);
        assert_eq!(alloc::leaked(), Leaked::default(), "destroying ends what no event did");
    });
}

/// SND-15. One bad event hides no good one.
#[test]
fn good_events_beside_a_bad_one() {
    if !library::has_0_5() {
        return;
    }
    alone("batch_answers::good_events_beside_a_bad_one", || {
        let stage = stage(4);
        let mut batch = Batch::new(&stage.driver, 4).unwrap();
        batch.submit(reads(&stage, regions(&stage, 4))).unwrap();
        batches::events(|events| {
            if let [pending, _, failed, _] = events.as_mut_slice() {
                pending.status = hipFileStatus_t(2);
                (failed.status, failed.ret) = (hipFileStatus_t(64), -5isize as usize);
            }
        });
        assert_eq!(batch.wait(4, None).unwrap_err().kind(), ErrorKind::LibraryFault);
        let done = ready(&mut batch);
        assert_eq!((done.len(), batch.outstanding()), (3, 1));
        let failed: Vec<_> = done.iter().filter_map(|done| done.result.as_ref().err()).collect();
        assert_eq!(failed.iter().map(|error| error.os_error()).collect::<Vec<_>>(), [Some(libc::EIO)]);
        let free_before = free();
        drop((batch, done));
        assert!(free() > free_before, "destroying is proof that the last one ended too");
        assert_eq!(alloc::leaked(), Leaked::default());
    });
}

/// SND-15. A library that loses transfers: waiting for them as long as it takes ends, and they stay until it destroyed the batch.
#[test]
fn lost_events_are_told() {
    if !library::has_0_5() {
        return;
    }
    alone("batch_answers::lost_events_are_told", || {
        let stage = stage(3);
        let mut batch = Batch::new(&stage.driver, 3).unwrap();
        batch.submit(reads(&stage, regions(&stage, 3))).unwrap();
        batches::events(|events| events.truncate(1));
        let error = batch.wait(3, None).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LibraryFault);
        assert_eq!(
            error.to_string(),
            "wait for batch: the library has no transfers left, where 2 are outstanding"
        );
        assert_eq!(ready(&mut batch).len(), 1);
        assert_eq!(batch.wait(1, Some(Duration::from_millis(1))).unwrap(), 0);
        assert_eq!(batch.outstanding(), 2);
        drop(batch);
        assert_eq!(alloc::leaked(), Leaked::default());
    });
}

/// SND-15. More events than there is room for: what there is room for is read.
#[test]
fn counts_above_the_room_are_not_believed() {
    if !library::has_0_5() {
        return;
    }
    alone("batch_answers::counts_above_the_room_are_not_believed", || {
        let stage = stage(3);
        for count in [4, 1000, u32::MAX] {
            let mut batch = Batch::new(&stage.driver, 4).unwrap();
            batch.submit(reads(&stage, regions(&stage, 3))).unwrap();
            batches::count(count);
            assert_eq!(batch.wait(3, None).unwrap(), 3);
            assert_eq!(ready(&mut batch).len(), 3);
        }
        assert_eq!(alloc::leaked(), Leaked::default());
    });
}
