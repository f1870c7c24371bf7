//! What every exported function does around its work: refuse forked children and wrong settings, keep panics inside,
//! put `errno` right.

use std::panic::{AssertUnwindSafe, catch_unwind};

use hipfile_sys::hipFileError_t;

use crate::failure::{Failure, SUCCESS};
use crate::{behaviour, fork};

/// Runs a call whose failure is a `hipFileError_t`.
#[inline]
pub(crate) fn status(call: impl FnOnce() -> Result<(), Failure>) -> hipFileError_t {
    match contained(call) {
        Ok(()) => SUCCESS,
        Err(failure) => failure.into_status(),
    }
}

/// Runs a transfer. `errno` is set for system errors and is otherwise what it was before the call, so that a caller
/// can tell `hipErrorInvalidValue` (−1, `errno` untouched) from a system error.
#[inline]
pub(crate) fn count(call: impl FnOnce() -> Result<usize, Failure>) -> isize {
    let before = errno();
    let result = contained(call);
    let (count, after) = match result {
        Ok(count) => (count as isize, before),
        Err(failure) => (failure.into_count(), if let Failure::Os(errno) = failure { errno } else { before }),
    };
    set_errno(after);
    count
}

/// Runs a call that cannot say that it failed.
#[inline]
pub(crate) fn silent(call: impl FnOnce()) {
    // A forked child, a wrong setting and a panic all leave the state as it is, which is all such a function can promise.
    let _ = contained(|| {
        call();
        Ok(())
    });
}

/// Runs a call unless the process is a forked child or a setting is wrong. A panic is an internal error.
#[inline]
pub(crate) fn contained<T>(call: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    if fork::is_child() || behaviour::is_invalid() {
        return Err(Failure::INTERNAL);
    }
    catch_unwind(AssertUnwindSafe(call)).unwrap_or(Err(Failure::INTERNAL))
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
    use hipfile_sys::hipError_t;

    #[test]
    fn errno_is_set_for_system_errors_alone() {
        set_errno(99);
        assert_eq!(count(|| Err(Failure::Os(libc::EINVAL))), -1);
        assert_eq!(errno(), libc::EINVAL);

        set_errno(0);
        let clobbering = || {
            set_errno(libc::EBADF);
            Err(Failure::Hip(hipError_t(1)))
        };
        assert_eq!(count(clobbering), -1);
        assert_eq!(errno(), 0);
    }

    #[test]
    fn a_panic_is_an_internal_error() {
        assert_eq!(status(|| panic!("contained")).err.0, 5030);
        assert_eq!(count(|| panic!("contained")), -5030);
        silent(|| panic!("contained"));
    }
}
