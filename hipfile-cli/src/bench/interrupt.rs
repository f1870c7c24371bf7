//! The user's wish to stop, so that files made in a folder are removed all the same.
#![allow(unsafe_code, reason = "handles signals")]

use std::sync::atomic::{AtomicBool, Ordering};

use crate::failure::Failure;

static ASKED: AtomicBool = AtomicBool::new(false);

extern "C" fn ask(_: libc::c_int) {
    ASKED.store(true, Ordering::Relaxed);
}

/// From now on the first signal asks for an end; a second one ends the process.
pub fn listen() {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        let handler = ask as extern "C" fn(libc::c_int);
        let action = libc::sigaction {
            sa_sigaction: handler as libc::sighandler_t,
            sa_flags: libc::SA_RESETHAND | libc::SA_RESTART,
            // SAFETY: requires a type for which zeros are a value; holds because it is a set of signals: the empty one.
            sa_mask: unsafe { std::mem::zeroed() },
            sa_restorer: None,
        };
        // SAFETY: requires an action whose handler may run at any time; holds because it stores into an atomic. If this fails
        // the signal ends the process.
        unsafe { libc::sigaction(signal, &raw const action, std::ptr::null_mut()) };
    }
}

/// Whether someone asked.
pub fn asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}

/// An error if someone asked.
pub fn check() -> Result<(), Failure> {
    if asked() { Err(Failure::new("stopped by a signal")) } else { Ok(()) }
}
