//! Batches that do what they are there for.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use hipfile::alloc::{Device, DeviceBuffer};
use hipfile::{Batch, ErrorKind, OpError, Region, Request};
use hipfile_tests::{library, soft};

use crate::batch_stage::{
    FALLBACK, PAGE, Stage, UNTOUCHED, bytes, contents, follow, take_all, take_ready, until_held,
};
use crate::common::{open, pattern};

/// HF-BATCH-04, HF-BATCH-15: batches of one and of the most take that many, again and again, and no more.
#[test]
fn a_batch_takes_as_many_as_it_has_room_for() {
    if !library::has_0_5() {
        return;
    }
    for capacity in [1, Batch::MAX_CAPACITY] {
        let stage = Stage::new((capacity + 1) * PAGE);
        let mut batch = stage.batch(capacity);
        assert_eq!((batch.capacity(), batch.room(), batch.outstanding()), (capacity, capacity, 0));
        for _ in 0..3 {
            let mut pages = stage.pages(capacity + 1);
            let one_more = pages.split_off(capacity);
            batch.submit(stage.reads(pages)).unwrap();
            let debug = format!("{batch:?}");
            assert!(debug.starts_with(&format!("Batch {{ capacity: {capacity}, outstanding: {capacity}, ")));

            let refused = batch.submit(stage.reads(one_more)).unwrap_err();
            let error = refused.error();
            assert_eq!((error.kind(), error.op_error()), (ErrorKind::Busy, Some(OpError::BatchFull)));
            assert_eq!(
                refused.to_string(),
                format!(
                    "submit to batch: {capacity} of {capacity} transfers are outstanding, \
                     which leaves no room for 1 more (5037 hipFileBatchFull)"
                )
            );
            let mut requests = refused.into_inner();

            // What has ended and was not taken is outstanding still.
            assert_eq!(batch.wait(capacity, None).unwrap(), capacity);
            assert_eq!((batch.room(), batch.outstanding()), (0, capacity));
            requests = batch.submit(requests).unwrap_err().into_inner();
            let first = batch.try_next().unwrap().unwrap();
            assert_eq!(batch.room(), 1);
            batch.submit(requests.into_iter().map(|request| request.tag(first.tag))).unwrap();

            let all = take_all(&mut batch);
            assert_eq!(all.keys().copied().collect::<Vec<_>>(), (0..capacity as u64).collect::<Vec<_>>());
            for (n, completion) in all {
                assert_eq!(completion.result.unwrap(), PAGE);
                let page = if n == first.tag { 0 } else { n };
                assert!(stage.has_page(page, &completion.region), "{n}");
            }
        }
    }
}

/// HF-BATCH-01
#[test]
fn capacities_that_no_batch_has() {
    if !library::has_0_5() {
        return;
    }
    let stage = Stage::new(1);
    for capacity in [0, 129, u32::MAX as usize + 1, usize::MAX] {
        let error = Batch::new(&stage.driver, capacity).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert_eq!(
            error.to_string(),
            format!("create batch: a batch has room for 1 to 128 transfers, not for {capacity}")
        );
    }
    let nothing = Batch::new(&stage.driver, 1).unwrap().submit([]);
    nothing.unwrap();
}

/// HF-BATCH-17: a request that can't be right is found before any is made.
#[test]
fn one_bad_request_and_none_is_made() {
    if !library::has_0_5() {
        return;
    }
    let stage = Stage::new(3 * PAGE);
    let mut batch = stage.batch(3);
    for bad in [u64::MAX, i64::MAX as u64, i64::MAX as u64 - PAGE as u64 + 1] {
        for place in 0..3 {
            let pages = stage.pages(3);
            let expected: Vec<_> = pages.iter().map(Region::as_ptr).collect();
            let mut requests = stage.reads(pages);
            let region = requests.remove(place).into_region();
            requests.insert(place, Request::write(&stage.file, region, bad));
            let (error, requests) = batch.submit(requests).unwrap_err().into_parts();
            assert_eq!(error.kind(), ErrorKind::InvalidInput);
            assert_eq!(
                (error.operation(), error.offset(), error.requested()),
                ("write", Some(bad), Some(PAGE))
            );
            assert_eq!(error.path(), Some(&*stage.path));
            assert_eq!((batch.outstanding(), batch.room()), (0, 3));
            let regions: Vec<_> = requests.into_iter().map(Request::into_region).collect();
            assert_eq!(regions.iter().map(Region::as_ptr).collect::<Vec<_>>(), expected);
            assert!(regions.iter().all(|region| bytes(region) == [UNTOUCHED; PAGE]));
        }
    }
    batch.submit(stage.reads(stage.pages(3))).unwrap();
    assert!(take_all(&mut batch).into_iter().all(|(n, done)| stage.has_page(n, &done.region)));
}

/// HF-BATCH-07, HF-BATCH-08: counts are those of `pread` and `pwrite`, whatever the order.
#[test]
fn reads_and_writes_of_any_length_end_with_their_counts() {
    if !library::has_0_5() {
        return;
    }
    let stage = Stage::new(2 * PAGE + 100);
    let len = stage.content.len();
    let copy = stage.scratch.file("copy", b"");
    let written = Arc::new(open(&stage.driver, &copy));
    let mut batch = stage.batch(6);
    let mut empty = stage.region(&[1; 64]);
    let end = empty.split_off(64).unwrap();
    batch
        .submit([
            Request::read(&stage.file, stage.region(&vec![UNTOUCHED; len + 50]), 0).tag(0),
            Request::read(&stage.file, stage.region(&[UNTOUCHED; 300]), len as u64 - 7).tag(1),
            Request::read(&stage.file, stage.region(&[UNTOUCHED; 300]), len as u64 + 7).tag(2),
            Request::read(&stage.file, end, u64::MAX >> 1).tag(3),
            Request::write(&written, empty.split_to(0).unwrap(), 9).tag(4),
            Request::write(&written, stage.region(b"at five"), 5).tag(u64::MAX),
        ])
        .unwrap();
    let all = take_all(&mut batch);
    let counts: BTreeMap<u64, usize> =
        all.iter().map(|(tag, done)| (*tag, *done.result.as_ref().unwrap())).collect();
    assert_eq!(counts, BTreeMap::from([(0, len), (1, 7), (2, 0), (3, 0), (4, 0), (u64::MAX, 7)]));
    assert!(bytes(&all[&0].region)[..len] == stage.content);
    assert!(bytes(&all[&1].region)[..7] == stage.content[len - 7..]);
    assert_eq!(contents(&copy), b"\0\0\0\0\0at five");
    assert!(bytes(&empty) == [1; 64]);
}

/// Requests without bytes make no call and are ready at once, but are outstanding until taken.
#[test]
fn nothing_but_requests_without_bytes() {
    if !library::has_0_5() {
        return;
    }
    let stage = Stage::new(1);
    let mut batch = stage.batch(2);
    let mut region = stage.region(b"x");
    let requests = |region: &mut Region| {
        vec![
            Request::read(&stage.file, region.split_to(0).unwrap(), 0),
            Request::write(&stage.file, region.split_to(0).unwrap(), 3).tag(1),
        ]
    };
    batch.submit(requests(&mut region)).unwrap();
    assert_eq!((batch.outstanding(), batch.room()), (2, 0));
    assert_eq!(batch.submit(requests(&mut region)).unwrap_err().error().kind(), ErrorKind::Busy);
    assert_eq!(batch.wait(0, Some(Duration::ZERO)).unwrap(), 2);
    assert!(
        take_ready(&mut batch).into_values().all(|done| done.result.unwrap() == 0 && done.region.is_empty())
    );
    assert_eq!(contents(&stage.path).len(), 1);
}

/// HF-BATCH-07: what comes first is what ends first.
#[test]
fn completions_are_told_apart_by_their_tags() {
    if !library::has_0_5() {
        return;
    }
    soft::only("batches::completions_are_told_apart_by_their_tags", &FALLBACK, || {
        let stage = Stage::new(3 * PAGE);
        let slow = stage.file_named("slow", &[5; PAGE]);
        let mut batch = stage.batch(4);
        let plan = follow("pread:pause@path=/slow");
        let mut requests = vec![Request::read(&slow, stage.pages(1).remove(0), 0).tag(77)];
        requests.extend(stage.reads(stage.pages(3)));
        batch.submit(requests).unwrap();
        assert_eq!(batch.wait(3, None).unwrap(), 3);
        let first = take_ready(&mut batch);
        assert_eq!(first.keys().copied().collect::<Vec<_>>(), [0, 1, 2]);
        assert!(first.iter().all(|(n, done)| stage.has_page(*n, &done.region)));
        assert_eq!((batch.outstanding(), batch.room()), (1, 3));
        drop(plan);
        let last = take_all(&mut batch).remove(&77).unwrap();
        assert_eq!((last.result.unwrap(), bytes(&last.region)), (PAGE, vec![5; PAGE]));
    });
}

/// HF-BATCH-10, HF-BATCH-11, HF-BATCH-12: what a wait waits for, and for how long.
#[test]
fn waits_end_by_number_by_time_or_because_there_is_no_more() {
    if !library::has_0_5() {
        return;
    }
    soft::only("batches::waits_end_by_number_by_time_or_because_there_is_no_more", &FALLBACK, || {
        let stage = Stage::new(4 * PAGE);
        let mut batch = stage.batch(4);
        for (min, timeout) in
            [(0, None), (1, None), (usize::MAX, None), (3, Some(Duration::ZERO)), (4, Some(Duration::MAX))]
        {
            assert_eq!(batch.wait(min, timeout).unwrap(), 0, "nothing is outstanding");
        }
        assert!(batch.try_next().unwrap().is_none());

        let plan = follow("pread:pause");
        batch.submit(stage.reads(stage.pages(4))).unwrap();
        until_held(1);
        assert_eq!(batch.wait(0, None).unwrap(), 0, "a min of 0 does not wait");
        for timeout in [Duration::ZERO, Duration::from_nanos(1), Duration::from_millis(3)] {
            assert_eq!(batch.wait(1, Some(timeout)).unwrap(), 0, "{timeout:?}");
        }
        assert!(batch.try_next().unwrap().is_none());
        drop(plan);
        // Longer than any clock goes, and more than there are.
        assert_eq!(batch.wait(usize::MAX, Some(Duration::MAX)).unwrap(), 4);
        for ready in (0..4).rev() {
            // Those that are ready count.
            assert_eq!(batch.wait(1, None).unwrap(), ready + 1);
            assert!(batch.try_next().unwrap().is_some());
        }
        assert_eq!(batch.wait(1, None).unwrap(), 0);
    });
}

/// HF-BATCH-12: fewer than there are, while others are not there yet.
#[test]
fn a_wait_counts_what_is_ready_already() {
    if !library::has_0_5() {
        return;
    }
    soft::only("batches::a_wait_counts_what_is_ready_already", &FALLBACK, || {
        let stage = Stage::new(PAGE);
        let slow = stage.file_named("slow", &[5; PAGE]);
        let mut batch = stage.batch(2);
        let plan = follow("pread:pause@path=/slow");
        let mut pages = stage.pages(2);
        batch.submit([Request::read(&slow, pages.remove(0), 0)]).unwrap();
        batch.submit(stage.reads(pages)).unwrap();
        assert_eq!(batch.wait(1, None).unwrap(), 1);
        // Would wait for ever for another one.
        assert_eq!(batch.wait(1, None).unwrap(), 1);
        assert_eq!(batch.wait(2, Some(Duration::from_millis(2))).unwrap(), 1);
        drop(plan);
        assert_eq!(batch.wait(2, None).unwrap(), 2);
    });
}

/// Two batches share nothing but the library's threads.
#[test]
fn a_batch_runs_beside_one_that_is_held() {
    if !library::has_0_5() {
        return;
    }
    soft::only("batches::a_batch_runs_beside_one_that_is_held", &FALLBACK, || {
        let stage = Stage::new(8 * PAGE);
        let slow = stage.file_named("slow", &[5; PAGE]);
        let (mut held, mut other) = (stage.batch(1), stage.batch(8));
        let plan = follow("pread:pause@path=/slow");
        held.submit([Request::read(&slow, stage.pages(1).remove(0), 0)]).unwrap();
        until_held(1);
        for _ in 0..5 {
            other.submit(stage.reads(stage.pages(8))).unwrap();
            assert!(take_all(&mut other).into_iter().all(|(n, done)| stage.has_page(n, &done.region)));
        }
        drop(other);
        assert_eq!(held.wait(1, Some(Duration::ZERO)).unwrap(), 0);
        drop(plan);
        assert_eq!(take_all(&mut held)[&0].result.as_ref().unwrap(), &PAGE);
    });
}

/// SND-15, SND-19: batches in several threads, each moved to a second one half-way.
#[test]
fn batches_work_in_any_thread() {
    if !library::has_0_5() {
        return;
    }
    let stage = Stage::new(32 * PAGE);
    let mut pool = stage.pages(4 * 32).into_iter();
    thread::scope(|scope| {
        for _ in 0..4 {
            let (stage, pages) = (&stage, pool.by_ref().take(32).collect::<Vec<_>>());
            scope.spawn(move || {
                let mut pages = pages;
                for _ in 0..10 {
                    let mut batch = stage.batch(32);
                    batch.submit(stage.reads(pages)).unwrap();
                    batch.wait(1, None).unwrap();
                    let all = scope.spawn(move || take_all(&mut batch)).join().unwrap();
                    assert!(all.iter().all(|(n, done)| stage.has_page(*n, &done.region)));
                    pages = all.into_values().map(|done| done.region).collect();
                }
            });
        }
    });
}

/// SND-10: regions of two devices in one batch, and the thread's device is what it was.
#[test]
fn one_batch_serves_several_devices() {
    if !library::has_0_5() {
        return;
    }
    soft::only("batches::one_batch_serves_several_devices", &[("SOFT_ROCM_DEVICE_COUNT", "2")], || {
        let stage = Stage::new(2 * PAGE);
        let second = Device::new(1).unwrap().make_current().unwrap();
        let there = stage.driver.register(DeviceBuffer::zeroed(PAGE).unwrap()).unwrap().into_region();
        drop(second);
        let mut batch = stage.batch(2);
        batch
            .submit([
                Request::read(&stage.file, there, PAGE as u64).tag(1),
                Request::read(&stage.file, stage.pages(1).remove(0), 0).tag(0),
            ])
            .unwrap();
        let all = take_all(&mut batch);
        assert_eq!(Device::current().unwrap().ordinal(), 0);
        assert_eq!((all[&0].region.device().ordinal(), all[&1].region.device().ordinal()), (0, 1));
        assert!(all.iter().all(|(n, done)| stage.has_page(*n, &done.region)));
    });
}

/// A full batch of transfers both ways, checked byte by byte.
#[test]
fn what_is_written_is_read_back() {
    if !library::has_0_5() {
        return;
    }
    let stage = Stage::new(0);
    let content = pattern(100_000, 8);
    let region = stage.region(&content);
    let pieces = || {
        let mut rest = stage.region(&vec![0; content.len()]);
        std::iter::from_fn(move || {
            let len = rest.len().min(1000);
            (len > 0).then(|| rest.split_to(len).unwrap())
        })
    };
    let mut batch = stage.batch(128);
    let mut rest = region;
    let writes = (0..100).map(|n| Request::write(&stage.file, rest.split_to(1000).unwrap(), n * 1000).tag(n));
    batch.submit(writes).unwrap();
    assert!(take_all(&mut batch).into_values().all(|done| done.result.unwrap() == 1000));
    assert!(contents(&stage.path) == content);
    let reads = (0..).zip(pieces()).map(|(n, piece)| Request::read(&stage.file, piece, n * 1000).tag(n));
    batch.submit(reads).unwrap();
    let read: Vec<u8> = take_all(&mut batch).into_values().flat_map(|done| bytes(&done.region)).collect();
    assert!(read == content);
}
