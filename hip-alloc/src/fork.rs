//! Whether this process is a forked child of one that uses HIP.
#![allow(unsafe_code, reason = "registers a fork handler")]

use core::sync::atomic::{AtomicU8, Ordering};

const UNWATCHED: u8 = 0;
const WATCHED: u8 = 1;
const CHILD: u8 = 2;

static STATE: AtomicU8 = AtomicU8::new(UNWATCHED);

/// True in a process that was forked after the first call of this function, which every use of HIP begins with.
///
/// Threads, GPU state and locks held by other threads do not survive `fork`, so nothing may be called, locked or freed in
/// the child. A `fork` that bypasses the C library is not seen.
#[inline]
pub fn forked() -> bool {
    match STATE.load(Ordering::Relaxed) {
        WATCHED => false,
        CHILD => true,
        _ => watch(),
    }
}

#[cold]
fn watch() -> bool {
    if STATE.compare_exchange(UNWATCHED, WATCHED, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
        // SAFETY: requires a handler that may run in a child of a process with threads; holds because it is one atomic
        // store. An error (no memory) leaves forks unseen, as if this crate did not watch.
        unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    }
    STATE.load(Ordering::Relaxed) == CHILD
}

extern "C" fn in_child() {
    STATE.store(CHILD, Ordering::Relaxed);
}
