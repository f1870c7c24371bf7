//! SND-03, SND-09: Drop, `free`, `into_raw`, and what they leak.

use core::ffi::c_void;
use core::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::fake;
use crate::{Access, DeviceBuffer, DeviceMemory, ErrorKind, RegistrationHook, Removal, leaked};

/// A library that keeps the first `keeps` times it is asked.
struct Library {
    keeps: usize,
    asked: AtomicUsize,
}

impl Library {
    fn keeping(keeps: usize) -> Arc<Self> {
        Arc::new(Self { keeps, asked: AtomicUsize::new(0) })
    }
}

// SAFETY: requires that Removed means removed; holds because nothing real is registered.
unsafe impl RegistrationHook for Library {
    fn deregister(&self, _base: *mut c_void) -> Removal {
        if self.asked.fetch_add(1, Ordering::Relaxed) < self.keeps { Removal::Kept } else { Removal::Removed }
    }
}

/// Registers the whole buffer and forgets the guard.
fn forget_registration(buffer: &mut DeviceBuffer, library: &Arc<Library>) {
    let memory: &mut DeviceBuffer = buffer;
    let (set, access) = memory.registrations().unwrap();
    assert_eq!(access, Access::Exclusive);
    // SAFETY: requires that the memory is let go only by forgetting; holds because no guard was made.
    let attached = unsafe {
        set.attach("test", access, memory.as_ptr(), memory.len(), library.clone(), || Ok::<(), ()>(()))
    };
    attached.unwrap();
}

#[test]
fn a_forgotten_registration_is_removed_before_the_memory_goes() {
    fake::install();
    let ways: [fn(DeviceBuffer); 3] = [
        drop,
        |buffer| buffer.free().unwrap(),
        |buffer| {
            let raw = buffer.into_raw().unwrap();
            // SAFETY: requires parts that nobody else frees; holds because they were just taken.
            drop(unsafe { DeviceBuffer::from_raw(raw) });
        },
    ];
    for way in ways {
        let library = Library::keeping(0);
        let mut buffer = DeviceBuffer::new(64).unwrap();
        forget_registration(&mut buffer, &library);
        way(buffer);
        assert_eq!(library.asked.load(Ordering::Relaxed), 1);
        assert_eq!(fake::allocations(), 0);
        assert_eq!(Arc::strong_count(&library), 1, "the hook is dropped");
    }
}

#[test]
fn a_kept_registration_leaks_memory_and_hook() {
    let _alone = fake::leaking_alone();
    fake::install();
    let library = Library::keeping(usize::MAX);
    let mut buffer = DeviceBuffer::new(64).unwrap();
    forget_registration(&mut buffer, &library);
    let before = leaked();
    fake::calls();
    drop(buffer);
    let after = leaked();
    assert_eq!((after.allocations - before.allocations, after.bytes - before.bytes), (1, 64));
    assert_eq!(fake::calls(), [""; 0], "nothing is freed");
    assert_eq!(fake::allocations(), 1);
    assert_eq!(Arc::strong_count(&library), 2, "the hook keeps its driver open");
}

#[test]
fn a_kept_registration_gives_the_buffer_back() {
    fake::install();
    let library = Library::keeping(2);
    let mut buffer = DeviceBuffer::from_host(b"still here").unwrap();
    forget_registration(&mut buffer, &library);
    let failed = buffer.free().unwrap_err();
    assert_eq!(failed.error().kind(), ErrorKind::Busy);
    assert_eq!(failed.to_string(), failed.error().to_string());
    assert!(
        failed.to_string().starts_with("DeviceBuffer::free: a library still holds the registration of 10")
    );
    let (error, buffer) = failed.into_inner().into_raw().unwrap_err().into_parts();
    assert_eq!((error.kind(), error.operation()), (ErrorKind::Busy, "DeviceBuffer::into_raw"));
    assert_eq!(buffer.to_vec().unwrap(), b"still here");
    buffer.free().unwrap();
    assert_eq!(fake::allocations(), 0);
}

#[test]
fn a_failed_free_leaks_on_drop_and_gives_back_on_free() {
    let _alone = fake::leaking_alone();
    fake::install();
    for function in ["hipFree", "hipGetDevice"] {
        let before = leaked();
        let buffer = DeviceBuffer::new(100).unwrap();
        fake::fail(function, 1, 17);
        let (error, buffer) = buffer.free().unwrap_err().into_parts();
        assert_eq!(error.hip_error().map(u32::from), Some(17));
        assert_eq!(leaked(), before);
        fake::fail(function, 1, 17);
        drop(buffer);
        let after = leaked();
        assert_eq!((after.allocations - before.allocations, after.bytes - before.bytes), (1, 100));
        fake::fail_no_more();
    }
    assert_eq!(fake::allocations(), 2);
}

#[test]
fn the_question_mark_tries_once_more() {
    fn fails_once(buffer: DeviceBuffer) -> crate::Result<()> {
        buffer.free()?;
        Ok(())
    }
    fake::install();
    let buffer = DeviceBuffer::new(100).unwrap();
    fake::fail("hipFree", 1, 17);
    let error = fails_once(buffer).unwrap_err();
    assert_eq!(
        error.to_string(),
        "DeviceBuffer::free: hipFree of 100 bytes on device 0 failed: hipErrorInvalidDevicePointer (17)"
    );
    assert_eq!(fake::allocations(), 0);
}

#[test]
fn raw_parts_describe_the_allocation() {
    fake::install();
    let buffer = DeviceBuffer::with_alignment(100, 8 * fake::ALIGNMENT).unwrap();
    let (pointer, device) = (buffer.as_ptr(), buffer.device());
    let raw = buffer.into_raw().unwrap();
    assert_eq!(raw.allocation.addr() + raw.offset, pointer.addr());
    assert_ne!(raw.offset, 0);
    assert_eq!((raw.len, raw.device), (100, device));
    assert_eq!(fake::allocations(), 1, "into_raw frees nothing");
    // SAFETY: requires parts that nobody else frees; holds because they were just taken.
    let buffer = unsafe { DeviceBuffer::from_raw(raw) };
    assert_eq!((buffer.as_ptr(), buffer.len()), (pointer, 100));
    drop(buffer);
    assert_eq!(fake::allocations(), 0);
}

#[test]
fn registrations_travel_with_their_memory() {
    fake::install();
    let (one, two) = (Library::keeping(0), Library::keeping(0));
    let mut first = DeviceBuffer::new(1).unwrap();
    let mut second = DeviceBuffer::new(2).unwrap();
    forget_registration(&mut first, &one);
    forget_registration(&mut second, &two);
    mem::swap(&mut first, &mut second);
    drop(first);
    assert_eq!((one.asked.load(Ordering::Relaxed), two.asked.load(Ordering::Relaxed)), (0, 1));
    drop(second);
    assert_eq!((one.asked.load(Ordering::Relaxed), two.asked.load(Ordering::Relaxed)), (1, 1));
}

#[test]
fn every_kind_of_memory_names_the_same_set() {
    fake::install();
    let mut buffer = DeviceBuffer::new(8).unwrap();
    let set: *const _ = buffer.registrations().unwrap().0;
    let borrowed = &mut buffer;
    assert_eq!(
        borrowed.registrations().map(|(set, access)| (&raw const *set, access)),
        Some((set, Access::Exclusive))
    );
    let shared = Arc::new(buffer);
    let (of_shared, access) = DeviceMemory::registrations(&shared).unwrap();
    assert_eq!(
        (&raw const *of_shared, access),
        (&raw const *shared.registrations().unwrap().0, Access::Shared)
    );
    assert_eq!(DeviceMemory::as_ptr(&shared), shared.as_ptr());
    assert_eq!((DeviceMemory::len(&shared), DeviceMemory::device(&shared)), (8, shared.device()));
    assert!(!DeviceMemory::is_empty(&shared));
}

#[test]
fn forgetting_a_buffer_leaks_it_uncounted() {
    let _alone = fake::leaking_alone();
    fake::install();
    let before = leaked();
    mem::forget(DeviceBuffer::new(8).unwrap());
    assert_eq!(fake::allocations(), 1);
    assert_eq!(leaked(), before);
}
