//! Opens and closes.

use std::error::Error as _;
use std::io;

use hipfile::alloc::DeviceBuffer;
use hipfile::{Driver, ErrorKind, Feature, FileHandle, OpError, Version};
use hipfile_tests::isolate::{alone, isolated};

use crate::common::{Scratch, open, software, software_devices};

/// HF-DRV-02, HF-DRV-03, SND-07.
#[test]
fn every_open_has_one_close() {
    alone("driver::every_open_has_one_close", || {
        let first = Driver::open().unwrap();
        assert_eq!(first.use_count().unwrap(), 1);
        let second = Driver::open().unwrap();
        let clone = second.clone();
        assert_eq!(first.use_count().unwrap(), 2);
        drop(second);
        assert_eq!(first.use_count().unwrap(), 2, "the clone holds the second open");
        drop(clone);
        assert_eq!(first.use_count().unwrap(), 1);
        let second = Driver::open().unwrap();
        second.close().unwrap();
        assert_eq!(first.use_count().unwrap(), 1);
        first.close().unwrap();
        assert_eq!(Driver::open().unwrap().use_count().unwrap(), 1);
    });
}

/// SND-07: whatever is dropped first, what is left works, and the last one closes.
#[test]
fn files_and_registrations_hold_the_driver() {
    alone("driver::files_and_registrations_hold_the_driver", || {
        let scratch = Scratch::new();
        let path = scratch.file("data", b"0123456789");
        let watch = Driver::open().unwrap();

        let driver = Driver::open().unwrap();
        let file = open(&driver, &path);
        let mut registered = driver.register(DeviceBuffer::zeroed(10).unwrap()).unwrap();
        drop(driver);
        assert_eq!(watch.use_count().unwrap(), 2);
        file.read_exact_at(registered.slice_mut(..).unwrap(), 0).unwrap();
        assert_eq!(registered.memory().to_vec().unwrap(), b"0123456789");
        drop(registered);
        assert_eq!(watch.use_count().unwrap(), 2);
        drop(file);
        assert_eq!(watch.use_count().unwrap(), 1);

        let driver = Driver::open().unwrap();
        let registered = driver.register(DeviceBuffer::new(10).unwrap()).unwrap();
        let file = open(&driver, &path);
        drop((file, driver));
        assert_eq!(watch.use_count().unwrap(), 2);
        let memory = registered.deregister().unwrap();
        assert_eq!(watch.use_count().unwrap(), 1, "deregistering lets the driver go");
        drop(memory);
    });
}

/// SND-07.
#[test]
fn a_shared_driver_is_not_closed_and_comes_back() {
    let scratch = Scratch::new();
    let path = scratch.file("data", b"x");
    let driver = Driver::open().unwrap();
    let clone = driver.clone();
    let file = open(&driver, &path);
    let memory = driver.register(DeviceBuffer::new(1).unwrap()).unwrap();

    let refused = driver.close().unwrap_err();
    assert_eq!(refused.error().kind(), ErrorKind::Busy);
    assert_eq!(
        refused.to_string(),
        "close driver: clones, files, registrations, streams or batches still use the driver"
    );
    let driver = refused.into_inner();
    drop((clone, memory));
    let refused = driver.close().unwrap_err();
    assert!(refused.source().is_none());
    assert_eq!(io::Error::from(driver_error(refused)).kind(), io::ErrorKind::ResourceBusy);
    drop(file);
}

fn driver_error(refused: hipfile::Failed<Driver>) -> hipfile::Error {
    refused.into()
}

/// HF-DRV-04, SND-07: other code may close the library once too often. Ours does not close a third party's open in turn.
#[test]
fn a_close_behind_our_back_is_reported_once_and_not_repeated() {
    alone("driver::a_close_behind_our_back_is_reported_once_and_not_repeated", || {
        let api = hipfile::sys::api::get().unwrap();
        let driver = Driver::open().unwrap();
        // SAFETY: requires nothing; it undoes our open, which is what is tested.
        let closed = unsafe { (api.hipFileDriverClose)() };
        assert_eq!(closed.err, hipfile::sys::hipFileSuccess);

        let refused = driver.close().unwrap_err();
        assert_eq!(refused.error().kind(), ErrorKind::NotInitialized);
        assert_eq!(refused.error().op_error(), Some(OpError::DriverNotInitialized));
        assert_eq!(
            refused.to_string(),
            "close driver: GPU IO driver is not loaded (5001 hipFileDriverNotInitialized)"
        );
        let driver = refused.into_inner();
        let other = Driver::open().unwrap();
        assert_eq!(driver.close().unwrap_err().error().kind(), ErrorKind::NotInitialized);
        assert_eq!(other.use_count().unwrap(), 1, "the other open was left alone");
    });
}

/// HF-READ-01, HF-READ-02, HF-DRV-17: the library closed by other code is an error of each transfer.
#[test]
fn transfers_on_a_library_closed_by_others_fail() {
    alone("driver::transfers_on_a_library_closed_by_others_fail", || {
        let scratch = Scratch::new();
        let path = scratch.file("data", b"0123456789");
        let driver = Driver::open().unwrap();
        let file = open(&driver, &path);
        let mut memory = driver.register(DeviceBuffer::new(4).unwrap()).unwrap();
        let api = hipfile::sys::api::get().unwrap();
        // SAFETY: requires nothing; it undoes our open, which is what is tested.
        let closed = unsafe { (api.hipFileDriverClose)() };
        assert_eq!(closed.err, hipfile::sys::hipFileSuccess);
        assert_eq!(
            file.read_at(memory.slice_mut(..).unwrap(), 0).unwrap_err().os_error(),
            Some(libc::EINVAL)
        );
        assert_eq!(file.write_at(memory.slice(..).unwrap(), 0).unwrap_err().os_error(), Some(libc::EINVAL));
        // HF-BUF-17: what the library no longer has counts as removed.
        memory.deregister().unwrap();
        drop(file);
        assert_eq!(driver.use_count().unwrap(), 0);
        // SAFETY: requires nothing; open and close in turn.
        let opened = unsafe { (api.hipFileDriverOpen)() };
        assert_eq!(opened.err, hipfile::sys::hipFileSuccess);
    });
}

/// HF-VER-01.
#[test]
fn the_version_is_that_of_the_library() {
    let version = hipfile::version().unwrap();
    assert!(version >= Version { major: 0, minor: 2, patch: 0 }, "{version}");
    let batch = hipfile::supports(Feature::Batch).unwrap();
    assert_eq!(batch, version >= Version { major: 0, minor: 5, patch: 0 });
    let stats = hipfile::supports(Feature::Stats).unwrap();
    assert!(!stats || hipfile::sys::api::get().unwrap().hipFileGetStatsL3.is_some());
    assert_eq!(stats, hipfile::stats().is_ok());
    if software() {
        let asked_for = std::env::var("SOFT_ROCM_HIPFILE_VERSION");
        let built = if hipfile::sys::Api::linked().hipFileGetStatsL3.is_some() { "0.5" } else { "0.4" };
        assert_eq!(version.to_string(), format!("{}.0", asked_for.as_deref().unwrap_or(built)));
        assert_eq!(stats, batch);
    }
}

/// HF-VER-03, HF-STATS-02.
#[test]
fn questions_do_not_open_the_driver() {
    alone("driver::questions_do_not_open_the_driver", || {
        hipfile::version().unwrap();
        hipfile::library_path().unwrap().unwrap();
        let _ = hipfile::stats();
        let driver = Driver::open().unwrap();
        assert_eq!(driver.use_count().unwrap(), 1);
    });
}

/// The library that answers is the one of the ROCm under test.
#[test]
fn the_library_is_the_one_under_test() {
    let used = hipfile::library_path().unwrap().unwrap().canonicalize().unwrap();
    let expected = hipfile_tests::rocm::lib_dir().join("libhipfile.so").canonicalize().unwrap();
    assert_eq!(used, expected);
    // SAFETY: requires a libhipfile; there is no such file, and one is in use anyway.
    let error = unsafe { hipfile::load("/nonexistent/libhipfile.so.0") }.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotLoaded);
    // SAFETY: requires a libhipfile; it is the one in use.
    let error = unsafe { hipfile::load(&used) }.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Busy);
    assert_eq!(
        error.to_string(),
        "load libhipfile: the library is in use already; load it before anything else"
    );
}

/// A library chosen by path before first use does everything that a linked one does.
#[test]
fn a_library_can_be_chosen_by_path() {
    alone("driver::a_library_can_be_chosen_by_path", || {
        let path = hipfile_tests::rocm::lib_dir().join("libhipfile.so.0");
        // SAFETY: requires a libhipfile; holds because it is the one under test.
        unsafe { hipfile::load(&path) }.unwrap();
        let driver = Driver::open().unwrap();
        let scratch = Scratch::new();
        let file = open(&driver, &scratch.file("data", b"loaded"));
        let mut memory = DeviceBuffer::zeroed(6).unwrap();
        file.read_exact_at(memory.slice_mut(..).unwrap(), 0).unwrap();
        assert_eq!(memory.to_vec().unwrap(), b"loaded");
    });
}

/// HF-DRV-23: opening needs no device. What needs one says so.
#[test]
fn a_machine_without_devices_opens_and_reports() {
    if !software_devices() {
        return;
    }
    let none = [("SOFT_ROCM_DEVICE_COUNT", "0")];
    isolated("driver::a_machine_without_devices_opens_and_reports", &none, || {
        let driver = Driver::open().unwrap();
        let scratch = Scratch::new();
        let _file: FileHandle = open(&driver, &scratch.file("data", b"x"));
        let error = hipfile::Error::from(DeviceBuffer::new(1).unwrap_err());
        assert_eq!(error.kind(), ErrorKind::NoDevice, "{error}");
    });
}
