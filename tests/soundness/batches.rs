//! SND-15: batches. Files and memory belong to the library until it has reported the end of a transfer, once, whatever else
//! it reports; or for ever.

use std::collections::BTreeSet;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hipfile::alloc::{self, DeviceBuffer};
use hipfile::sys::{hipFileIOEvents_t, hipFileStatus_t};
use hipfile::{Batch, Driver, ErrorKind, Region, Request};
use hipfile_tests::isolate::{LEAKS, alone, in_child, isolated};
use hipfile_tests::{library, soft};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use crate::fake::{self, Function, batches};
use crate::support::{Prepared, assert_never_given_out, content, pattern, prepared};

const PIECE: usize = 4096;
const PIECES: usize = 8;
const SIZE: usize = PIECE * PIECES;

/// Transfers go through `pread`, where they can be held.
const FALLBACK: (&str, &str) = ("HIPFILE_FORCE_COMPAT_MODE", "true");

fn regions(driver: &Driver) -> Vec<Region> {
    let memory = DeviceBuffer::zeroed(SIZE).unwrap();
    driver.register(memory).unwrap().into_regions(PIECE).unwrap().collect()
}

/// Reads of each piece of the file into the piece of memory at the same place, tagged by their number.
fn reads(prepared: &Prepared, regions: Vec<Region>) -> Vec<Request> {
    let read = |(number, region)| Request::read(&prepared.file, region, number * PIECE as u64).tag(number);
    (0..).zip(regions).map(read).collect()
}

/// Takes all that is ready: tags and regions.
fn taken(batch: &mut Batch) -> Vec<(u64, Region)> {
    std::iter::from_fn(|| batch.try_next().ok().flatten()).map(|done| (done.tag, done.region)).collect()
}

/// No byte is in two of the pieces.
fn assert_disjoint<'r>(regions: impl Iterator<Item = &'r Region>) -> usize {
    let mut count = 0;
    let places: BTreeSet<_> = regions.inspect(|_| count += 1).map(|region| region.as_ptr().addr()).collect();
    assert_eq!(places.len(), count, "a piece came back twice");
    count
}

/// SND-15. Events come in any order, twice, for transfers of nobody and with states that are none: each region comes back
/// once, after an event that says so, or stays.
#[test]
fn hostile_events_bring_no_region_back_twice() {
    if !library::has_0_5() {
        return;
    }
    isolated("batches::hostile_events_bring_no_region_back_twice", &[LEAKS], || {
        fake::install();
        let prepared = prepared(&pattern(SIZE, 1));
        let mut runner = TestRunner::deterministic();
        let event = (0..12_usize, any::<u32>(), any::<u64>(), any::<bool>());
        let lies = prop::collection::vec(event, 0..6);
        for _ in 0..60 {
            let mut lies = lies.new_tree(&mut runner).unwrap().current();
            let mut cookies = Vec::new();
            batches::events(move |events| {
                cookies.extend(events.iter().map(|event| event.cookie.addr()));
                for (which, status, ret, first) in lies.drain(..) {
                    let Some(cookie) = cookies.get(which % cookies.len().max(1)) else { continue };
                    // A flag, several, or none; of a transfer that ended, or of none.
                    let status = if ret % 3 == 0 { status } else { 1 << (status % 8) };
                    let cookie =
                        std::ptr::without_provenance_mut(cookie + if which > 8 { 1 << 40 } else { 0 });
                    let lie =
                        hipFileIOEvents_t { cookie, status: hipFileStatus_t(status), ret: ret as usize };
                    events.insert(if first { 0 } else { events.len() }, lie);
                }
            });
            let mut batch = Batch::new(&prepared.driver, PIECES).unwrap();
            batch.submit(reads(&prepared, regions(&prepared.driver))).unwrap();
            let mut back = Vec::new();
            for _ in 0..PIECES {
                let _ = batch.wait(1, Some(Duration::from_millis(20)));
                back.extend(taken(&mut batch));
            }
            let tags: BTreeSet<_> = back.iter().map(|(tag, _)| *tag).collect();
            assert_eq!(tags.len(), back.len(), "an end was reported twice: {back:?}");
            let count = assert_disjoint(back.iter().map(|(_, region)| region));
            assert_eq!(batch.outstanding(), PIECES - count);
            assert!(batch.room() == count);
        }
    });
}

/// SND-15. The library takes some of a submission and fails: what it took ends as an event, the rest comes back, nothing both.
#[test]
fn a_submission_stops_half_way() {
    if !library::has_0_5() {
        return;
    }
    alone("batches::a_submission_stops_half_way", || {
        fake::install();
        let prepared = prepared(&pattern(SIZE, 2));
        for accepted in 0..=PIECES {
            let mut batch = Batch::new(&prepared.driver, PIECES).unwrap();
            batches::accept_only(accepted as u32);
            let refused = batch.submit(reads(&prepared, regions(&prepared.driver))).unwrap_err();
            let (error, back) = refused.into_parts();
            assert_eq!((error.kind(), back.len()), (ErrorKind::Internal, PIECES - accepted), "{error}");
            let back: Vec<_> = back.into_iter().map(Request::into_region).collect();
            let ended = taken(&mut batch);
            assert_eq!(assert_disjoint(ended.iter().map(|(_, region)| region).chain(&back)), PIECES);
            assert_eq!((ended.len(), batch.outstanding()), (accepted, 0));
            for (tag, region) in ended {
                let start = tag as usize * PIECE;
                let bytes = region.slice(..).unwrap().as_device().to_vec().unwrap();
                assert!(bytes == pattern(SIZE, 2)[start..start + PIECE]);
            }
        }
    });
}

/// SND-15. As before, but what the library took can't be asked: all of it stays with the batch, and is leaked with it if the
/// library does not say that it destroyed it.
#[test]
fn a_submission_stops_half_way_and_nobody_knows_where() {
    if !library::has_0_5() {
        return;
    }
    isolated("batches::a_submission_stops_half_way_and_nobody_knows_where", &[LEAKS], || {
        fake::install();
        let prepared = prepared(&pattern(SIZE, 3));
        for (destroyed, leaked) in [(true, 0), (false, PIECES as u64)] {
            let mut batch = Batch::new(&prepared.driver, PIECES).unwrap();
            batches::accept_only(3);
            fake::answer(Function::BatchStatus, 5030, 0);
            let (_, back) =
                batch.submit(reads(&prepared, regions(&prepared.driver))).unwrap_err().into_parts();
            assert_eq!((back.len(), batch.outstanding()), (0, PIECES));
            fake::honest(Function::BatchStatus);
            if !destroyed {
                fake::answer(Function::BatchCancel, 5022, 0);
            }
            drop(batch);
            fake::honest(Function::BatchCancel);
            assert_eq!(alloc::leaked().allocations, leaked);
        }
        assert_eq!(alloc::leaked().bytes, SIZE as u64);
    });
}

/// Submits reads of which one is held in the middle, under the plan that holds it.
fn held(prepared: &Prepared) -> (Batch, usize) {
    let regions = regions(&prepared.driver);
    let address = regions[0].as_ptr().addr();
    soft::plan_hipfile("pread:pause@1");
    let mut batch = Batch::new(&prepared.driver, PIECES).unwrap();
    batch.submit(reads(prepared, regions)).unwrap();
    while soft::held_by_hipfile() == 0 {
        std::thread::yield_now();
    }
    (batch, address)
}

/// SND-15. Dropping a batch waits for what has begun; its memory is not given out before.
#[test]
fn a_dropped_batch_waits() {
    if !library::has_0_5() {
        return;
    }
    soft::only("batches::a_dropped_batch_waits", &[FALLBACK], || {
        let prepared = prepared(&pattern(SIZE, 4));
        let (batch, address) = held(&prepared);
        let resumed = AtomicBool::new(false);
        std::thread::scope(|threads| {
            let dropper = threads.spawn(|| {
                drop(batch);
                assert!(
                    resumed.load(Ordering::SeqCst),
                    "the batch was dropped before its transfers had ended"
                );
            });
            assert_never_given_out(address, SIZE);
            resumed.store(true, Ordering::SeqCst);
            soft::plan_hipfile("");
            dropper.join().unwrap();
        });
        assert_eq!(alloc::leaked().allocations, 0);
    });
}

/// SND-02, SND-15. A forgotten batch takes files and memory along.
#[test]
fn memory_of_a_forgotten_batch_is_never_given_out() {
    if !library::has_0_5() {
        return;
    }
    soft::only("batches::memory_of_a_forgotten_batch_is_never_given_out", &[FALLBACK, LEAKS], || {
        never_given_out_after(mem::forget);
        assert_eq!(alloc::leaked().allocations, 0);
    });
}

/// SND-09, SND-15. So does one whose end the library does not prove, and that is counted.
#[test]
fn memory_of_a_batch_that_nobody_ends_is_never_given_out() {
    if !library::has_0_5() {
        return;
    }
    soft::only("batches::memory_of_a_batch_that_nobody_ends_is_never_given_out", &[FALLBACK, LEAKS], || {
        fake::install();
        never_given_out_after(|batch| {
            fake::answer(Function::BatchCancel, 5022, 0);
            drop(batch);
        });
        assert_eq!((alloc::leaked().allocations, alloc::leaked().bytes), (PIECES as u64, SIZE as u64));
    });
}

/// A batch with a transfer in the middle goes, and its transfers end in memory that is still there.
fn never_given_out_after(end: impl FnOnce(Batch)) {
    let prepared = prepared(&pattern(SIZE, 5));
    let (batch, address) = held(&prepared);
    end(batch);
    assert_never_given_out(address, SIZE);
    soft::plan_hipfile("");
    while content(address, SIZE) != pattern(SIZE, 5) {
        std::thread::yield_now();
    }
    assert_never_given_out(address, SIZE);
}

/// SND-07, SND-15. Other code closes the driver, which ends the library's batch: ours is told so, and what it cannot account
/// for is leaked.
#[test]
fn the_driver_is_closed_under_a_batch() {
    if !library::has_0_5() {
        return;
    }
    isolated("batches::the_driver_is_closed_under_a_batch", &[LEAKS], || {
        let prepared = prepared(&pattern(SIZE, 6));
        let mut batch = Batch::new(&prepared.driver, PIECES).unwrap();
        batch.submit(reads(&prepared, regions(&prepared.driver))).unwrap();
        let api = hipfile::sys::api::get().unwrap();
        // SAFETY: requires that nothing relies on the open; nothing but what is tested does.
        assert_eq!(unsafe { (api.hipFileDriverClose)() }.err.0, 0);
        assert_eq!(batch.wait(1, None).unwrap_err().kind(), ErrorKind::NotRegistered);
        assert_eq!(batch.cancel().unwrap_err().kind(), ErrorKind::NotRegistered);
        assert_eq!(batch.outstanding(), PIECES);
        drop(batch);
        assert_eq!((alloc::leaked().allocations, alloc::leaked().bytes), (PIECES as u64, SIZE as u64));
        let prepared = self::prepared(&pattern(SIZE, 7));
        let mut batch = Batch::new(&prepared.driver, PIECES).unwrap();
        batch.submit(reads(&prepared, regions(&prepared.driver))).unwrap();
        assert_eq!(batch.wait(PIECES, None).unwrap(), PIECES);
    });
}

/// SND-15. Before 0.5 a batch would take transfers and never run them.
#[test]
fn older_libraries_have_no_batches() {
    let test = "batches::older_libraries_have_no_batches";
    for version in ["0.2", "0.4"] {
        soft::only(test, &[("SOFT_ROCM_HIPFILE_VERSION", version)], || {
            let driver = Driver::open().unwrap();
            assert_eq!(Batch::new(&driver, 1).unwrap_err().kind(), ErrorKind::Unsupported);
        });
    }
}

/// SND-15, SND-16. A forked child has no part in the batch that it inherits.
#[test]
fn a_forked_child_has_no_part_in_a_batch() {
    if !library::has_0_5() {
        return;
    }
    soft::only("batches::a_forked_child_has_no_part_in_a_batch", &[FALLBACK], || {
        let prepared = prepared(&pattern(SIZE, 7));
        let mut batch = Some(held(&prepared).0);
        let passed = in_child(|| {
            let mut inherited = batch.take().unwrap();
            let kinds = [
                inherited.wait(1, None).unwrap_err().kind(),
                inherited.try_next().unwrap_err().kind(),
                inherited.cancel().unwrap_err().kind(),
                inherited.submit([]).unwrap_err().into_parts().0.kind(),
                Batch::new(&prepared.driver, 1).unwrap_err().kind(),
            ];
            drop(inherited);
            kinds == [ErrorKind::Forked; 5]
        });
        assert!(passed);
        soft::plan_hipfile("");
        let mut batch = batch.unwrap();
        assert_eq!(batch.wait(PIECES, None).unwrap(), PIECES);
        assert_eq!(taken(&mut batch).len(), PIECES);
    });
}

/// SND-15, SND-19. Batches go from thread to thread while transfers run, and share files and registrations.
#[test]
fn batches_on_many_threads() {
    if !library::has_0_5() {
        return;
    }
    alone("batches::batches_on_many_threads", || {
        let prepared = prepared(&pattern(SIZE, 8));
        let prepared = &prepared;
        std::thread::scope(|threads| {
            for thread in 0..6 {
                threads.spawn(move || {
                    for round in 0..20 {
                        let mut batch = Batch::new(&prepared.driver, PIECES).unwrap();
                        batch.submit(reads(prepared, regions(&prepared.driver))).unwrap();
                        if (round + thread) % 3 == 0 {
                            batch.cancel().unwrap();
                        }
                        if (round + thread) % 4 != 0 {
                            let elsewhere = std::thread::spawn(move || {
                                batch.wait(PIECES, None).unwrap();
                                taken(&mut batch)
                            });
                            let ended = elsewhere.join().unwrap();
                            assert_eq!(assert_disjoint(ended.iter().map(|(_, region)| region)), PIECES);
                        }
                    }
                });
            }
        });
        assert_eq!(Arc::strong_count(&prepared.file), 1);
        assert_eq!(alloc::leaked().allocations, 0);
    });
}
