//! The life of registrations, on the real library.

use std::mem;
use std::sync::Arc;

use hipfile::alloc::{self, Device, DeviceBuffer, DeviceMemory, DeviceMemoryMut};
use hipfile::{Driver, ErrorKind, OpError, Registered};
use hipfile_tests::isolate::alone;

use crate::common::{Scratch, open};

/// Whether the library has a registration with this base, asked without leaving a trace.
fn known(base: *mut std::ffi::c_void) -> bool {
    let api = hipfile::sys::api::get().unwrap();
    // SAFETY: requires memory that stays allocated; it is deregistered at once if this registered it.
    let answer = unsafe { (api.hipFileBufRegister)(base, 1, 0) };
    if answer.err == hipfile::sys::hipFileMemoryAlreadyRegistered {
        return true;
    }
    // SAFETY: requires nothing; an unknown base is an answer.
    let _ = unsafe { (api.hipFileBufDeregister)(base) };
    false
}

/// HF-BUF-01, HF-BUF-21.
#[test]
fn each_kind_of_owner_registers_and_deregisters() {
    let driver = Driver::open().unwrap();
    let mut memory = DeviceBuffer::new(4096).unwrap();
    let base = memory.as_ptr();
    let registered = driver.register(&mut memory).unwrap();
    assert_eq!((registered.as_ptr(), registered.len(), registered.is_empty()), (base, 4096, false));
    assert!(known(base));
    assert_eq!(
        format!("{registered:?}"),
        format!("Registered {{ base: {base:?}, len: 4096, device: Device(0), .. }}")
    );
    drop(registered);
    assert!(!known(base));

    let registered = driver.register(memory).unwrap();
    assert!(known(base));
    let memory = registered.deregister().unwrap();
    assert!(!known(base));

    let memory = Arc::new(memory);
    let registered = driver.register(Arc::clone(&memory)).unwrap();
    assert!(known(base));
    drop(registered);
    assert!(!known(base));
}

/// HF-BUF-02, SND-03: the second of two guards that share memory makes no call, the first that goes makes none either.
#[test]
fn shared_registrations_are_counted() {
    let driver = Driver::open().unwrap();
    let memory = Arc::new(DeviceBuffer::new(4096).unwrap());
    let base = memory.as_ptr();
    let first = driver.register(Arc::clone(&memory)).unwrap();
    let second = driver.register(Arc::clone(&memory)).unwrap();
    let error = driver.register_range(Arc::clone(&memory), ..2048).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyRegistered);
    let text = error.to_string();
    assert!(
        text.starts_with("register memory: ") && text.contains("4096") && text.contains("2048"),
        "{text}"
    );
    let elsewhere = driver.register_range(Arc::clone(&memory), 2048..).unwrap();
    drop(first);
    assert!(known(base));
    drop(elsewhere);
    second.deregister().unwrap();
    assert!(!known(base));
}

/// SND-02, SND-03: forget, then register again without a drop; two parts forgotten.
#[test]
fn what_forgotten_guards_left_is_removed_first() {
    let scratch = Scratch::new();
    let driver = Driver::open().unwrap();
    let file = open(&driver, &scratch.file("data", &[7; 8192]));
    let mut memory = DeviceBuffer::zeroed(8192).unwrap();
    let base = memory.as_ptr();
    mem::forget(driver.register(&mut memory).unwrap());
    assert!(known(base));
    // The same base with another length: the library would enforce the old one.
    mem::forget(driver.register_range(&mut memory, ..4096).unwrap());
    mem::forget(driver.register_range(&mut memory, 4096..).unwrap());
    let middle = base.cast::<u8>().wrapping_add(4096).cast();
    assert!(!known(base), "registering the second half removed the first");
    assert!(known(middle));
    let mut registered = driver.register(&mut memory).unwrap();
    assert!(!known(middle));
    file.read_exact_at(registered.slice_mut(..).unwrap(), 0).unwrap();
    drop(registered);
    assert!(!known(base));
    assert_eq!(memory.to_vec().unwrap(), [7; 8192]);
}

/// SND-03: forget, drop the memory, allocate again at the same address with less behind it.
#[test]
fn memory_freed_after_a_forgotten_guard_leaves_no_entry() {
    alone("registered::memory_freed_after_a_forgotten_guard_leaves_no_entry", || {
        let driver = Driver::open().unwrap();
        let free = Device::current().unwrap().memory_info().unwrap().free;
        let mut memory = DeviceBuffer::new(1 << 20).unwrap();
        let base = memory.as_ptr();
        mem::forget(driver.register(&mut memory).unwrap());
        drop(memory);
        assert_eq!(Device::current().unwrap().memory_info().unwrap().free, free, "it was freed");
        assert_eq!(alloc::leaked(), alloc::Leaked::default());

        let again = DeviceBuffer::new(4096).unwrap();
        if again.as_ptr() != base {
            println!("note: the allocator gave another address");
        }
        let registered = driver.register(again).unwrap();
        assert_eq!(registered.len(), 4096);

        let mut memory = DeviceBuffer::from_host(b"taken apart").unwrap();
        mem::forget(driver.register(&mut memory).unwrap());
        let raw = memory.into_raw().unwrap();
        assert!(!known(raw.allocation));
        // SAFETY: requires the parts of a buffer; holds because `into_raw` gave them.
        let memory = unsafe { DeviceBuffer::from_raw(raw) };
        assert_eq!(memory.to_vec().unwrap(), b"taken apart");
    });
}

/// SND-02: a forgotten owner keeps its memory.
#[test]
fn forgotten_owners_never_free() {
    alone("registered::forgotten_owners_never_free", || {
        let driver = Driver::open().unwrap();
        let info = || Device::current().unwrap().memory_info().unwrap().free;
        let owned = DeviceBuffer::new(1 << 20).unwrap();
        let shared = Arc::new(DeviceBuffer::new(1 << 20).unwrap());
        let (free, base, other) = (info(), owned.as_ptr(), shared.as_ptr());
        mem::forget(driver.register(owned).unwrap());
        mem::forget(driver.register(Arc::clone(&shared)).unwrap());
        // Sharing it again, after the forgotten guard and beside it, works.
        let again = driver.register(Arc::clone(&shared)).unwrap();
        drop((again, shared));
        assert_eq!(info(), free);
        assert!(known(base) && known(other));
    });
}

/// HF-BUF-24: an entry that other code left for memory it freed. Its length would be enforced against ours.
#[test]
fn an_entry_left_by_others_is_replaced() {
    let scratch = Scratch::new();
    let driver = Driver::open().unwrap();
    let memory = DeviceBuffer::new(8192).unwrap();
    let api = hipfile::sys::api::get().unwrap();
    // SAFETY: requires memory that stays allocated; it does.
    let answer = unsafe { (api.hipFileBufRegister)(memory.as_ptr(), 16, 0) };
    assert_eq!(answer.err, hipfile::sys::hipFileSuccess);
    let mut registered = driver.register(memory).unwrap();
    let file = open(&driver, &scratch.file("data", &[9; 8192]));
    file.read_exact_at(registered.slice_mut(..).unwrap(), 0).unwrap();
    assert_eq!(registered.deregister().unwrap().to_vec().unwrap(), [9; 8192]);
}

/// HF-BUF-02: one of ours is not: the second registration is refused and the first goes on.
#[test]
fn a_live_registration_is_not_replaced() {
    let scratch = Scratch::new();
    let driver = Driver::open().unwrap();
    let mut memory = DeviceBuffer::zeroed(8192).unwrap();
    // SAFETY: requires device memory that outlives the guard and is used through it alone; it is.
    let mut raw = unsafe { Registered::from_raw(&driver, memory.as_ptr(), 8192, 0) }.unwrap();
    let error = driver.register_range(&mut memory, ..16).unwrap_err();
    assert_eq!(
        (error.kind(), error.op_error()),
        (ErrorKind::AlreadyRegistered, Some(OpError::MemoryAlreadyRegistered))
    );
    assert_eq!(
        error.to_string(),
        "register memory: device pointer is already registered (5023 hipFileMemoryAlreadyRegistered) by this process"
    );
    let file = open(&driver, &scratch.file("data", &[9; 8192]));
    file.read_exact_at(raw.slice_mut(..).unwrap(), 0).unwrap();
    drop(raw);
    drop(driver.register_range(&mut memory, ..16).unwrap());
    assert_eq!(memory.to_vec().unwrap(), [9; 8192]);
}

/// What can't be registered comes back, untouched.
#[test]
fn a_failed_registration_returns_the_memory() {
    let driver = Driver::open().unwrap();
    let memory = DeviceBuffer::from_host(b"kept").unwrap();
    let (error, memory) = driver.try_register_range(memory, 2..5).unwrap_err().into_parts();
    assert_eq!(error.to_string(), "register memory: bytes 2..5 are not within 0..4");
    let (error, memory) = driver.try_register_range(memory, 4..).unwrap_err().into_parts();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    let (error, _empty) = driver.try_register(DeviceBuffer::new(0).unwrap()).unwrap_err().into_parts();
    assert_eq!(
        error.to_string(),
        "register memory: memory of 0 bytes can't be registered, at least 1 is needed"
    );
    assert_eq!(memory.to_vec().unwrap(), b"kept");
}

/// A framework's tensor, in memory of its own.
struct Tensor(DeviceBuffer);

// SAFETY: requires a stable description of memory that goes with the value and is written through `&mut` only; holds for
// the private buffer.
unsafe impl DeviceMemory for Tensor {
    fn as_ptr(&self) -> *mut std::ffi::c_void {
        self.0.as_ptr()
    }
    fn len(&self) -> usize {
        self.0.len()
    }
    fn device(&self) -> Device {
        self.0.device()
    }
}

// SAFETY: requires memory that the value has to itself; holds for the private buffer.
unsafe impl DeviceMemoryMut for Tensor {}

/// Memory of other crates, by value and shared.
#[test]
fn a_framework_s_own_memory_registers() {
    let scratch = Scratch::new();
    let driver = Driver::open().unwrap();
    let file = open(&driver, &scratch.file("data", b"0123456789"));
    let mut tensor = driver.register(Tensor(DeviceBuffer::zeroed(10).unwrap())).unwrap();
    file.read_exact_at(tensor.slice_mut(..).unwrap(), 0).unwrap();
    let tensor = tensor.deregister().unwrap();
    assert_eq!(tensor.0.to_vec().unwrap(), b"0123456789");

    let tensor = Arc::new(tensor);
    let base = tensor.0.as_ptr();
    let first = driver.register(Arc::clone(&tensor)).unwrap();
    // It keeps no note of its registrations, so that a second one is the same memory is not known.
    let error = driver.register(Arc::clone(&tensor)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AlreadyRegistered);
    file.write_all_at(first.slice(5..).unwrap(), 0).unwrap();
    drop(first);
    assert!(!known(base));
}
