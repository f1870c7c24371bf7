//! What every exported function does around its work: refuse forked children and wrong settings, do what a plan of faults
//! says, keep panics inside, put `errno` right.

use std::panic::{AssertUnwindSafe, catch_unwind};

use hipfile_sys::{hipError_t, hipFileError_t, hipFileOpError_t};
use soft_rocm_faults::{self as faults, Call, Fault, Point, Subject};

use crate::failure::{Failure, SUCCESS};
use crate::stats::Stats;
use crate::{behaviour, fork};

/// A call as a plan of faults sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Called<'a> {
    point: Point,
    size: usize,
    subject: Subject<'a>,
}

impl From<Point> for Called<'_> {
    #[inline]
    fn from(point: Point) -> Self {
        Self { point, size: 0, subject: Subject::None }
    }
}

impl<'a> Called<'a> {
    /// A call about so many bytes.
    #[inline]
    pub(crate) fn sized(point: Point, size: usize) -> Self {
        Self { point, size, subject: Subject::None }
    }

    /// A call about a file, whose descriptor is looked up if the plan asks.
    #[inline]
    pub(crate) fn on(point: Point, file: &'a dyn Fn() -> Option<i32>) -> Self {
        Self { point, size: 0, subject: Subject::Lookup(file) }
    }
}

/// Runs a call whose failure is a `hipFileError_t`.
#[inline]
pub(crate) fn status<'a>(
    called: impl Into<Called<'a>>,
    call: impl FnOnce() -> Result<(), Failure>,
) -> hipFileError_t {
    let called = called.into();
    match contained(|| {
        planned(called)?;
        call()
    }) {
        Ok(()) => SUCCESS,
        Err(failure) => failure.into_status(),
    }
}

/// What a plan says about a function that answers in a forked child as well, having nothing to wait for there.
///
/// # Errors
///
/// What the plan says; 5030 if it is not accepted.
#[inline]
pub(crate) fn anywhere(point: Point) -> Result<(), Failure> {
    // A child must not wait for the plan's lock, which a thread it does not have may hold.
    if faults::idle() || fork::is_child() { Ok(()) } else { ask(point.into()).map(|_| ()) }
}

/// Runs a transfer of `size` bytes, of which a plan may allow fewer. `errno` is set for system errors and is otherwise
/// what it was before the call, so that a caller can tell `hipErrorInvalidValue` (−1, `errno` untouched) from a system
/// error.
#[inline]
pub(crate) fn count(
    point: Point,
    size: usize,
    file: impl Fn() -> Option<i32>,
    call: impl FnOnce(usize) -> Result<usize, Failure>,
) -> isize {
    let before = errno();
    let result = contained(|| {
        if faults::idle() {
            return call(size);
        }
        let most = ask(Called { point, size, subject: Subject::Lookup(&file) })?;
        call(size.min(most))
    });
    let (count, after) = match result {
        Ok(count) => (count as isize, before),
        Err(failure) => (failure.into_count(), if let Failure::Os(errno) = failure { errno } else { before }),
    };
    set_errno(after);
    count
}

/// Runs a call that cannot say that it failed.
#[inline]
pub(crate) fn silent<'a>(called: impl Into<Called<'a>>, call: impl FnOnce()) {
    let called = called.into();
    // Both a forked child and a panic leave the state as it is, which is all such a function can promise.
    let _ = contained(|| {
        planned(called)?;
        call();
        Ok(())
    });
}

/// Runs a call that answers something without a place for errors: `refused` where there is nothing to answer.
#[inline]
pub(crate) fn value<T>(point: Point, refused: T, call: impl FnOnce() -> T) -> T {
    contained(|| {
        planned(point.into())?;
        Ok(call())
    })
    .unwrap_or(refused)
}

/// Runs a call unless the process is a forked child or a setting is wrong. A panic is an internal error.
#[inline]
pub(crate) fn contained<T>(call: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    if fork::is_child() || behaviour::is_invalid() {
        return Err(Failure::INTERNAL);
    }
    // The first call makes the statistics' memory, whatever it is about.
    Stats::get();
    catch_unwind(AssertUnwindSafe(call)).unwrap_or(Err(Failure::INTERNAL))
}

/// Does what the plan says about a call and answers how many bytes it may move.
///
/// # Errors
///
/// What the plan says; 5030 if it is not accepted.
#[inline]
fn planned(called: Called<'_>) -> Result<usize, Failure> {
    if faults::idle() { Ok(usize::MAX) } else { ask(called) }
}

#[cold]
fn ask(called: Called<'_>) -> Result<usize, Failure> {
    let Called { point, size, subject } = called;
    match faults::hit(point, &Call { size: size as u64, subject }) {
        Ok(None) => Ok(usize::MAX),
        Ok(Some(Fault::Short(most))) => Ok(usize::try_from(most).unwrap_or(usize::MAX)),
        Ok(Some(Fault::Hip(code))) => Err(Failure::Hip(hipError_t(code))),
        Ok(Some(Fault::Hipfile(code))) => Err(Failure::Op(hipFileOpError_t(code))),
        Ok(Some(Fault::Errno(errno))) => Err(Failure::Os(errno)),
        Err(faults::Refused) => Err(Failure::INTERNAL),
    }
}

fn errno() -> i32 {
    // SAFETY: requires nothing.
    let place = unsafe { libc::__errno_location() };
    // SAFETY: requires a readable int; holds because it is this thread's errno.
    unsafe { *place }
}

pub(crate) fn set_errno(value: i32) {
    // SAFETY: requires nothing.
    let place = unsafe { libc::__errno_location() };
    // SAFETY: requires a writable int; holds because it is this thread's errno.
    unsafe { *place = value };
}

#[cfg(test)]
mod tests {
    use super::*;
    use soft_rocm_faults::point::{hipFileDriverOpen as OPEN, hipFileRead as READ};

    #[test]
    fn errno_is_set_for_system_errors_alone() {
        set_errno(99);
        let none = || None;
        assert_eq!(count(READ, 1, none, |_| Err(Failure::Os(libc::EINVAL))), -1);
        assert_eq!(errno(), libc::EINVAL);

        set_errno(0);
        let clobbering = |_| {
            set_errno(libc::EBADF);
            Err(Failure::Hip(hipError_t(1)))
        };
        assert_eq!(count(READ, 1, none, clobbering), -1);
        assert_eq!(errno(), 0);
    }

    #[test]
    fn a_panic_is_an_internal_error() {
        assert_eq!(status(OPEN, || panic!("contained")).err.0, 5030);
        assert_eq!(count(READ, 1, || None, |_| panic!("contained")), -5030);
        silent(OPEN, || panic!("contained"));
    }
}
