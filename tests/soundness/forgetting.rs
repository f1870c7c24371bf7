//! SND-02, SND-03: guards that are forgotten. Memory that the library remembers must not come to be somebody else's.

use std::mem;
use std::sync::Arc;

use hipfile::alloc::{self, DeviceBuffer};
use hipfile::{Driver, ErrorKind, Registered};
use hipfile_tests::isolate::{LEAKS, isolated};

use crate::support::{allocate_at, library_knows, pattern, prepared};

const SIZE: usize = 64 * 1024;
const PAGE: usize = 4096;

/// SND-03. Forget a registration of a part, drop the memory, get the address again, register all of it: the old
/// length must be gone, for the library would refuse what is beyond it.
#[test]
fn forget_then_drop_then_allocate_again() {
    isolated("forgetting::forget_then_drop_then_allocate_again", &[LEAKS], || {
        let bytes = pattern(SIZE, 1);
        let prepared = prepared(&bytes);
        let mut memory = DeviceBuffer::new(SIZE).unwrap();
        let address = memory.as_ptr();
        mem::forget(prepared.driver.register_range(&mut memory, ..PAGE).unwrap());
        assert!(library_knows(address));
        drop(memory);
        assert_eq!(alloc::leaked().allocations, 0);
        let Some(mut again) = allocate_at(address, SIZE) else { return };
        assert!(!library_knows(address));
        let mut registered = prepared.driver.register(&mut again).unwrap();
        prepared.file.read_exact_at(registered.slice_mut(..).unwrap(), 0).unwrap();
        drop(registered);
        assert!(again.to_vec().unwrap() == bytes);
        again.free().unwrap();
    });
}

/// SND-03. The dangerous direction: the old length is longer than the new memory. Were the entry still there,
/// the library would take a range that leaves the new memory.
#[test]
fn a_longer_forgotten_registration_does_not_cover_shorter_memory() {
    isolated("forgetting::a_longer_forgotten_registration_does_not_cover_shorter_memory", &[LEAKS], || {
        let prepared = prepared(&pattern(SIZE, 2));
        let mut memory = DeviceBuffer::new(SIZE).unwrap();
        let address = memory.as_ptr();
        mem::forget(prepared.driver.register(&mut memory).unwrap());
        drop(memory);
        let Some(mut short) = allocate_at(address, PAGE) else { return };
        let mut neighbour = DeviceBuffer::zeroed(SIZE - PAGE).unwrap();
        let handle = prepared.file.as_raw();
        let api = hipfile::sys::api::get().unwrap();
        // SAFETY: requires device memory of the size, or a refusal; what is asked for leaves `short`, so a refusal it is.
        let moved = unsafe { (api.hipFileRead)(handle, short.as_ptr(), SIZE, 0, 0) };
        assert_eq!(moved, -5022);
        let mut registered = prepared.driver.register(&mut short).unwrap();
        assert_eq!(registered.slice_mut(..SIZE).unwrap_err().kind(), ErrorKind::OutOfRange);
        prepared.file.read_exact_at(registered.slice_mut(..).unwrap(), 0).unwrap();
        drop(registered);
        assert!(neighbour.to_vec().unwrap().iter().all(|byte| *byte == 0));
        neighbour.fill(1).unwrap();
    });
}

/// SND-03. Forget, then use the memory again without a drop between: plainly, and registered anew, twice.
#[test]
fn forget_then_register_again() {
    isolated("forgetting::forget_then_register_again", &[LEAKS], || {
        let bytes = pattern(SIZE, 3);
        let prepared = prepared(&bytes);
        let mut memory = DeviceBuffer::new(SIZE).unwrap();
        let address = memory.as_ptr();
        mem::forget(prepared.driver.register_range(&mut memory, ..16).unwrap());
        for _ in 0..2 {
            let mut registered = prepared.driver.register(&mut memory).unwrap();
            assert_eq!(registered.len(), SIZE);
            prepared.file.read_exact_at(registered.slice_mut(..).unwrap(), 0).unwrap();
            mem::forget(registered);
            assert!(memory.to_vec().unwrap() == bytes);
            memory.fill(0).unwrap();
        }
        let registered = prepared.driver.register(&mut memory).unwrap();
        drop(registered);
        assert!(!library_knows(address));
        memory.free().unwrap();
    });
}

/// SND-03. The library enforces the length of a forgotten part on plain slices that begin where it begins. That
/// may refuse a transfer, and moves no byte to a wrong place. Registering makes it good.
#[test]
fn forget_then_use_without_registering() {
    isolated("forgetting::forget_then_use_without_registering", &[LEAKS], || {
        let bytes = pattern(SIZE, 4);
        let prepared = prepared(&bytes);
        let mut memory = DeviceBuffer::new(SIZE).unwrap();
        mem::forget(prepared.driver.register_range(&mut memory, ..16).unwrap());
        memory.fill(0xee).unwrap();
        match prepared.file.read_exact_at(memory.slice_mut(..).unwrap(), 0) {
            Ok(()) => assert!(memory.to_vec().unwrap() == bytes),
            Err(error) => {
                assert_eq!((error.kind(), error.bytes_done()), (ErrorKind::InvalidInput, 0));
                assert!(memory.to_vec().unwrap().iter().all(|byte| *byte == 0xee));
            }
        }
        drop(prepared.driver.register(&mut memory).unwrap());
        prepared.file.read_exact_at(memory.slice_mut(..).unwrap(), 0).unwrap();
        assert!(memory.to_vec().unwrap() == bytes);
    });
}

/// SND-03. Two parts, one after the other, forgotten: registering the second removes what the first left, and
/// freeing the memory what the second left.
#[test]
fn two_parts_forgotten() {
    isolated("forgetting::two_parts_forgotten", &[LEAKS], || {
        let prepared = prepared(&pattern(SIZE, 5));
        let mut memory = DeviceBuffer::new(SIZE).unwrap();
        let first = prepared.driver.register_range(&mut memory, ..PAGE).unwrap();
        let low = first.as_ptr();
        mem::forget(first);
        let second = prepared.driver.register_range(&mut memory, 2 * PAGE..3 * PAGE).unwrap();
        let high = second.as_ptr();
        mem::forget(second);
        assert_eq!((library_knows(low), library_knows(high)), (false, true));
        memory.free().unwrap();
        assert_eq!((library_knows(low), library_knows(high)), (false, false));
        assert_eq!(alloc::leaked().allocations, 0);
    });
}

/// SND-03. Two parts of shared memory are registered at once. Forgotten guards keep their `Arc`, so the memory
/// is never freed.
#[test]
fn two_parts_of_shared_memory_forgotten() {
    isolated("forgetting::two_parts_of_shared_memory_forgotten", &[LEAKS], || {
        let prepared = prepared(&pattern(SIZE, 6));
        let memory = Arc::new(DeviceBuffer::new(SIZE).unwrap());
        let register = |range| prepared.driver.register_range(Arc::clone(&memory), range);
        let (first, second) = (register(0..PAGE).unwrap(), register(2 * PAGE..3 * PAGE).unwrap());
        let (low, high) = (first.as_ptr(), second.as_ptr());
        mem::forget(first);
        mem::forget(second);
        assert_eq!(Arc::strong_count(&memory), 3);
        // The same base: counted with the same length, refused with another one.
        let again = register(0..PAGE).unwrap();
        assert_eq!(register(0..2 * PAGE).unwrap_err().kind(), ErrorKind::AlreadyRegistered);
        drop(again);
        assert_eq!((library_knows(low), library_knows(high)), (true, true));
        assert!(Arc::try_unwrap(memory).is_err());
    });
}

/// SND-03. `into_raw` hands out memory that the library does not remember.
#[test]
fn into_raw_after_forgetting() {
    isolated("forgetting::into_raw_after_forgetting", &[LEAKS], || {
        let bytes = pattern(SIZE, 7);
        let prepared = prepared(&bytes);
        let mut memory = DeviceBuffer::from_host(&bytes).unwrap();
        mem::forget(prepared.driver.register_range(&mut memory, ..PAGE).unwrap());
        let raw = memory.into_raw().unwrap();
        assert!(!library_knows(raw.allocation));
        // SAFETY: requires the parts of a buffer that nobody freed; holds because they have just been taken out.
        let mut memory = unsafe { DeviceBuffer::from_raw(raw) };
        assert!(memory.to_vec().unwrap() == bytes);
        let mut registered = prepared.driver.register(&mut memory).unwrap();
        prepared.file.read_exact_at(registered.slice_mut(..).unwrap(), 0).unwrap();
        drop(registered);
        memory.free().unwrap();
    });
}

/// SND-02. A forgotten owner takes the memory along: its address is never given out again.
#[test]
fn forgotten_owners_keep_their_memory() {
    isolated("forgetting::forgotten_owners_keep_their_memory", &[LEAKS], || {
        let driver = Driver::open().unwrap();
        let registered = driver.register(DeviceBuffer::new(SIZE).unwrap()).unwrap();
        let address = registered.as_ptr();
        mem::forget(registered);
        for _ in 0..32 {
            let other = DeviceBuffer::new(SIZE).unwrap();
            let apart = other.as_ptr().addr().abs_diff(address.addr());
            assert!(apart >= SIZE, "{:p} {address:p}", other.as_ptr());
            mem::forget(other);
        }
        assert!(library_knows(address));
    });
}

/// SND-07. A forgotten guard holds the driver: nobody closes the library under the entry that is left.
#[test]
fn forgotten_guards_keep_the_driver_open() {
    isolated("forgetting::forgotten_guards_keep_the_driver_open", &[LEAKS], || {
        let driver = Driver::open().unwrap();
        let mut memory = DeviceBuffer::new(SIZE).unwrap();
        mem::forget(driver.register(&mut memory).unwrap());
        let refused = driver.close().unwrap_err();
        assert_eq!(refused.error().kind(), ErrorKind::Busy);
        let driver = refused.into_inner();
        drop(driver);
        let registered = Driver::open().unwrap().register(&mut memory).unwrap();
        drop(registered);
        memory.free().unwrap();
    });
}

/// SND-02. Guards that refer to each other, never dropped: as forgotten.
#[test]
fn cycles_are_forgotten_guards() {
    isolated("forgetting::cycles_are_forgotten_guards", &[LEAKS], || {
        struct Node<'memory> {
            _registered: Registered<&'memory mut DeviceBuffer>,
            next: std::cell::RefCell<Option<std::rc::Rc<Node<'memory>>>>,
        }
        let driver = Driver::open().unwrap();
        let mut memory = DeviceBuffer::new(SIZE).unwrap();
        let address = memory.as_ptr();
        {
            let registered = driver.register(&mut memory).unwrap();
            let node = std::rc::Rc::new(Node { _registered: registered, next: Default::default() });
            *node.next.borrow_mut() = Some(std::rc::Rc::clone(&node));
        }
        assert!(library_knows(address));
        memory.fill(1).unwrap();
        drop(memory);
        assert!(!library_knows(address));
    });
}
