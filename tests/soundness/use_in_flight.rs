//! SND-03, SND-09: memory goes while a transfer of other code is still using its registration. The library then says
//! busy, and the memory must stay allocated: it is leaked and counted, or comes back with the reason.

use std::ffi::c_void;
use std::mem;

use hipfile::ErrorKind;
use hipfile::alloc::{self, DeviceBuffer};
use hipfile_tests::isolate::{LEAKS, shimmed};
use hipfile_tests::shim::{self, Action};

use crate::support::{Prepared, assert_never_given_out, content, library_knows, pattern, prepared};

const SIZE: usize = 64 * 1024;

/// Transfers go through `pread`, where they can be held. What is in use when it goes is leaked.
const FALLBACK: [(&str, &str); 2] = [("HIPFILE_FORCE_COMPAT_MODE", "true"), LEAKS];

/// A transfer of other code: it reads the file into registered memory and is held in the middle.
struct InFlight {
    reader: std::thread::JoinHandle<isize>,
}

impl InFlight {
    fn into(prepared: &Prepared, address: *mut c_void) -> Self {
        shim::always("pread", Action::Hold);
        let (handle, address) = (prepared.file.as_raw().addr(), address.addr());
        let reader = std::thread::spawn(move || {
            let api = hipfile::sys::api::get().unwrap();
            let (handle, address) = (handle as *mut c_void, address as *mut c_void);
            // SAFETY: requires registered memory that stays; that it does is what these tests are about.
            unsafe { (api.hipFileRead)(handle, address, SIZE, 0, 0) }
        });
        shim::wait_until_held("pread");
        Self { reader }
    }

    /// Lets it go on to its end.
    fn finish(self) {
        shim::release("pread");
        assert_eq!(self.reader.join().unwrap(), SIZE as isize);
    }
}

/// SND-03. Drop finds the library busy: leaked, counted, and the transfer ends in memory that is still there.
#[test]
fn dropping_memory_under_a_forgotten_guard() {
    shimmed("use_in_flight::dropping_memory_under_a_forgotten_guard", &FALLBACK, || {
        let bytes = pattern(SIZE, 1);
        let prepared = prepared(&bytes);
        let mut memory = DeviceBuffer::zeroed(SIZE).unwrap();
        let address = memory.as_ptr();
        mem::forget(prepared.driver.register(&mut memory).unwrap());
        let transfer = InFlight::into(&prepared, address);
        drop(memory);
        assert_eq!((alloc::leaked().allocations, alloc::leaked().bytes), (1, SIZE as u64));
        assert!(library_knows(address));
        assert_never_given_out(address.addr(), SIZE);
        transfer.finish();
        assert!(content(address.addr(), SIZE) == bytes);
        assert_eq!(alloc::leaked().allocations, 1);
    });
}

/// SND-03. The guard could not deregister; its memory is what has to wait.
#[test]
fn dropping_the_guard_then_the_memory() {
    shimmed("use_in_flight::dropping_the_guard_then_the_memory", &FALLBACK, || {
        let bytes = pattern(SIZE, 2);
        let prepared = prepared(&bytes);
        let mut memory = DeviceBuffer::zeroed(SIZE).unwrap();
        let address = memory.as_ptr();
        let registered = prepared.driver.register(&mut memory).unwrap();
        let transfer = InFlight::into(&prepared, address);
        drop(registered);
        assert!(library_knows(address), "the library kept it");
        assert_eq!(alloc::leaked().allocations, 0, "nothing is lost while the memory is there");
        drop(memory);
        assert_eq!(alloc::leaked().allocations, 1);
        transfer.finish();
        assert!(content(address.addr(), SIZE) == bytes);
    });
}

/// SND-03. The guard takes its memory along.
#[test]
fn dropping_a_guard_that_owns_the_memory() {
    shimmed("use_in_flight::dropping_a_guard_that_owns_the_memory", &FALLBACK, || {
        let bytes = pattern(SIZE, 3);
        let prepared = prepared(&bytes);
        let registered = prepared.driver.register(DeviceBuffer::zeroed(SIZE).unwrap()).unwrap();
        let address = registered.as_ptr();
        let transfer = InFlight::into(&prepared, address);
        drop(registered);
        assert_eq!((alloc::leaked().allocations, alloc::leaked().bytes), (1, SIZE as u64));
        assert_never_given_out(address.addr(), SIZE);
        transfer.finish();
        assert!(content(address.addr(), SIZE) == bytes);
    });
}

/// SND-03. What has a result gives the memory back with kind Busy, and works once the transfer ended.
#[test]
fn freeing_and_taking_apart_give_the_memory_back() {
    shimmed("use_in_flight::freeing_and_taking_apart_give_the_memory_back", &FALLBACK, || {
        let bytes = pattern(SIZE, 4);
        let prepared = prepared(&bytes);
        let mut memory = DeviceBuffer::zeroed(SIZE).unwrap();
        let address = memory.as_ptr();
        mem::forget(prepared.driver.register(&mut memory).unwrap());
        let transfer = InFlight::into(&prepared, address);
        let (error, memory) = memory.free().unwrap_err().into_parts();
        assert_eq!(error.kind(), alloc::ErrorKind::Busy);
        let (error, mut memory) = memory.into_raw().unwrap_err().into_parts();
        assert_eq!(error.kind(), alloc::ErrorKind::Busy);
        let (error, _) = prepared.driver.try_register(&mut memory).unwrap_err().into_parts();
        assert_eq!(error.kind(), ErrorKind::Busy);
        transfer.finish();
        assert!(memory.to_vec().unwrap() == bytes);
        memory.free().unwrap();
        assert!(!library_knows(address));
        assert_eq!(alloc::leaked().allocations, 0);
    });
}

/// SND-03. The same for the guard.
#[test]
fn deregistering_gives_the_guard_back() {
    shimmed("use_in_flight::deregistering_gives_the_guard_back", &FALLBACK, || {
        let prepared = prepared(&pattern(SIZE, 5));
        let registered = prepared.driver.register(DeviceBuffer::zeroed(SIZE).unwrap()).unwrap();
        let transfer = InFlight::into(&prepared, registered.as_ptr());
        let (error, registered) = registered.deregister().unwrap_err().into_parts();
        assert_eq!(error.kind(), ErrorKind::Busy);
        transfer.finish();
        let memory = registered.deregister().unwrap();
        assert!(memory.to_vec().unwrap() == pattern(SIZE, 5));
        memory.free().unwrap();
    });
}

/// SND-03. The guard of shared memory goes last while busy; the memory waits for its own end and is leaked then.
#[test]
fn dropping_the_last_guard_of_shared_memory() {
    shimmed("use_in_flight::dropping_the_last_guard_of_shared_memory", &FALLBACK, || {
        let bytes = pattern(SIZE, 6);
        let prepared = prepared(&bytes);
        let memory = std::sync::Arc::new(DeviceBuffer::zeroed(SIZE).unwrap());
        let address = memory.as_ptr();
        let registered = prepared.driver.register(std::sync::Arc::clone(&memory)).unwrap();
        drop(memory);
        let transfer = InFlight::into(&prepared, address);
        drop(registered);
        assert_eq!(alloc::leaked().allocations, 1);
        transfer.finish();
        assert!(content(address.addr(), SIZE) == bytes);
    });
}
