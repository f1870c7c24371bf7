//! SND-03: the set alone, with hooks of our own.

use core::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Barrier, TryLockError, Weak};

use super::*;
use crate::ErrorKind;

thread_local! {
    /// Whether another thread may have the set locked.
    static SHARED_BY_THREADS: Cell<bool> = const { Cell::new(false) };
}

/// A library's table, as strict as libhipfile's: a base is registered once, and keeps its first length.
#[derive(Default)]
pub struct Library {
    table: Mutex<Vec<(usize, usize)>>,
    /// Bases that can't be deregistered now.
    busy: Mutex<Vec<usize>>,
    registered: AtomicUsize,
    deregistered: AtomicUsize,
}

impl Library {
    fn register(&self, base: usize, len: usize) -> Result<(), &'static str> {
        let mut table = self.table.lock().unwrap();
        if table.iter().any(|(registered, _)| *registered == base) {
            return Err("already registered");
        }
        table.push((base, len));
        self.registered.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn deregister(&self, base: usize) -> Result<(), &'static str> {
        if self.busy.lock().unwrap().contains(&base) {
            return Err("busy");
        }
        self.table.lock().unwrap().retain(|(registered, _)| *registered != base);
        self.deregistered.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    pub fn holds(&self) -> Vec<(usize, usize)> {
        let mut table = self.table.lock().unwrap().clone();
        table.sort_unstable();
        table
    }
}

/// Undoes registrations, and asks a question when it is dropped.
struct Hook {
    library: Arc<Library>,
    set: Weak<Registrations>,
}

// SAFETY: requires that Removed means removed; holds because the library's table says so.
unsafe impl RegistrationHook for Hook {
    fn deregister(&self, base: *mut c_void) -> Removal {
        match self.library.deregister(base.addr()) {
            Ok(()) => Removal::Removed,
            Err(_) => Removal::Kept,
        }
    }
}

impl Drop for Hook {
    fn drop(&mut self) {
        // What a driver's close could do: anything that needs the set unlocked.
        if let Some(set) = self.set.upgrade() {
            let locked = matches!(set.entries.try_lock(), Err(TryLockError::WouldBlock));
            assert!(!locked || SHARED_BY_THREADS.get(), "hooks are dropped after unlocking");
        }
    }
}

pub struct Fixture {
    pub library: Arc<Library>,
    pub set: Arc<Registrations>,
}

pub type Outcome = Result<(), SetError<&'static str>>;

impl Fixture {
    pub fn new() -> Self {
        Self { library: Arc::default(), set: Arc::default() }
    }

    pub fn attach(&self, access: Access, base: usize, len: usize) -> Outcome {
        let hook = Arc::new(Hook { library: self.library.clone(), set: Arc::downgrade(&self.set) });
        // SAFETY: requires access to memory that goes only after the set is cleared; holds because there is no memory.
        unsafe {
            self.set.attach("test", access, ptr::without_provenance_mut(base), len, hook, || {
                self.library.register(base, len)
            })
        }
    }

    pub fn detach(&self, base: usize) -> Outcome {
        // SAFETY: requires a live guard; holds because each test ends what it attached.
        unsafe {
            self.set.detach("test", ptr::without_provenance_mut(base), || self.library.deregister(base))
        }
    }

    pub fn abandon(&self, base: usize) {
        // SAFETY: requires a live guard; holds because each test ends what it attached.
        unsafe { self.set.abandon(ptr::without_provenance_mut(base)) };
    }

    pub fn clear(self) -> crate::Result<()> {
        Arc::into_inner(self.set).unwrap().clear("test")
    }

    pub fn set_busy(&self, bases: &[usize]) {
        *self.library.busy.lock().unwrap() = bases.to_vec();
    }
}

fn refused(outcome: Outcome) -> ErrorKind {
    match outcome {
        Err(SetError::Refused(error)) => error.kind(),
        other => panic!("not refused: {other:?}"),
    }
}

use Access::{Exclusive, Shared};

#[test]
fn a_live_guard_ends_its_own_registration() {
    for access in [Exclusive, Shared] {
        let fixture = Fixture::new();
        fixture.attach(access, 0x1000, 64).unwrap();
        assert_eq!(fixture.library.holds(), [(0x1000, 64)]);
        fixture.detach(0x1000).unwrap();
        assert_eq!(fixture.library.holds(), []);
        let library = fixture.library.clone();
        fixture.clear().unwrap();
        assert_eq!(library.deregistered.load(Ordering::Relaxed), 1, "nothing was left to clear");
    }
}

#[test]
fn exclusive_registering_removes_all_that_was_forgotten() {
    let fixture = Fixture::new();
    for base in [0x1000, 0x2000, 0x3000] {
        fixture.library.register(base, 1).unwrap();
        fixture.set.entries.lock().unwrap().push(Entry {
            base,
            len: 1,
            guards: if base == 0x2000 { Guards::Shared(3) } else { Guards::Exclusive },
            hook: Arc::new(Hook { library: fixture.library.clone(), set: Weak::new() }),
        });
    }
    // The same base with another length, where the library alone would refuse.
    fixture.attach(Exclusive, 0x2000, 64).unwrap();
    assert_eq!(fixture.library.holds(), [(0x2000, 64)]);
    // And again, in part.
    fixture.attach(Exclusive, 0x2010, 16).unwrap();
    assert_eq!(fixture.library.holds(), [(0x2010, 16)]);
    let library = fixture.library.clone();
    fixture.clear().unwrap();
    assert_eq!(library.holds(), []);
}

#[test]
fn shared_registering_counts_guards_and_calls_the_library_once() {
    let fixture = Fixture::new();
    for _ in 0..3 {
        fixture.attach(Shared, 0x1000, 64).unwrap();
    }
    assert_eq!(fixture.library.registered.load(Ordering::Relaxed), 1);
    fixture.detach(0x1000).unwrap();
    fixture.detach(0x1000).unwrap();
    assert_eq!(fixture.library.holds(), [(0x1000, 64)]);
    fixture.detach(0x1000).unwrap();
    assert_eq!(fixture.library.holds(), []);
}

#[test]
fn shared_registering_of_one_base_needs_one_length() {
    let fixture = Fixture::new();
    fixture.attach(Shared, 0x1000, 64).unwrap();
    for len in [1, 63, 65, usize::MAX] {
        assert_eq!(refused(fixture.attach(Shared, 0x1000, len)), ErrorKind::AlreadyRegistered);
    }
    fixture.attach(Shared, 0x1008, 8).unwrap();
    assert_eq!(fixture.library.holds(), [(0x1000, 64), (0x1008, 8)]);
    fixture.detach(0x1000).unwrap();
    // Free again, so any length will do.
    fixture.attach(Shared, 0x1000, 32).unwrap();
    assert_eq!(fixture.library.holds(), [(0x1000, 32), (0x1008, 8)]);
}

#[test]
fn shared_registering_removes_forgotten_exclusive_ones_only() {
    let fixture = Fixture::new();
    // Forgotten, then the memory went into an Arc.
    fixture.attach(Exclusive, 0x1000, 64).unwrap();
    fixture.attach(Shared, 0x2000, 8).unwrap();
    assert_eq!(fixture.library.holds(), [(0x2000, 8)]);
    fixture.attach(Shared, 0x1000, 32).unwrap();
    assert_eq!(fixture.library.holds(), [(0x1000, 32), (0x2000, 8)]);
}

#[test]
fn two_forgotten_parts_are_both_cleared() {
    let fixture = Fixture::new();
    fixture.attach(Shared, 0x1000, 16).unwrap();
    fixture.attach(Shared, 0x1020, 16).unwrap();
    assert_eq!(fixture.library.holds(), [(0x1000, 16), (0x1020, 16)]);
    let library = fixture.library.clone();
    fixture.clear().unwrap();
    assert_eq!(library.holds(), []);
}

#[test]
fn nothing_is_registered_while_a_stale_entry_is_kept() {
    let fixture = Fixture::new();
    fixture.attach(Exclusive, 0x1000, 64).unwrap();
    fixture.set_busy(&[0x1000]);
    for (access, base) in [(Exclusive, 0x1000), (Exclusive, 0x2000), (Shared, 0x1000), (Shared, 0x2000)] {
        assert_eq!(refused(fixture.attach(access, base, 64)), ErrorKind::Busy);
    }
    assert_eq!(fixture.library.holds(), [(0x1000, 64)]);
    fixture.set_busy(&[]);
    fixture.attach(Exclusive, 0x1000, 32).unwrap();
    assert_eq!(fixture.library.holds(), [(0x1000, 32)]);
}

#[test]
fn clearing_removes_what_it_can_and_keeps_the_rest_for_the_next_time() {
    let mut set = Registrations::default();
    let library = Arc::<Library>::default();
    for base in [0x1000, 0x2000, 0x3000] {
        let hook = Arc::new(Hook { library: library.clone(), set: Weak::new() });
        // SAFETY: requires access to memory that goes only after the set is cleared; holds because there is no memory.
        let attached = unsafe {
            set.attach("test", Shared, ptr::without_provenance_mut(base), 8, hook, || {
                library.register(base, 8)
            })
        };
        attached.unwrap();
    }
    // The first one, so that the others are tried after it.
    *library.busy.lock().unwrap() = vec![0x1000];
    let error = set.clear("DeviceBuffer::free").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Busy);
    assert!(error.to_string().contains("8 bytes at 0x1000"), "{error}");
    assert_eq!(library.holds(), [(0x1000, 8)]);
    assert_eq!(set.clear("DeviceBuffer::free").unwrap_err().kind(), ErrorKind::Busy);
    library.busy.lock().unwrap().clear();
    set.clear("DeviceBuffer::free").unwrap();
    assert_eq!(library.holds(), []);
}

#[test]
fn a_failed_registration_leaves_no_entry() {
    let fixture = Fixture::new();
    fixture.library.register(0x1000, 64).unwrap();
    assert!(matches!(fixture.attach(Exclusive, 0x1000, 64), Err(SetError::Call("already registered"))));
    assert!(fixture.set.entries.lock().unwrap().is_empty());
    let library = fixture.library.clone();
    fixture.clear().unwrap();
    assert_eq!(library.holds(), [(0x1000, 64)], "what others registered is theirs");
}

#[test]
fn a_failed_detach_leaves_the_guard_as_it_was() {
    for access in [Exclusive, Shared] {
        let fixture = Fixture::new();
        fixture.attach(access, 0x1000, 64).unwrap();
        fixture.set_busy(&[0x1000]);
        assert!(matches!(fixture.detach(0x1000), Err(SetError::Call("busy"))));
        assert_eq!(fixture.library.holds(), [(0x1000, 64)]);
        fixture.set_busy(&[]);
        fixture.detach(0x1000).unwrap();
        assert_eq!(fixture.library.holds(), []);
    }
}

#[test]
fn an_abandoned_registration_is_stale_for_everyone() {
    for access in [Exclusive, Shared] {
        let fixture = Fixture::new();
        fixture.attach(access, 0x1000, 64).unwrap();
        fixture.set_busy(&[0x1000]);
        assert!(fixture.detach(0x1000).is_err());
        fixture.abandon(0x1000);
        assert_eq!(refused(fixture.attach(Shared, 0x1000, 64)), ErrorKind::Busy);
        fixture.set_busy(&[]);
        fixture.attach(Shared, 0x1000, 32).unwrap();
        assert_eq!(fixture.library.holds(), [(0x1000, 32)]);
    }
}

#[test]
fn abandoning_one_of_several_guards_keeps_the_others() {
    let fixture = Fixture::new();
    fixture.attach(Shared, 0x1000, 64).unwrap();
    fixture.attach(Shared, 0x1000, 64).unwrap();
    fixture.abandon(0x1000);
    fixture.attach(Shared, 0x2000, 64).unwrap();
    assert_eq!(fixture.library.holds(), [(0x1000, 64), (0x2000, 64)]);
    fixture.detach(0x1000).unwrap();
    assert_eq!(fixture.library.holds(), [(0x2000, 64)]);
}

#[test]
fn threads_that_share_agree_with_the_library() {
    let fixture = Fixture::new();
    let threads = 8;
    let start = Barrier::new(threads);
    let alive = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                SHARED_BY_THREADS.set(true);
                start.wait();
                for round in 0..500 {
                    // One base of the two is shared by all, each registers it with one length.
                    let base = 0x1000 * (1 + round % 2);
                    fixture.attach(Shared, base, 64).unwrap();
                    alive.fetch_add(1, Ordering::Relaxed);
                    assert!(fixture.library.holds().contains(&(base, 64)), "registered while a guard lives");
                    fixture.detach(base).unwrap();
                }
            });
        }
    });
    assert_eq!(alive.into_inner(), threads * 500);
    assert_eq!(fixture.library.holds(), []);
    let calls = |counter: &AtomicUsize| counter.load(Ordering::Relaxed);
    assert_eq!(calls(&fixture.library.registered), calls(&fixture.library.deregistered));
}

#[test]
fn a_poisoned_set_goes_on() {
    let fixture = Fixture::new();
    fixture.attach(Exclusive, 0x1000, 64).unwrap();
    let unwound = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let hook = Arc::new(Hook { library: fixture.library.clone(), set: Weak::new() });
        // SAFETY: requires a closure that does not unwind; this breaks it on purpose, before anything was registered.
        unsafe {
            fixture.set.attach(
                "test",
                Shared,
                ptr::without_provenance_mut(0x2000),
                8,
                hook,
                || -> Result<(), ()> { panic!("as planned") },
            )
        }
    }));
    assert!(unwound.is_err());
    assert!(fixture.set.entries.is_poisoned());
    fixture.attach(Shared, 0x1000, 8).unwrap();
    assert_eq!(fixture.library.holds(), [(0x1000, 8)]);
    let library = fixture.library.clone();
    fixture.clear().unwrap();
    assert_eq!(library.holds(), []);
}

#[test]
fn debug_shows_addresses_and_does_not_need_hooks_to() {
    let fixture = Fixture::new();
    fixture.attach(Shared, 0xabc0, 64).unwrap();
    let text = format!("{:?}", fixture.set);
    assert!(text.contains("base: 0xabc0, len: 64, guards: Shared(1)"), "{text}");
}
