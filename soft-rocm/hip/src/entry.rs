//! What every exported function does around its work: faults and delays that are scripted for it, and the last error.

use soft_rocm_faults as faults;
use soft_rocm_faults::{Call, Fault, Point, Subject};

use crate::bindings::{hipError_t, hipErrorNotInitialized};
use crate::{fork, last_error};

/// Runs a call that answers a code. `size` is its number of bytes, 0 where it has none.
#[inline]
pub(crate) fn call(point: Point, size: usize, body: impl FnOnce() -> Result<(), hipError_t>) -> hipError_t {
    last_error::answer(fault(point, size as u64, Subject::None).and_then(|_| body()))
}

/// Waits as long as a plan wants what passes the point to wait.
#[inline]
pub(crate) fn delayed(point: Point) {
    // What only waits has no way to fail.
    let _ = fault(point, 0, Subject::None);
}

/// Runs a call that answers something else, or a code that is no result of its own.
#[inline]
pub(crate) fn value<T>(point: Point, body: impl FnOnce() -> T) -> T {
    delayed(point);
    body()
}

/// What a plan says about a call, for those that can end otherwise than with a code.
///
/// # Errors
///
/// The code that it says, or `hipErrorNotInitialized` if the plan is not accepted.
#[inline]
pub(crate) fn fault(point: Point, size: u64, subject: Subject<'_>) -> Result<Option<Fault>, hipError_t> {
    if faults::idle() { Ok(None) } else { planned(point, size, subject) }
}

#[cold]
fn planned(point: Point, size: u64, subject: Subject<'_>) -> Result<Option<Fault>, hipError_t> {
    // A forked child must not wait for the plan's lock, which a thread it does not have may hold; its calls fail anyhow.
    if !fork::enter() {
        return Ok(None);
    }
    match faults::hit(point, &Call { size, subject }) {
        Ok(Some(Fault::Hip(code))) => Err(hipError_t(code)),
        Ok(other) => Ok(other),
        Err(faults::Refused) => Err(hipErrorNotInitialized),
    }
}
