//! Threads of this crate, each started when it is first needed.
#![allow(unsafe_code, reason = "changes the calling thread's signal mask")]

use core::mem::MaybeUninit;
use core::ptr;
use core::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::{io, thread};

/// A thread that does one thing again and again until the process ends.
pub(crate) struct Service {
    name: &'static str,
    running: AtomicBool,
    starting: Mutex<()>,
}

impl Service {
    pub(crate) const fn new(name: &'static str) -> Self {
        Self { name, running: AtomicBool::new(false), starting: Mutex::new(()) }
    }

    /// One that is never started, since tests take its turns.
    #[cfg(all(test, shuttle))]
    pub(crate) const fn by_hand() -> Self {
        Self { name: "", running: AtomicBool::new(true), starting: Mutex::new(()) }
    }

    /// Starts the thread unless it runs.
    pub(crate) fn start(&self, mut turn: impl FnMut() + Send + 'static) -> io::Result<()> {
        if self.running.load(Ordering::Acquire) {
            return Ok(());
        }
        let _alone = self.starting.lock().unwrap_or_else(PoisonError::into_inner);
        if self.running.load(Ordering::Acquire) {
            return Ok(());
        }
        let run = move || {
            loop {
                turn();
            }
        };
        without_signals(|| thread::Builder::new().name(self.name.to_owned()).spawn(run))?;
        self.running.store(true, Ordering::Release);
        Ok(())
    }
}

/// Calls `spawn` with signals blocked, except those of faults, so that the new thread never handles one for the program.
fn without_signals<T>(spawn: impl FnOnce() -> T) -> T {
    let mut blocked = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: requires a writable place; holds because it is a local.
    unsafe { libc::sigfillset(blocked.as_mut_ptr()) };
    for fault in [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP, libc::SIGSYS] {
        // SAFETY: requires a set; holds because it was filled.
        unsafe { libc::sigdelset(blocked.as_mut_ptr(), fault) };
    }
    let mut before = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: requires a set and a writable place; holds because both are locals.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, blocked.as_ptr(), before.as_mut_ptr()) };
    let result = spawn();
    // SAFETY: requires a set; holds because the first call stored it.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), ptr::null_mut()) };
    result
}
