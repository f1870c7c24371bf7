//! Transfers of batches that fail, batches that the library refuses, and libraries without batches.

use std::sync::Arc;
use std::time::Duration;

use hipfile::alloc::{self, InFlight};
use hipfile::{Batch, Driver, ErrorKind, OpError, OpenOptions, Region, Request};
use hipfile_tests::isolate::{alone, isolated};
use hipfile_tests::{library, raw, soft};

use crate::batch_stage::{FALLBACK, PAGE, Stage, UNTOUCHED, bytes, follow, take_all, take_ready};
use crate::common::software;

/// HF-BATCH-25, HF-BATCH-26: the reason of each failure, and the memory back to be used again.
#[test]
fn each_transfer_fails_by_itself() {
    if !library::has_0_5() {
        return;
    }
    soft::only("batch_errors::each_transfer_fails_by_itself", &FALLBACK, || {
        let stage = Stage::new(PAGE);
        let mut batch = stage.batch(4);
        let full = stage.file_named("full", &[]);
        let bad = stage.file_named("bad", &[1; PAGE]);
        let plan = follow("pwrite:errno=ENOSPC@path=/full; pread:errno=EIO@path=/bad");
        let mut pages = stage.pages(3).into_iter();
        batch
            .submit([
                Request::write(&full, pages.next().unwrap(), 8192).tag(1),
                Request::read(&bad, pages.next().unwrap(), 0).tag(2),
                Request::read(&stage.file, pages.next().unwrap(), 0).tag(3),
            ])
            .unwrap();
        let mut all = take_all(&mut batch);
        let failed = all.remove(&1).unwrap();
        let error = failed.result.unwrap_err();
        assert_eq!((error.kind(), error.os_error()), (ErrorKind::Os, Some(libc::ENOSPC)));
        let path = stage.scratch.path("full");
        assert_eq!(
            error.to_string(),
            format!(
                "write {} at offset 8192, 4096 bytes: no space left on device (28 ENOSPC)",
                path.display()
            )
        );
        let error = all.remove(&2).unwrap().result.unwrap_err();
        assert_eq!((error.operation(), error.os_error(), error.offset()), ("read", Some(libc::EIO), Some(0)));
        assert!(stage.has_page(0, &all[&3].region));

        // The memory of the failed write, used again.
        assert!(bytes(&failed.region) == [UNTOUCHED; PAGE]);
        drop(plan);
        batch.submit([Request::write(&full, failed.region, 0).tag(4)]).unwrap();
        assert_eq!(take_all(&mut batch).remove(&4).unwrap().result.unwrap(), PAGE);

        soft::plan_hip("hipMemcpy:hip=719; hipMemcpyAsync:hip=719");
        batch.submit(stage.reads(stage.pages(1))).unwrap();
        let error = take_all(&mut batch).remove(&0).unwrap().result.unwrap_err();
        assert_eq!((error.kind(), error.op_error()), (ErrorKind::Hip, Some(OpError::HipDriverError)));
        assert_eq!(error.hip_error(), None, "a batch does not tell HIP's code");
    });
}

/// A file that is not open for it: all come back, and nothing was begun.
#[test]
fn the_wrong_direction_refuses_all() {
    if !library::has_0_5() {
        return;
    }
    let stage = Stage::new(2 * PAGE);
    let mut batch = stage.batch(4);
    let path = stage.scratch.file("read only", &[0; PAGE]);
    let reader = Arc::new(OpenOptions::new().read(true).open(&stage.driver, &path).unwrap());
    let mut requests = stage.reads(stage.pages(1));
    requests.push(Request::write(&reader, stage.pages(1).remove(0), 0));
    let (error, requests) = batch.submit(requests).unwrap_err().into_parts();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert_eq!(
        error.to_string(),
        format!("write {} at offset 0, 4096 bytes: the file is not open for writing", path.display())
    );
    assert_eq!((requests.len(), batch.outstanding()), (2, 0));
}

/// HF-BATCH-05, HF-BATCH-17: a file that other code deregistered. Only the library can find that.
#[test]
fn what_the_library_refuses_comes_back() {
    if !library::has_0_5() {
        return;
    }
    alone("batch_errors::what_the_library_refuses_comes_back", || {
        let stage = Stage::new(2 * PAGE);
        let mut batch = stage.batch(3);
        let gone = stage.file_named("gone", &[1; PAGE]);
        raw::deregister(gone.as_raw().addr());
        let mut pages = stage.pages(3);
        let expected: Vec<_> = pages.iter().map(Region::as_ptr).collect();
        let last = pages.pop().unwrap();
        let mut requests = stage.reads(pages);
        requests.insert(1, Request::read(&gone, last, 0));
        let (error, requests) = batch.submit(requests).unwrap_err().into_parts();
        assert_eq!(error.kind(), ErrorKind::NotRegistered);
        assert_eq!(
            error.to_string(),
            "submit to batch: file handle is not registered (5027 hipFileHandleNotRegistered)"
        );
        assert_eq!(batch.outstanding(), 0);
        let regions: Vec<_> = requests.into_iter().map(Request::into_region).collect();
        let order = [expected[0], expected[2], expected[1]];
        assert_eq!(regions.iter().map(Region::as_ptr).collect::<Vec<_>>(), order);
        assert!(regions.iter().all(|region| bytes(region) == [UNTOUCHED; PAGE]));
        batch.submit(stage.reads(stage.pages(2))).unwrap();
        assert!(take_all(&mut batch).into_iter().all(|(n, done)| stage.has_page(n, &done.region)));
    });
}

/// Late values are late on a stream, and places are for whoever is in flight.
#[test]
fn late_values_are_refused_and_places_released() {
    if !library::has_0_5() {
        return;
    }
    alone("batch_errors::late_values_are_refused_and_places_released", || {
        let stage = Stage::new(4 * PAGE);
        let mut batch = stage.batch(4);
        let late = Request::read(&stage.file, stage.pages(1).remove(0), 9).late(|values| values).tag(5);
        let (error, requests) = batch.submit([late]).unwrap_err().into_parts();
        assert_eq!((error.kind(), requests.len()), (ErrorKind::InvalidInput, 1));
        assert_eq!(
            error.to_string(),
            format!(
                "read {} at offset 9, 4096 bytes: late values need a registered stream, and a batch has no stream",
                stage.path.display()
            )
        );

        let bound = InFlight::new(4);
        let placed = |pages| {
            let place = |request: Request| request.place(bound.try_acquire().expect("four fit"));
            stage.reads(pages).into_iter().map(place).collect::<Vec<_>>()
        };
        batch.submit(placed(stage.pages(4))).unwrap();
        assert!(bound.try_acquire().is_none());
        batch.wait(4, None).unwrap();
        assert_eq!((bound.in_use(), take_ready(&mut batch).len()), (0, 4), "released before they are taken");

        batch.submit(placed(stage.pages(4))).unwrap();
        drop(batch);
        assert_eq!(bound.in_use(), 0);
        let mut batch = stage.batch(4);
        batch.submit(placed(stage.pages(3))).unwrap();
        assert_eq!(raw::driver_close(), raw::OK);
        drop(batch);
        assert_eq!(
            (alloc::leaked().allocations, bound.in_use()),
            (3, 0),
            "what is leaked keeps nobody waiting"
        );
    });
}

/// Functions of the library that fail: what they were asked is not lost.
#[test]
fn calls_that_fail_lose_nothing() {
    if !library::has_0_5() {
        return;
    }
    soft::only("batch_errors::calls_that_fail_lose_nothing", &[], || {
        let stage = Stage::new(2 * PAGE);
        let plan = follow("hipFileBatchIOSetUp:hipfile=5030");
        let error = Batch::new(&stage.driver, 1).unwrap_err();
        assert_eq!(
            error.to_string(),
            "create batch: internal error of the library (5030 hipFileInternalError)"
        );
        drop(plan);
        let mut batch = stage.batch(2);

        // Possibly half-way, so it finds out: nothing was taken.
        let plan = follow("hipFileBatchIOSubmit:hipfile=5030");
        let pages = stage.pages(2);
        let expected: Vec<_> = pages.iter().map(Region::as_ptr).collect();
        let (error, requests) = batch.submit(stage.reads(pages)).unwrap_err().into_parts();
        assert_eq!((error.kind(), batch.outstanding()), (ErrorKind::Internal, 0));
        drop(plan);
        batch.submit(requests).unwrap();

        let _plan = follow("hipFileBatchIOGetStatus:hipfile=5030@1-2; hipFileBatchIOCancel:hip=999");
        let error = batch.wait(2, None).unwrap_err();
        assert_eq!(
            error.to_string(),
            "wait for batch: internal error of the library (5030 hipFileInternalError)"
        );
        assert_eq!(batch.try_next().unwrap_err().kind(), ErrorKind::Internal);
        assert_eq!(batch.outstanding(), 2);
        assert_eq!(batch.wait(2, None).unwrap(), 2);
        let error = batch.cancel().unwrap_err();
        assert_eq!((error.operation(), error.hip_error().unwrap().code()), ("cancel batch", 999));
        let all = take_ready(&mut batch);
        assert!(all.iter().all(|(n, done)| stage.has_page(*n, &done.region)));
        assert_eq!(all.values().map(|done| done.region.as_ptr()).collect::<Vec<_>>(), expected);
    });
}

/// HF-BATCH-16: what takes transfers and never runs them is not used.
fn without_batches(version: &str) {
    let driver = Driver::open().unwrap();
    let error = Batch::new(&driver, 1).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert_eq!(
        error.to_string(),
        format!(
            "create batch: libhipfile {version} is in use, which has no batches that run; 0.5.0 and newer have"
        )
    );
    driver.close().unwrap();
}

#[test]
fn release_0_4_has_no_batches() {
    if software() {
        let test = "batch_errors::release_0_4_has_no_batches";
        isolated(test, &[("SOFT_ROCM_HIPFILE_VERSION", "0.4")], || without_batches("0.4.0"));
    }
}

#[test]
fn release_0_2_has_no_batches() {
    if software() {
        let test = "batch_errors::release_0_2_has_no_batches";
        isolated(test, &[("SOFT_ROCM_HIPFILE_VERSION", "0.2")], || without_batches("0.2.0"));
    }
}

/// HF-BATCH-31, SND-15: other code closes the driver. What was outstanding is not proven to be over, so it stays.
#[test]
fn a_driver_closed_by_other_code_takes_the_batch_along() {
    if !library::has_0_5() {
        return;
    }
    alone("batch_errors::a_driver_closed_by_other_code_takes_the_batch_along", || {
        let stage = Stage::new(2 * PAGE);
        let mut batch = stage.batch(4);
        batch.submit(stage.reads(stage.pages(2))).unwrap();
        assert_eq!(raw::driver_close(), raw::OK);
        assert_eq!(raw::count(), 0);

        let text = "the library does not know the batch any more: other code destroyed it or closed the driver \
                    (5022 hipFileInvalidValue)";
        let error = batch.wait(1, None).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotRegistered);
        assert_eq!(error.to_string(), format!("wait for batch: {text}"));
        assert_eq!(batch.wait(0, Some(Duration::ZERO)).unwrap_err().kind(), ErrorKind::NotRegistered);
        assert_eq!(batch.try_next().unwrap_err().kind(), ErrorKind::NotRegistered);
        assert_eq!(batch.cancel().unwrap_err().to_string(), format!("cancel batch: {text}"));
        assert_eq!(batch.outstanding(), 2);

        let pages = stage.pages(1);
        let (error, requests) = batch.submit(stage.reads(pages)).unwrap_err().into_parts();
        assert_eq!(error.to_string(), format!("submit to batch: {text}"));
        assert_eq!((requests.len(), batch.outstanding()), (1, 2));

        assert_eq!(alloc::leaked(), alloc::Leaked::default());
        drop(batch);
        let leaked = alloc::leaked();
        assert_eq!((leaked.allocations, leaked.bytes), (2, 2 * PAGE as u64));
    });
}

/// The same, seen first by a submission to an empty batch: there is nothing that could be lost.
#[test]
fn a_batch_made_before_the_driver_was_closed() {
    if !library::has_0_5() {
        return;
    }
    alone("batch_errors::a_batch_made_before_the_driver_was_closed", || {
        let stage = Stage::new(PAGE);
        let mut batch = stage.batch(1);
        assert_eq!(raw::driver_close(), raw::OK);
        let (error, requests) = batch.submit(stage.reads(stage.pages(1))).unwrap_err().into_parts();
        assert_eq!((error.kind(), requests.len()), (ErrorKind::NotRegistered, 1));
        assert!(error.to_string().contains("closed the driver"), "{error}");
        drop((requests, batch));
        assert_eq!(alloc::leaked(), alloc::Leaked::default());
    });
}
