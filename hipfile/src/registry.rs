//! What this process registered with the library and has not removed.
//!
//! The library knows a registration by its base address alone and never notices that memory was freed. So a base that it
//! calls registered already may be one of two things:
//!
//! - **A registration of ours.** Every one is in the table below from the call that makes it to the call that ends it.
//!   Its guard lives, or was forgotten together with memory that stays allocated, or is raw memory in the care of the
//!   caller of `from_raw`. It is left alone, and the second registration is refused.
//! - **Anything else**: other code registered it and went away, usually freeing the memory, whose address was given out
//!   again. The entry has a length of its own, which would be enforced against our ranges. It is removed, and the
//!   registration tried once more.
//!
//! Removing an entry of other code that does live is safe too: registering is an optimisation, so its transfers go on with
//! the library looking the pointer up each time, and the library refuses to remove what a transfer is using.
//!
//! The table also tells pointers into registered memory their base.
//!
//! The lock is held over the calls, so that table and library can't be seen apart. In a forked child, where another
//! thread may have held it, nothing comes so far as to lock.
#![allow(unsafe_code, reason = "registers and deregisters memory")]

use std::ffi::{c_int, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};

use hip_alloc::{RegistrationHook, Removal};

use crate::driver::DriverInner;
use crate::error::Cause;
use crate::ffi;
use crate::intervals::Intervals;
use crate::op_error::OpError;
use crate::span::{Address, Span};

static REGISTERED: Mutex<Intervals> = Mutex::new(Intervals::new());

fn lock() -> MutexGuard<'static, Intervals> {
    // Nothing between the changes panics, so a poisoned table is a right one.
    REGISTERED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Registers `len` bytes at `base`.
///
/// # Safety
///
/// The memory stays allocated until [`deregister`] succeeds for it.
pub(crate) unsafe fn register(
    driver: &DriverInner,
    base: Address,
    len: usize,
    flags: c_int,
) -> Result<(), Cause> {
    let api = driver.live()?;
    let mut registered = lock();
    let register = || {
        // SAFETY: requires memory that outlives its registration; holds because the caller promises it.
        unsafe { ffi::register_memory(api, base.0, len, flags) }
    };
    let mut answer = register();
    if matches!(answer, Err(Cause::Op(OpError::MemoryAlreadyRegistered))) {
        if registered.starts_at(base.0.addr()) {
            return Err(Cause::RegisteredHere);
        }
        // Whether that worked is what registering again tells.
        let _ = ffi::deregister_memory(api, base.0);
        answer = register();
    }
    answer?;
    registered.insert(base.0.addr(), len);
    Ok(())
}

/// Removes the registration at `base`. `Ok` means that the library does not have it any more.
pub(crate) fn deregister(driver: &DriverInner, base: Address) -> Result<(), Cause> {
    let api = driver.live()?;
    let mut registered = lock();
    match ffi::deregister_memory(api, base.0) {
        Ok(()) => {}
        // Not there, or the whole table is gone because other code closed the driver.
        Err(Cause::Op(OpError::MemoryNotRegistered | OpError::DriverClosing)) => {}
        Err(Cause::Op(OpError::InternalError)) => return Err(Cause::InFlight),
        Err(other) => return Err(other),
    }
    registered.remove(base.0.addr());
    Ok(())
}

/// The memory of `span`, which has its address as base, as the part of a registration where one contains it.
///
/// The library finds a registration by its base alone, so this is what makes pointers into registered memory find theirs.
/// Should the registration go first, the library looks the base up in HIP and finds the same memory, as registrations are
/// within one allocation.
pub(crate) fn within_registration(span: Span) -> Span {
    // Another thread may have held the lock when the process forked.
    if hip_alloc::forked() {
        return span;
    }
    let start = span.base.0.addr();
    match lock().containing(start, span.len) {
        Some(base) => span.based(base),
        None => span,
    }
}

// SAFETY: requires that `Removed` is answered only if the library has no registration at the base any more, and that
// nothing here unwinds or uses the set that holds the hook; holds because that is what `Ok` of `deregister` means, neither
// it nor the driver's Drop has a way to panic, and neither knows of such sets.
unsafe impl RegistrationHook for DriverInner {
    fn deregister(&self, base: *mut c_void) -> Removal {
        match deregister(self, Address(base)) {
            Ok(()) => Removal::Removed,
            // In use, in a forked child, or anything that is not understood.
            Err(_) => Removal::Kept,
        }
    }
}
