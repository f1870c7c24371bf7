//! The threads of the pool.

use std::io;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::LazyLock;

use super::operation::Operation;
use super::pool::Pool;
use super::spin::processors;
use crate::sync::{Arc, thread};

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

/// The pool of this process.
pub(crate) fn pool() -> &'static Arc<Pool<Operation>> {
    static POOL: LazyLock<Arc<Pool<Operation>>> =
        LazyLock::new(|| Arc::new(Pool::new(processors().max(2), start)));
    &POOL
}

/// Starts a thread, which leaves the program's signals to the program's threads.
pub(super) fn start(pool: &Arc<Pool<Operation>>) -> io::Result<()> {
    let pool = Arc::clone(pool);
    let mask = block_signals();
    let started = thread::Builder::new().name("hipfile-batch".to_owned()).spawn(move || pool.work());
    // SAFETY: requires a mask; holds, it is the one of before.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, mask.as_ptr(), ptr::null_mut()) };
    started.map(drop)
}

/// Blocks the signals that a program may want to handle, and returns the mask of before.
fn block_signals() -> MaybeUninit<libc::sigset_t> {
    let (mut blocked, mut before) = (MaybeUninit::zeroed(), MaybeUninit::zeroed());
    // SAFETY: requires room for a mask; holds, it is a local.
    unsafe { libc::sigfillset(blocked.as_mut_ptr()) };
    for signal in OWN {
        // SAFETY: requires a mask; holds, it was filled above.
        unsafe { libc::sigdelset(blocked.as_mut_ptr(), signal) };
    }
    // SAFETY: requires a mask and room for one; holds, they are locals. With these arguments it can't fail.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, blocked.as_ptr(), before.as_mut_ptr()) };
    before
}
