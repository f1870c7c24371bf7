//! Threads of the library leave the program's signals to the program's threads.

use std::mem::MaybeUninit;
use std::ptr;

/// Signals that a thread which causes them gets itself, and which must reach it.
const OWN: [i32; 8] = [
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGILL,
    libc::SIGTRAP,
    libc::SIGSYS,
    libc::SIGABRT,
    libc::SIGXFSZ,
];

/// Starts a thread with all signals blocked that could as well reach another thread: threads inherit what is blocked.
pub(crate) fn without<T>(start: impl FnOnce() -> T) -> T {
    let (mut blocked, mut before) = (MaybeUninit::zeroed(), MaybeUninit::zeroed());
    // SAFETY: requires room for a mask; holds, it is a local.
    unsafe { libc::sigfillset(blocked.as_mut_ptr()) };
    for signal in OWN {
        // SAFETY: requires a mask; holds, it was filled above.
        unsafe { libc::sigdelset(blocked.as_mut_ptr(), signal) };
    }
    // SAFETY: requires a mask and room for one; holds, they are locals. With these arguments it can't fail.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, blocked.as_ptr(), before.as_mut_ptr()) };
    let started = start();
    // SAFETY: requires a mask; holds, it is the one of before.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), ptr::null_mut()) };
    started
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether this thread blocks a signal.
    fn blocks(signal: i32) -> bool {
        let mut mask = MaybeUninit::<libc::sigset_t>::zeroed();
        // SAFETY: requires room for a mask; holds, it is a local.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, ptr::null(), mask.as_mut_ptr()) };
        // SAFETY: requires a mask; holds, it was just filled in.
        unsafe { libc::sigismember(mask.as_ptr(), signal) == 1 }
    }

    #[test]
    fn the_new_thread_blocks_what_the_old_one_gets() {
        let ask = || [libc::SIGALRM, libc::SIGTERM, libc::SIGSEGV].map(blocks);
        let before = ask();
        let theirs = without(|| std::thread::spawn(ask)).join().unwrap();
        assert_eq!((theirs, ask()), ([true, true, false], before));
        assert_eq!(before, [false; 3]);
    }
}
