//! Whether a thread is inside a function of the program that a stream called.
//!
//! Such a function runs as part of its stream: waiting for a stream in it could wait for itself. What waits is refused
//! there, or does its work without waiting.

use std::cell::Cell;

use crate::bindings::{hipError_t, hipErrorNotPermitted};

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Calls a function of the program.
pub(crate) fn enter(function: impl FnOnce()) {
    let outer = INSIDE.replace(true);
    function();
    INSIDE.set(outer);
}

/// Whether the calling thread is inside one.
pub(crate) fn is_inside() -> bool {
    INSIDE.get()
}

/// For calls that have to wait.
pub(crate) fn may_wait() -> Result<(), hipError_t> {
    if is_inside() { Err(hipErrorNotPermitted) } else { Ok(()) }
}
