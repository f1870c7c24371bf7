//! Calls of code that may panic where nobody may unwind.

use core::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs code of others, such as a waker's, whose panic is none of ours. The panic hook has told of it.
pub(crate) fn quietly(code: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(code)) {
        // What was panicked with may panic when dropped.
        mem::forget(panic);
    }
}
