//! Threads of ours handle none of the program's signals.
#![allow(unsafe_code, reason = "changes the calling thread's signal mask")]

use core::mem::MaybeUninit;
use core::ptr;

/// Calls `spawn` with signals blocked, except those of faults, so that the new thread is never the one that handles them.
pub(crate) fn without_signals<T>(spawn: impl FnOnce() -> T) -> T {
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
