//! SND-02, SND-03, SND-09: what forgetting, swapping and refusing libraries can do to memory that is registered.

use std::ffi::c_void;
use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use hip_alloc::{
    Access, DeviceBuffer, DeviceMemory, DeviceMemoryMut, ErrorKind, RegistrationHook, Removal, SetError,
    Stream, leaked,
};

/// A library that remembers base and length, as strict as libhipfile.
#[derive(Default)]
struct Library {
    table: Mutex<Vec<(usize, usize)>>,
    busy: AtomicBool,
}

impl Library {
    fn register(&self, base: usize, len: usize) -> Result<(), &'static str> {
        let mut table = self.table.lock().unwrap();
        if table.iter().any(|(known, _)| *known == base) {
            return Err("already registered");
        }
        table.push((base, len));
        Ok(())
    }

    fn remove(&self, base: usize) -> Result<(), &'static str> {
        if self.busy.load(Ordering::SeqCst) {
            return Err("busy");
        }
        self.table.lock().unwrap_or_else(PoisonError::into_inner).retain(|(known, _)| *known != base);
        Ok(())
    }

    fn lengths(&self) -> Vec<usize> {
        let mut lengths: Vec<_> = self.table.lock().unwrap().iter().map(|(_, len)| *len).collect();
        lengths.sort_unstable();
        lengths
    }
}

struct Hook(Arc<Library>);

// SAFETY: requires that Removed means removed; holds because the table says so.
unsafe impl RegistrationHook for Hook {
    fn deregister(&self, base: *mut c_void) -> Removal {
        if self.0.remove(base.addr()).is_ok() { Removal::Removed } else { Removal::Kept }
    }
}

/// What hipfile's guard is, in short.
struct Registered<M: DeviceMemory> {
    memory: Option<M>,
    base: *mut c_void,
    library: Arc<Library>,
}

fn register<M: DeviceMemory>(
    library: &Arc<Library>,
    memory: M,
    range: std::ops::Range<usize>,
) -> Result<Registered<M>, SetError<&'static str>> {
    let (offset, len) = (range.start, range.len());
    let base = memory.as_ptr().cast::<u8>().wrapping_add(offset).cast::<c_void>();
    let (set, access) = memory.registrations().unwrap();
    let hook = Arc::new(Hook(Arc::clone(library)));
    // SAFETY: requires bytes of the set's allocation and a guard that detaches or abandons before it lets go of them; holds
    // because the tests give ranges within, and `Registered` does.
    unsafe { set.attach("register", access, base, len, hook, || library.register(base.addr(), len)) }?;
    Ok(Registered { memory: Some(memory), base, library: Arc::clone(library) })
}

impl<M: DeviceMemory> Drop for Registered<M> {
    fn drop(&mut self) {
        let Some(memory) = self.memory.take() else { return };
        let (set, _) = memory.registrations().unwrap();
        // SAFETY: requires a live guard that ends on success; holds because this is the guard, and it is being dropped.
        let detached =
            unsafe { set.detach("deregister", self.base, || self.library.remove(self.base.addr())) };
        if detached.is_err() {
            // SAFETY: requires a live guard that ends; holds as above.
            unsafe { set.abandon(self.base) };
        }
    }
}

fn busy_kind<M: DeviceMemory>(answer: Result<Registered<M>, SetError<&'static str>>) -> ErrorKind {
    match answer {
        Err(SetError::Refused(error)) => error.kind(),
        Err(SetError::Call(text)) => panic!("the library was asked: {text}"),
        Ok(_) => panic!("registered"),
    }
}

#[test]
fn a_forgotten_guard_then_a_drop_then_the_same_address_again() {
    let library = Arc::default();
    let stream = Stream::new().unwrap();
    let mut addresses = Vec::new();
    // Allocators like to give the address just freed; each round registers another length there.
    for round in 1..=50 {
        let mut buffer = match round % 2 {
            0 => DeviceBuffer::new(1 << 16),
            _ => DeviceBuffer::new_on(&stream, 1 << 16),
        }
        .unwrap();
        addresses.push(buffer.as_ptr().addr());
        mem::forget(register(&library, &mut buffer, 0..round * 64).unwrap());
        assert_eq!(library.lengths(), [round * 64]);
        drop(buffer);
        assert_eq!(library.lengths(), [0; 0]);
    }
    addresses.sort_unstable();
    addresses.dedup();
    println!("{} addresses in 50 rounds", addresses.len());
}

#[test]
fn a_forgotten_guard_then_another_without_a_drop() {
    let library = Arc::default();
    let mut buffer = DeviceBuffer::new(4096).unwrap();
    mem::forget(register(&library, &mut buffer, 0..4096).unwrap());
    mem::forget(register(&library, &mut buffer, 0..64).unwrap());
    assert_eq!(library.lengths(), [64], "the old length is gone");
    // By value, in an Arc, and mutably again.
    let guard = register(&library, buffer, 0..32).unwrap();
    assert_eq!(library.lengths(), [32]);
    drop(guard);
    assert_eq!(library.lengths(), [0; 0]);
}

#[test]
fn two_forgotten_parts() {
    let library = Arc::default();
    let buffer = Arc::new(DeviceBuffer::new(4096).unwrap());
    mem::forget(register(&library, &mut DeviceBuffer::new(64).unwrap(), 0..64).unwrap());
    assert_eq!(library.lengths(), [0; 0], "dropped at the end of the statement");
    let first = register(&library, Arc::clone(&buffer), 0..100).unwrap();
    let second = register(&library, Arc::clone(&buffer), 200..400).unwrap();
    assert_eq!(library.lengths(), [100, 200]);
    drop((first, second));
    let mut buffer = Arc::into_inner(buffer).unwrap();
    // Both through `&mut`: the second removes the first, which a live guard would have forbidden.
    mem::forget(register(&library, &mut buffer, 0..100).unwrap());
    mem::forget(register(&library, &mut buffer, 200..400).unwrap());
    assert_eq!(library.lengths(), [200]);
    buffer.free().unwrap();
    assert_eq!(library.lengths(), [0; 0]);
}

#[test]
fn forgotten_sharers_keep_the_memory() {
    let library = Arc::default();
    let buffer = Arc::new(DeviceBuffer::from_host(b"shared").unwrap());
    mem::forget(register(&library, Arc::clone(&buffer), 0..6).unwrap());
    let live = register(&library, Arc::clone(&buffer), 0..6).unwrap();
    assert_eq!(busy_kind(register(&library, Arc::clone(&buffer), 0..5)), ErrorKind::AlreadyRegistered);
    drop(live);
    assert_eq!(library.lengths(), [6]);
    let buffer = Arc::try_unwrap(buffer).unwrap_err();
    assert_eq!(buffer.to_vec().unwrap(), b"shared");
}

#[test]
fn dropped_while_the_library_says_busy() {
    let library = Arc::<Library>::default();
    let mut buffer = DeviceBuffer::from_host(b"in flight").unwrap();
    let address = buffer.as_ptr();
    mem::forget(register(&library, &mut buffer, 0..9).unwrap());
    library.busy.store(true, Ordering::SeqCst);
    assert_eq!(busy_kind(register(&library, &mut buffer, 0..9)), ErrorKind::Busy);
    let failed = buffer.free().unwrap_err();
    assert_eq!(failed.error().kind(), ErrorKind::Busy);
    let (error, buffer) = failed.into_inner().into_raw().unwrap_err().into_parts();
    assert_eq!(error.kind(), ErrorKind::Busy);
    let (before, device) = (leaked(), buffer.device());
    drop(buffer);
    // Other tests of this process leak nothing of this size.
    assert!(leaked().bytes >= before.bytes + 9 && leaked().allocations > before.allocations);
    // SAFETY: requires live memory that nobody writes; holds because it was leaked.
    let slice = unsafe { hip_alloc::DeviceSlice::from_raw_parts(address, 9, device) };
    assert_eq!(slice.to_vec().unwrap(), b"in flight");
    assert_eq!(library.lengths(), [9]);
}

#[test]
fn a_guard_dropped_while_busy_is_made_up_for_later() {
    let library = Arc::<Library>::default();
    let buffer = Arc::new(DeviceBuffer::new(64).unwrap());
    let guard = register(&library, Arc::clone(&buffer), 0..64).unwrap();
    library.busy.store(true, Ordering::SeqCst);
    drop(guard);
    assert_eq!(library.lengths(), [64]);
    library.busy.store(false, Ordering::SeqCst);
    let other = register(&library, Arc::clone(&buffer), 0..32).unwrap();
    assert_eq!(library.lengths(), [32]);
    drop(other);
    Arc::into_inner(buffer).unwrap().free().unwrap();
}

#[test]
fn swapped_buffers_take_their_registrations_along() {
    let library = Arc::default();
    let mut kept = DeviceBuffer::new(64).unwrap();
    {
        let mut gone = DeviceBuffer::new(128).unwrap();
        mem::forget(register(&library, &mut kept, 0..64).unwrap());
        mem::forget(register(&library, &mut gone, 0..128).unwrap());
        mem::swap(&mut kept, &mut gone);
    }
    assert_eq!((library.lengths(), kept.len()), (vec![128], 128));
    mem::take(&mut Some(kept));
    assert_eq!(library.lengths(), [0; 0]);
}

#[test]
fn into_raw_hands_over_unregistered_memory() {
    let library = Arc::default();
    let mut buffer = DeviceBuffer::from_host(b"raw").unwrap();
    mem::forget(register(&library, &mut buffer, 0..3).unwrap());
    let raw = buffer.into_raw().unwrap();
    assert_eq!(library.lengths(), [0; 0]);
    // SAFETY: requires parts that nobody else frees; holds because they were just taken.
    let buffer = unsafe { DeviceBuffer::from_raw(raw) };
    assert_eq!(buffer.to_vec().unwrap(), b"raw");
}

#[test]
fn sharers_on_many_threads_register_once_at_a_time() {
    let library = Arc::default();
    let buffer = Arc::new(DeviceBuffer::new(4096).unwrap());
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (library, buffer) = (&library, &buffer);
            scope.spawn(move || {
                for round in 0..200 {
                    let offset = 1024 * ((thread + round) % 3);
                    let guard = register(library, Arc::clone(buffer), offset..offset + 512).unwrap();
                    assert!(library.lengths().len() <= 3);
                    if round % 50 == 49 {
                        mem::forget(Arc::clone(buffer));
                    }
                    drop(guard);
                }
            });
        }
    });
    assert_eq!(library.lengths(), [0; 0]);
}

#[test]
fn access_follows_from_who_holds_the_memory() {
    fn writable<M: DeviceMemoryMut>(memory: &M) -> Access {
        memory.registrations().unwrap().1
    }
    let mut buffer = DeviceBuffer::new(8).unwrap();
    assert_eq!(writable(&&mut buffer), Access::Exclusive);
    assert_eq!(writable(&buffer), Access::Exclusive);
    let shared = Arc::new(buffer);
    assert_eq!(DeviceMemory::registrations(&shared).unwrap().1, Access::Shared);
}
