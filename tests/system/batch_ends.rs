//! How batches end: cancelled, dropped, forgotten, with the driver, and in a forked child.

use std::mem;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use hipfile::alloc::{self, Device, DeviceBuffer};
use hipfile::sys::{Api, hipFileBatchHandle_t, hipFileError_t};
use hipfile::{Batch, ErrorKind, Request};
use hipfile_tests::isolate::{alone, in_child};
use hipfile_tests::{library, soft};

use crate::batch_stage::{FALLBACK, PAGE, Stage, UNTOUCHED, bytes, follow, take_all, until_held};
use crate::common::descriptors;

fn free() -> usize {
    Device::current().unwrap().memory_info().unwrap().free
}

/// HF-BATCH-13, HF-BATCH-30: what has begun goes on, the rest is cancelled, each comes back once.
#[test]
fn cancelled_transfers_come_back() {
    if !library::has_0_5() {
        return;
    }
    soft::only("batch_ends::cancelled_transfers_come_back", &FALLBACK, || {
        let stage = Stage::new(64 * PAGE);
        let mut batch = stage.batch(64);
        batch.cancel().unwrap();
        let plan = follow("pread:pause");
        batch.submit(stage.reads(stage.pages(64))).unwrap();
        until_held(1);
        batch.cancel().unwrap();
        let cancelled = batch.wait(1, None).unwrap();
        assert!(cancelled < 64, "some had begun");
        assert_eq!(batch.outstanding(), 64);
        batch.cancel().unwrap();
        drop(plan);
        let mut done = 0;
        for (n, completion) in take_all(&mut batch) {
            match completion.result {
                Ok(count) => {
                    done += 1;
                    assert!(count == PAGE && stage.has_page(n, &completion.region), "{n}");
                }
                Err(error) => {
                    assert_eq!((error.kind(), error.bytes_done()), (ErrorKind::Cancelled, 0));
                    let expected = format!(
                        "read {} at offset {}, 4096 bytes: cancelled before it began",
                        stage.path.display(),
                        n * PAGE as u64
                    );
                    assert_eq!(error.to_string(), expected);
                    assert!(bytes(&completion.region) == [UNTOUCHED; PAGE], "{n}");
                }
            }
        }
        assert!((1..64).contains(&done), "{done}");
        batch.submit(stage.reads(stage.pages(64))).unwrap();
        assert!(take_all(&mut batch).into_iter().all(|(n, done)| stage.has_page(n, &done.region)));
    });
}

/// HF-BATCH-14, SND-15: dropping waits for what runs. Until then memory and file are where they were.
#[test]
fn dropping_waits_for_what_runs() {
    if !library::has_0_5() {
        return;
    }
    soft::only("batch_ends::dropping_waits_for_what_runs", &FALLBACK, || {
        let stage = Stage::new(16 * PAGE);
        let before = (free(), descriptors());
        let file = stage.file_named("own", &stage.content);
        let open = descriptors();
        let mut batch = stage.batch(16);
        let pages = stage.pages(16);
        let first = pages[0].as_ptr();
        let plan = follow("pread:pause");
        let requests = pages.into_iter().zip((0..).step_by(PAGE));
        batch.submit(requests.map(|(page, offset)| Request::read(&file, page, offset))).unwrap();
        drop(file);
        until_held(1);
        let taken = free();
        let dropping = thread::spawn(move || drop(batch));
        // The rest is cancelled, and still nothing is let go of.
        for _ in 0..20 {
            thread::yield_now();
            assert_eq!((free(), descriptors()), (taken, open));
            assert_ne!(DeviceBuffer::new(16 * PAGE).unwrap().as_ptr(), first);
        }
        assert!(!dropping.is_finished());
        drop(plan);
        dropping.join().unwrap();
        assert_eq!((free(), descriptors()), before);
        assert_eq!(alloc::leaked(), alloc::Leaked::default());
    });
}

/// SND-02, SND-15: a forgotten batch keeps its memory for ever, and what runs goes on.
#[test]
fn a_forgotten_batch_frees_nothing() {
    if !library::has_0_5() {
        return;
    }
    soft::only("batch_ends::a_forgotten_batch_frees_nothing", &FALLBACK, || {
        let stage = Stage::new(4 * PAGE);
        let pages = stage.pages(4);
        let at = pages[0].as_ptr();
        let taken = free();
        let mut batch = stage.batch(4);
        let plan = follow("pread:pause");
        batch.submit(stage.reads(pages)).unwrap();
        until_held(1);
        mem::forget(batch);
        assert_eq!(free(), taken);
        drop(plan);
        // The library's threads write to it still.
        // SAFETY: requires device memory that stays allocated and is not written while the slice is read; holds because the
        // registration was forgotten with the batch; a read under way shows in the content, which is asked for again.
        let slice = unsafe { alloc::DeviceSlice::from_raw_parts(at, 4 * PAGE, Device::current().unwrap()) };
        while slice.to_vec().unwrap() != stage.content {
            thread::yield_now();
        }
        let others: Vec<_> = (0..8).map(|_| DeviceBuffer::new(4 * PAGE).unwrap()).collect();
        let apart = |other: &DeviceBuffer| other.as_ptr().addr().abs_diff(at.addr()) >= 4 * PAGE;
        assert!(others.iter().all(apart));
        // Other batches go on.
        let mut batch = stage.batch(4);
        batch.submit(stage.reads(stage.pages(4))).unwrap();
        assert!(take_all(&mut batch).into_iter().all(|(n, done)| stage.has_page(n, &done.region)));
    });
}

/// SND-09, SND-15: if destroying is not known to have worked, memory is leaked and counted.
#[test]
fn what_may_be_in_flight_is_leaked() {
    if !library::has_0_5() {
        return;
    }
    soft::only("batch_ends::what_may_be_in_flight_is_leaked", &FALLBACK, || {
        let stage = Stage::new(4 * PAGE);
        for (round, answer) in
            ["hipfile=5030", "hip=719", "hipfile=5999", "hipfile=5022"].into_iter().enumerate()
        {
            let mut batch = stage.batch(4);
            batch.submit(stage.reads(stage.pages(4))).unwrap();
            let taken = free();
            let plan = follow(&format!("hipFileBatchIOCancel:{answer}"));
            drop(batch);
            drop(plan);
            assert_eq!(free(), taken, "{answer}");
            let leaked = alloc::leaked();
            let count = 4 * (round as u64 + 1);
            assert_eq!((leaked.allocations, leaked.bytes), (count, count * PAGE as u64), "{answer}");
        }
    });
}

/// SND-07: a batch holds the driver, and an open batch keeps it from being closed.
#[test]
fn a_batch_holds_the_driver() {
    if !library::has_0_5() {
        return;
    }
    alone("batch_ends::a_batch_holds_the_driver", || {
        let Stage { driver, .. } = Stage::new(1);
        let batch = Batch::new(&driver, 1).unwrap();
        let refused = driver.close().unwrap_err();
        assert_eq!(refused.error().kind(), ErrorKind::Busy);
        assert!(refused.to_string().contains("batches"), "{refused}");
        let driver = refused.into_inner();
        drop(batch);
        driver.close().unwrap();
    });
}

static CALLS: AtomicU32 = AtomicU32::new(0);

unsafe extern "C" fn cancel_counted(batch: hipFileBatchHandle_t) -> hipFileError_t {
    CALLS.fetch_add(1, Ordering::Relaxed);
    // SAFETY: requires nothing: an unknown batch is an answer.
    unsafe { (Api::linked().hipFileBatchIOCancel)(batch) }
}

unsafe extern "C" fn destroy_counted(batch: hipFileBatchHandle_t) {
    CALLS.fetch_add(1, Ordering::Relaxed);
    // SAFETY: requires what the caller promised.
    unsafe { (Api::linked().hipFileBatchIODestroy)(batch) }
}

/// SND-16: in a forked child everything is refused, and dropping calls nothing.
#[test]
fn a_batch_in_a_forked_child() {
    if !library::has_0_5() {
        return;
    }
    alone("batch_ends::a_batch_in_a_forked_child", || {
        let counting = Api {
            hipFileBatchIOCancel: cancel_counted,
            hipFileBatchIODestroy: destroy_counted,
            ..*Api::linked()
        };
        hipfile::sys::api::set(Box::leak(Box::new(counting))).unwrap();
        let stage = Stage::new(4 * PAGE);
        let mut pages = stage.pages(6);
        let more = stage.reads(pages.split_off(4));
        let mut batch = Some(stage.batch(8));
        batch.as_mut().unwrap().submit(stage.reads(pages)).unwrap();
        let mut requests = Some(more);
        let passed = in_child(|| {
            let forked = |kind: ErrorKind| kind == ErrorKind::Forked;
            let mut own = batch.take().unwrap();
            let (error, back) = own.submit(requests.take().unwrap()).unwrap_err().into_parts();
            let refused = [
                error.kind(),
                own.submit([]).unwrap_err().error().kind(),
                own.wait(1, None).unwrap_err().kind(),
                own.try_next().unwrap_err().kind(),
                own.cancel().unwrap_err().kind(),
                Batch::new(&stage.driver, 1).unwrap_err().kind(),
            ];
            let kept = back.len() == 2 && own.outstanding() == 4;
            drop((own, back));
            let quiet = CALLS.load(Ordering::Relaxed) == 0 && alloc::leaked() == alloc::Leaked::default();
            refused.into_iter().all(forked) && kept && quiet
        });
        assert!(passed);
        let mut batch = batch.unwrap();
        batch.submit(requests.unwrap().into_iter().zip(4..).map(|(request, n)| request.tag(n))).unwrap();
        assert!(take_all(&mut batch).into_iter().all(|(n, done)| stage.has_page(n % 4, &done.region)));
        drop(batch);
        assert_eq!(CALLS.load(Ordering::Relaxed), 2);
    });
}
