//! Signals that end the program: noticed between chunks, so that nothing half-written stays.
#![allow(unsafe_code, reason = "sets what signals do")]

use std::sync::atomic::{AtomicI32, Ordering};

const ENDING: [libc::c_int; 3] = [libc::SIGHUP, libc::SIGINT, libc::SIGTERM];

static CAUGHT: AtomicI32 = AtomicI32::new(0);

extern "C" fn catch_one(signal: libc::c_int) {
    CAUGHT.store(signal, Ordering::Relaxed);
}

/// From now on the first such signal is only noticed; a second one of its kind ends the program at once. A limit on file size
/// is an error of the write instead of a signal.
pub fn catch() {
    let handler: extern "C" fn(libc::c_int) = catch_one;
    for signal in ENDING {
        // What the caller has ignored, as nohup does, stays ignored.
        if current(signal) != libc::SIG_IGN {
            set(signal, handler as libc::sighandler_t);
        }
    }
    set(libc::SIGXFSZ, libc::SIG_IGN);
}

/// The signal that came, if one did.
pub fn caught() -> Option<i32> {
    Some(CAUGHT.load(Ordering::Relaxed)).filter(|signal| *signal != 0)
}

/// Ends the program as the signal would have.
pub fn end_by(signal: i32) -> ! {
    set(signal, libc::SIG_DFL);
    // SAFETY: requires nothing; a signal to this thread.
    unsafe { libc::raise(signal) };
    // Not reached, unless somebody blocks the signal.
    std::process::exit(128 + signal)
}

fn current(signal: libc::c_int) -> libc::sighandler_t {
    // SAFETY: requires a structure for which zeros are a value; holds for this one of C, a null handler among them.
    let mut old: libc::sigaction = unsafe { std::mem::zeroed() };
    // SAFETY: requires a place for the old action, and no new one; holds because `old` is one and the other is null.
    unsafe { libc::sigaction(signal, std::ptr::null(), &raw mut old) };
    old.sa_sigaction
}

fn set(signal: libc::c_int, handler: libc::sighandler_t) {
    // SAFETY: requires a structure for which zeros are a value; holds for this one of C: an empty mask and no flags.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handler;
    action.sa_flags = libc::SA_RESTART | libc::SA_RESETHAND;
    // SAFETY: requires an action whose handler may run at any time; holds because ours stores to an atomic, and the others
    // are the system's.
    unsafe { libc::sigaction(signal, &raw const action, std::ptr::null_mut()) };
}
