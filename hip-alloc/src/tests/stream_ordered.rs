//! Memory that is allocated and freed in the order of a stream. SND-03, SND-09.

use core::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::fake;
use super::fake_handles::streams_and_events;
use crate::{Device, DeviceBuffer, DeviceMemory, ErrorKind, RegistrationHook, Removal, Stream, leaked};

/// A library that keeps what it has the first `keeps` times, and sees what HIP had been asked until then.
struct Library {
    keeps: usize,
    asked: AtomicUsize,
}

// SAFETY: requires that Removed means removed; holds because nothing real is registered.
unsafe impl RegistrationHook for Library {
    fn deregister(&self, _base: *mut c_void) -> Removal {
        assert_eq!(fake::calls(), [""; 0], "the registration goes before the memory");
        if self.asked.fetch_add(1, Ordering::Relaxed) < self.keeps { Removal::Kept } else { Removal::Removed }
    }
}

/// A buffer that a library remembers, after its guard was forgotten.
fn registered(stream: &Stream, keeps: usize) -> (DeviceBuffer, Arc<Library>) {
    let mut buffer = DeviceBuffer::new_on(stream, 64).unwrap();
    let library = Arc::new(Library { keeps, asked: AtomicUsize::new(0) });
    let memory = &mut buffer;
    let (set, access) = memory.registrations().unwrap();
    // SAFETY: requires that the memory is let go only by forgetting; holds because no guard was made.
    let attached =
        unsafe { set.attach("test", access, memory.as_ptr(), 64, library.clone(), || Ok::<(), ()>(())) };
    attached.unwrap();
    fake::calls();
    (buffer, library)
}

fn on_second() -> Stream {
    let _guard = Device::new(1).unwrap().make_current().unwrap();
    Stream::new().unwrap()
}

#[test]
fn it_is_freed_on_its_stream_which_it_keeps_alive() {
    fake::install();
    let stream = on_second();
    fake::calls();
    let mut buffer = DeviceBuffer::new_on(&stream, 16).unwrap();
    let on_device =
        |calls: &[&'static str]| [&["hipGetDevice", "hipSetDevice"], calls, &["hipSetDevice"]].concat();
    assert_eq!(
        fake::calls(),
        [on_device(&["hipMallocAsync", "hipMalloc"]), on_device(&["hipStreamSynchronize"])].concat()
    );
    assert_eq!((buffer.len(), buffer.device()), (16, stream.device()));
    drop(stream);
    buffer.fill(7).unwrap();
    assert_eq!(buffer.to_vec().unwrap(), [7; 16]);
    fake::calls();
    drop(buffer);
    assert_eq!(
        fake::calls(),
        [on_device(&["hipFreeAsync", "hipFree"]), on_device(&["hipStreamDestroy"])].concat()
    );
    assert_eq!((fake::allocations(), streams_and_events(), fake::current_device()), (0, (0, 0), 0));
}

#[test]
fn raw_parts_leave_the_stream_behind() {
    fake::install();
    let raw = DeviceBuffer::new_on(&Stream::new().unwrap(), 16).unwrap().into_raw().unwrap();
    assert_eq!(streams_and_events(), (0, 0));
    fake::calls();
    // SAFETY: requires parts that nobody else frees; holds because they were just taken.
    unsafe { DeviceBuffer::from_raw(raw) }.free().unwrap();
    assert_eq!(fake::calls(), ["hipGetDevice", "hipFree"]);
}

#[test]
fn no_length_reaches_hip_that_it_cannot_have() {
    fake::install();
    let stream = Stream::new().unwrap();
    fake::calls();
    let empty = DeviceBuffer::new_on(&stream, 0).unwrap();
    assert!(empty.as_ptr().is_null());
    drop(empty);
    for len in [usize::MAX, isize::MAX as usize + 1] {
        let error = DeviceBuffer::new_on(&stream, len).unwrap_err();
        assert_eq!((error.kind(), error.operation()), (ErrorKind::InvalidInput, "DeviceBuffer::new_on"));
    }
    assert_eq!(fake::calls(), [""; 0]);
    assert_eq!(
        DeviceBuffer::new_on(&stream, 1 << 40).unwrap_err().to_string(),
        "DeviceBuffer::new_on: hipMallocAsync of 1099511627776 bytes on device 0 failed: \
         hipErrorOutOfMemory (2): out of memory; 1000 of 4000 bytes are free"
    );
}

#[test]
fn devices_without_pools_and_null_addresses() {
    fake::install();
    let stream = Stream::new().unwrap();
    for (code, kind) in [(801, ErrorKind::Unsupported), (0, ErrorKind::OutOfMemory)] {
        fake::fail("hipMallocAsync", 1, code);
        fake::fail("hipMalloc", 1, code);
        assert_eq!(DeviceBuffer::new_on(&stream, 8).unwrap_err().kind(), kind);
        fake::fail_no_more();
    }
}

#[test]
fn a_wait_that_fails_frees_in_the_order_of_the_stream() {
    fake::install();
    let stream = Stream::new().unwrap();
    fake::fail("hipStreamSynchronize", 1, 719);
    let error = DeviceBuffer::new_on(&stream, 8).unwrap_err();
    assert_eq!((error.kind(), error.operation()), (ErrorKind::Hip, "DeviceBuffer::new_on"));
    assert_eq!(fake::calls().last(), Some(&"hipFree"));
    assert_eq!(fake::allocations(), 0);
}

#[test]
fn a_forgotten_registration_goes_first_or_the_memory_stays() {
    let _alone = fake::leaking_alone();
    fake::install();
    let stream = Stream::new().unwrap();
    let (buffer, library) = registered(&stream, 0);
    drop(buffer);
    assert_eq!((library.asked.load(Ordering::Relaxed), fake::allocations()), (1, 0));

    let (buffer, _library) = registered(&stream, 1);
    let failed = buffer.free().unwrap_err();
    assert_eq!(failed.error().kind(), ErrorKind::Busy);
    assert_eq!(fake::calls(), [""; 0]);
    failed.into_inner().free().unwrap();

    let (buffer, _library) = registered(&stream, usize::MAX);
    let before = leaked();
    drop(buffer);
    assert_eq!((leaked().bytes - before.bytes, fake::allocations()), (64, 1));
    assert_eq!(fake::calls(), [""; 0], "nothing is freed");
}

#[test]
fn a_free_that_fails_is_counted() {
    let _alone = fake::leaking_alone();
    fake::install();
    let buffer = DeviceBuffer::new_on(&Stream::new().unwrap(), 100).unwrap();
    let before = leaked();
    fake::fail("hipFreeAsync", 1, 719);
    drop(buffer);
    let after = leaked();
    assert_eq!((after.allocations - before.allocations, after.bytes - before.bytes), (1, 100));
}
