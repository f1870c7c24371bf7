//! SND-16, SND-17: what ends a process's use of the library.

use std::cell::RefCell;
use std::ffi::c_void;
use std::mem;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use hipfile::alloc::{self, DeviceBuffer};
use hipfile::{Driver, ErrorKind, Failed, FileHandle, OpenOptions, Registered};
use hipfile_tests::isolate::{alone, in_child};

use crate::common::{Scratch, open};

/// SND-16, HF-THR-06.
#[test]
fn a_forked_child_gets_errors_and_leaves_the_parent_alone() {
    alone("process::a_forked_child_gets_errors_and_leaves_the_parent_alone", || {
        let scratch = Scratch::new();
        let path = scratch.file("data", b"0123456789");
        let driver = Driver::open().unwrap();
        let file = open(&driver, &path);
        let pool = DeviceBuffer::zeroed(10).unwrap();
        let mut memory = driver.register(DeviceBuffer::zeroed(10).unwrap()).unwrap();
        // What the child takes apart; the parent's copies stay.
        let mut spare_file = Some(open(&driver, &path));
        let mut owned = Some(driver.register(DeviceBuffer::zeroed(10).unwrap()).unwrap());
        let mut shared = Some(driver.register(Arc::new(DeviceBuffer::zeroed(10).unwrap())).unwrap());
        // SAFETY: requires device memory that outlives the guard and is its alone; holds for the pool.
        let mut raw = Some(unsafe { Registered::from_raw(&driver, pool.as_ptr(), 10, 0) }.unwrap());
        let mut plain = DeviceBuffer::zeroed(10).unwrap();

        let passed = in_child(|| {
            let forked =
                |error: Option<hipfile::Error>| error.map(|error| error.kind()) == Some(ErrorKind::Forked);
            let refused = [
                Driver::open().err(),
                driver.use_count().err(),
                hipfile::version().err(),
                hipfile::supports(hipfile::Feature::Batch).err(),
                hipfile::stats().err(),
                hipfile::library_path().err(),
                OpenOptions::new().read(true).open(&driver, &path).err(),
                FileHandle::new(&driver, std::fs::File::open(&path).unwrap()).err().map(Failed::into_error),
                driver.register(&mut plain).err(),
                file.read_at(memory.slice_mut(..).unwrap(), 0).err(),
                file.read_at(memory.slice_mut(..0).unwrap(), 0).err(),
                file.write_at(memory.slice(..).unwrap(), 0).err(),
                file.read_exact_at(memory.slice_mut(..).unwrap(), 0).err(),
                file.write_all_at(memory.slice(..).unwrap(), 0).err(),
            ];
            let all = refused.into_iter().all(forked);
            let deregistered = owned.take().map(|owned| owned.deregister());
            let kept =
                matches!(&deregistered, Some(Err(failed)) if failed.error().kind() == ErrorKind::Forked);
            let descriptor = spare_file.take().map(FileHandle::into_fd);
            drop((deregistered, shared.take(), raw.take(), descriptor));
            all && kept && alloc::leaked() == alloc::Leaked::default()
        });
        assert!(passed);

        // Everything that the child dropped is as it was here.
        file.read_exact_at(memory.slice_mut(..).unwrap(), 0).unwrap();
        assert_eq!(memory.memory().to_vec().unwrap(), b"0123456789");
        let spare = spare_file.unwrap();
        let mut owned = owned.unwrap();
        spare.read_exact_at(owned.slice_mut(..).unwrap(), 0).unwrap();
        owned.deregister().unwrap();
        shared.unwrap().deregister().unwrap();
        raw.unwrap().deregister().unwrap();
        assert_eq!(driver.use_count().unwrap(), 1);
    });
}

static CALLS: AtomicU32 = AtomicU32::new(0);

unsafe extern "C" fn close_counted() -> hipfile::sys::hipFileError_t {
    CALLS.fetch_add(1, Ordering::Relaxed);
    // SAFETY: requires what the caller promised.
    unsafe { (hipfile::sys::Api::linked().hipFileDriverClose)() }
}

unsafe extern "C" fn deregister_file_counted(handle: hipfile::sys::hipFileHandle_t) {
    CALLS.fetch_add(1, Ordering::Relaxed);
    // SAFETY: requires what the caller promised.
    unsafe { (hipfile::sys::Api::linked().hipFileHandleDeregister)(handle) }
}

unsafe extern "C" fn deregister_memory_counted(base: *const c_void) -> hipfile::sys::hipFileError_t {
    CALLS.fetch_add(1, Ordering::Relaxed);
    // SAFETY: requires what the caller promised.
    unsafe { (hipfile::sys::Api::linked().hipFileBufDeregister)(base) }
}

/// SND-16: what is dropped in a forked child calls nothing, whatever the library would have made of it.
#[test]
fn dropping_in_a_forked_child_calls_nothing() {
    alone("process::dropping_in_a_forked_child_calls_nothing", || {
        let counting = hipfile::sys::Api {
            hipFileDriverClose: close_counted,
            hipFileHandleDeregister: deregister_file_counted,
            hipFileBufDeregister: deregister_memory_counted,
            ..*hipfile::sys::Api::linked()
        };
        hipfile::sys::api::set(Box::leak(Box::new(counting))).unwrap();
        let scratch = Scratch::new();
        let path = scratch.file("data", b"0123456789");
        let everything = || {
            let driver = Driver::open().unwrap();
            let file = open(&driver, &path);
            let owned = driver.register(DeviceBuffer::new(10).unwrap()).unwrap();
            let shared = driver.register(Arc::new(DeviceBuffer::new(10).unwrap())).unwrap();
            (file, owned, shared, driver)
        };
        drop(everything());
        assert_eq!(CALLS.swap(0, Ordering::Relaxed), 4, "a file, two registrations, the driver");
        let mut all = Some(everything());
        let passed = in_child(|| {
            drop(all.take());
            CALLS.load(Ordering::Relaxed) == 0
        });
        assert!(passed);
        drop(all);
        assert_eq!(CALLS.load(Ordering::Relaxed), 4);
    });
}

/// SND-17, HF-DRV-24: statics are not dropped, thread locals are, and neither disturbs the end.
#[test]
fn a_process_ends_well_with_everything_live() {
    static FOR_EVER: OnceLock<(Driver, FileHandle, Registered<DeviceBuffer>)> = OnceLock::new();
    thread_local! {
        static OF_THREAD: RefCell<Option<(FileHandle, Registered<DeviceBuffer>)>> = const { RefCell::new(None) };
    }
    alone("process::a_process_ends_well_with_everything_live", || {
        let scratch = Scratch::new();
        let path = scratch.file("data", b"0123456789");
        let driver = Driver::open().unwrap();
        let pair = || {
            let file = open(&driver, &path);
            let mut memory = driver.register(DeviceBuffer::zeroed(10).unwrap()).unwrap();
            file.read_exact_at(memory.slice_mut(..).unwrap(), 0).unwrap();
            (file, memory)
        };
        let (file, memory) = pair();
        FOR_EVER.set((driver.clone(), file, memory)).unwrap();
        OF_THREAD.set(Some(pair()));
        std::thread::scope(|scope| {
            scope.spawn(|| OF_THREAD.set(Some(pair()))).join().unwrap();
        });
        mem::forget(pair());
    });
}
