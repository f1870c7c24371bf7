//! Calls of code that may panic where nobody may unwind.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs code of others, whose panic is none of ours; the panic hook has told of it. Nothing comes back then.
pub(crate) fn quietly<T>(code: impl FnOnce() -> T) -> Option<T> {
    match catch_unwind(AssertUnwindSafe(code)) {
        Ok(value) => Some(value),
        Err(panic) => {
            // What was panicked with may panic when dropped, and then so may what that panicked with.
            _ = catch_unwind(AssertUnwindSafe(|| drop(panic))).map_err(mem::forget);
            None
        }
    }
}
