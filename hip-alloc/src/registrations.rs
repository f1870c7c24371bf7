//! What libraries remember of one allocation, so that nothing is freed while it is remembered.
//!
//! # The danger
//! A library such as libhipfile keeps a table from base address to length. It does not notice when the memory goes. If HIP
//! later gives out the same address for a smaller allocation, the library accepts ranges by the *old* length: file contents
//! land outside the new memory. A guard that deregisters on Drop is not enough, because safe code may forget it
//! ([`core::mem::forget`], a cycle of `Rc`s, `ManuallyDrop`) and, if the guard only borrowed the memory, free it next.
//!
//! # The argument
//! *An address goes back to HIP only when no library remembers it.*
//! 1. Whatever safe code registers of a [`DeviceBuffer`](crate::DeviceBuffer) is entered here in the critical section that
//!    makes the library's call ([`attach`](Registrations::attach)), with a hook that can undo it alone; and it is removed
//!    here only when the library no longer has it ([`detach`](Registrations::detach)) or its hook says so.
//! 2. The set is a field of the buffer. It moves with it, also through `mem::swap`, and nothing takes them apart.
//! 3. A buffer's memory goes in three ways, Drop, `free` and `into_raw`. Each owns the buffer, so no live guard borrows it
//!    or shares it, and every entry left is stale: its guard was forgotten or could not deregister. Each way first runs the
//!    hooks ([`clear`](Registrations::clear)). One hook that says [`Removal::Kept`] is enough: Drop leaks the memory and
//!    counts it, the others give the buffer back.
//!
//! # Live and stale
//! Stale entries must also go before memory is registered again, or the library would refuse the base that it still has.
//! Which ones are stale follows from who registers:
//! - With [`Access::Exclusive`] (the memory by value or by `&mut`) a live guard would hold the value or the borrow that the
//!   new guard now has. So **every** entry is stale.
//! - With [`Access::Shared`] (through an `Arc`) exclusive entries are stale by the same reason, since a value in an `Arc` is
//!   neither owned nor mutably borrowed by a guard. Shared entries count their guards. A forgotten guard keeps its `Arc` and
//!   thereby the memory, so a count that never falls again does no harm.
//!
//! If a stale entry can't be removed, nothing new is registered: the answer is kind `Busy`.
//!
//! # Locks, panics, forks
//! A mutex is held over the library's calls, so that two threads that register through an `Arc` see each other's entry and
//! the library's table in the same state. Hooks and closures must not use the set again, which would deadlock; removed hooks
//! are dropped after unlocking, as their drop may close a driver. A poisoned mutex is used on: entries are added after the
//! call that makes them true and removed after the call that makes them false. In a forked child nothing is locked and
//! no hook runs.
#![allow(unsafe_code, reason = "declares what registering code must promise")]

use core::ffi::c_void;
use core::fmt;
use core::ptr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::{Cause, Error};
use crate::fork::forked;

/// Whether a guard has the memory to itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// The guard owns the memory or borrows it mutably.
    Exclusive,
    /// The guard shares it with others, by `Arc`.
    Shared,
}

/// What became of a registration that a hook was to remove.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[must_use]
pub enum Removal {
    /// The library does not have it any more.
    Removed,
    /// The library still has it, or said something that does not exclude it.
    Kept,
}

/// Removes a registration whose guard is gone.
///
/// # Safety
/// [`Removal::Removed`] is returned only if the library has no registration with this base any more. `deregister` and Drop
/// do not unwind and do not use the set that holds the hook.
pub unsafe trait RegistrationHook: Send + Sync {
    /// Asks the library to forget the registration that starts at `base`.
    fn deregister(&self, base: *mut c_void) -> Removal;
}

/// Why a registration was not made or not ended.
#[derive(Debug)]
pub enum SetError<E> {
    /// The set's reason: a stale entry that could not be removed ([`ErrorKind::Busy`](crate::ErrorKind::Busy)), a shared
    /// base with another length ([`ErrorKind::AlreadyRegistered`](crate::ErrorKind::AlreadyRegistered)), or a forked child
    /// ([`ErrorKind::Forked`](crate::ErrorKind::Forked)). The library was not asked.
    Refused(Error),
    /// What the closure that asks the library returned.
    Call(E),
}

/// The registrations that libraries hold of one allocation. See the module's text for the argument.
#[derive(Debug, Default)]
pub struct Registrations {
    entries: Mutex<Vec<Entry>>,
}

struct Entry {
    base: usize,
    len: usize,
    guards: Guards,
    hook: Arc<dyn RegistrationHook>,
}

/// Whose the entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Guards {
    /// One guard with exclusive access, live or gone.
    Exclusive,
    /// This many guards with shared access; 0 if the last one could not deregister.
    Shared(usize),
}

impl Registrations {
    /// Registers `len` bytes at `base` and keeps `hook` to undo it, after removing stale entries.
    ///
    /// A shared entry with the same base and length gains a guard; `register` is not called then.
    ///
    /// # Errors
    /// Nothing was registered: see [`SetError`]. `operation` is what the error names.
    ///
    /// # Safety
    /// - The bytes are within the allocation that this set belongs to, `len` is not 0, and the caller has `access` to them
    ///   until it calls [`detach`](Self::detach) successfully or [`abandon`](Self::abandon), or else never lets go of the
    ///   memory other than by forgetting it.
    /// - `register` returns `Ok` if and only if the library now has a registration of exactly these bytes, which `hook` can
    ///   remove. It does not unwind and does not use this set.
    pub unsafe fn attach<E>(
        &self,
        operation: &'static str,
        access: Access,
        base: *mut c_void,
        len: usize,
        hook: Arc<dyn RegistrationHook>,
        register: impl FnOnce() -> Result<(), E>,
    ) -> Result<(), SetError<E>> {
        let refused = |cause| Err(SetError::Refused(Error::new(operation, cause)));
        if forked() {
            return refused(Cause::Forked);
        }
        let base = base.addr();
        // Declared before the lock, so dropped after it.
        let mut removed = Vec::new();
        let mut entries = self.lock();
        let busy = sweep(&mut entries, &mut removed, |entry| match (access, entry.guards) {
            (Access::Exclusive, _) | (_, Guards::Exclusive | Guards::Shared(0)) => true,
            (Access::Shared, Guards::Shared(_)) => false,
        });
        if let Some((base, len)) = busy {
            return refused(Cause::Busy { base, len });
        }
        // What the sweep left is shared and live.
        if let Some(entry) = entries.iter_mut().find(|entry| entry.base == base) {
            if entry.len != len {
                return refused(Cause::LengthDiffers { base, len, registered: entry.len });
            }
            if let Guards::Shared(guards) = &mut entry.guards {
                // Each guard has an Arc, and their number can't exceed isize::MAX.
                *guards = guards.saturating_add(1);
            }
            return Ok(());
        }
        // What may fail comes before the library's call, which can't be undone from here.
        entries.reserve(1);
        register().map_err(SetError::Call)?;
        let guards = match access {
            Access::Exclusive => Guards::Exclusive,
            Access::Shared => Guards::Shared(1),
        };
        entries.push(Entry { base, len, guards, hook });
        Ok(())
    }

    /// Ends one guard's registration at `base`: calls `deregister` if no other guard shares it.
    ///
    /// # Errors
    /// The guard's registration is as before: see [`SetError`]. `operation` is what the error names.
    ///
    /// # Safety
    /// The caller is a guard whose [`attach`](Self::attach) at `base` succeeded and which has not ended. If this returns
    /// `Ok`, it has ended. `deregister` returns `Ok` only if the library has no registration with this base any more. It
    /// does not unwind and does not use this set.
    pub unsafe fn detach<E>(
        &self,
        operation: &'static str,
        base: *mut c_void,
        deregister: impl FnOnce() -> Result<(), E>,
    ) -> Result<(), SetError<E>> {
        if forked() {
            return Err(SetError::Refused(Error::new(operation, Cause::Forked)));
        }
        let base = base.addr();
        let mut _removed = None;
        let mut entries = self.lock();
        let Some(index) = entries.iter().position(|entry| entry.base == base) else {
            // Not so for a live guard.
            return Ok(());
        };
        match entries.get_mut(index).map(|entry| &mut entry.guards) {
            Some(Guards::Shared(guards)) if *guards > 1 => *guards -= 1,
            _ => {
                deregister().map_err(SetError::Call)?;
                _removed = Some(entries.swap_remove(index));
            }
        }
        Ok(())
    }

    /// Ends a guard that could not [`detach`](Self::detach). The library keeps the registration, and its hook is asked to
    /// remove it before the memory is registered anew or freed.
    ///
    /// # Safety
    /// As [`detach`](Self::detach); the guard has ended when this returns.
    pub unsafe fn abandon(&self, base: *mut c_void) {
        if forked() {
            return;
        }
        let base = base.addr();
        let mut entries = self.lock();
        if let Some(Guards::Shared(guards)) =
            entries.iter_mut().find(|entry| entry.base == base).map(|entry| &mut entry.guards)
        {
            *guards = guards.saturating_sub(1);
        }
    }

    /// Removes every entry through its hook.
    ///
    /// # Errors
    /// The memory must stay allocated.
    pub(crate) fn clear(&mut self, operation: &'static str) -> crate::Result<()> {
        if forked() {
            return Err(Error::new(operation, Cause::Forked));
        }
        let mut removed = Vec::new();
        let entries = self.entries.get_mut().unwrap_or_else(PoisonError::into_inner);
        match sweep(entries, &mut removed, |_| true) {
            None => Ok(()),
            Some((base, len)) => Err(Error::new(operation, Cause::Busy { base, len })),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Moves to `removed` the stale entries that their hooks could remove; returns base and length of one that was kept.
fn sweep(
    entries: &mut Vec<Entry>,
    removed: &mut Vec<Entry>,
    stale: impl Fn(&Entry) -> bool,
) -> Option<(usize, usize)> {
    let mut kept = None;
    let mut index = 0;
    while let Some(entry) = entries.get(index) {
        if !stale(entry) {
            index += 1;
            continue;
        }
        match entry.hook.deregister(ptr::without_provenance_mut(entry.base)) {
            Removal::Removed => removed.push(entries.swap_remove(index)),
            Removal::Kept => {
                kept.get_or_insert((entry.base, entry.len));
                index += 1;
            }
        }
    }
    kept
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry")
            .field("base", &format_args!("{:#x}", self.base))
            .field("len", &self.len)
            .field("guards", &self.guards)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod model;
#[cfg(test)]
mod tests;
