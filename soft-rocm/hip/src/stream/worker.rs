//! The thread of a stream, and the pool for what may overlap.

use std::io;
use std::sync::Arc;
use std::thread;

use soft_rocm_faults::point;

use super::pool;
use super::{Stream, Work};
use crate::entry;
use crate::runtime::set_current_device;

/// Room for the program's functions: what threads of the C library get.
pub(super) const STACK: usize = 8 << 20;

/// Starts the thread of a stream. It ends, after `at_end`, when the stream is closed and all its work is done.
pub(super) fn start(stream: Arc<Stream>, at_end: impl FnOnce(&Stream) + Send + 'static) -> io::Result<()> {
    let run = move || {
        while let Some(taken) = stream.queue().take() {
            entry::delayed(point::stream);
            if taken.concurrent {
                pool::run(Arc::clone(&stream), taken);
            } else {
                stream.carry_out(taken);
            }
        }
        at_end(&stream);
    };
    without_signals(|| thread::Builder::new().name("hip-stream".to_owned()).stack_size(STACK).spawn(run))?;
    Ok(())
}

impl Stream {
    /// Does what an entry asks for, on the stream's device.
    pub(super) fn carry_out(&self, taken: super::Taken) {
        let number = taken.number;
        self.perform(taken.work);
        self.queue().finish(number..number + 1);
    }

    /// Does what a concurrent entry asks for, and then what those after it ask for, until there is none that may be
    /// carried out now or somebody else waits for a thread. The share is empty, before and after.
    pub(super) fn carry_out_group(&self, taken: super::Taken, share: &mut Vec<Work>) {
        let mut numbers = taken.number..taken.number + 1;
        self.perform(taken.work);
        while !pool::is_wanted() {
            numbers = self.queue().finish_and_take(numbers, share);
            if numbers.is_empty() {
                return;
            }
            for work in share.drain(..) {
                entry::delayed(point::stream);
                self.perform(work);
            }
        }
        self.queue().finish(numbers);
    }

    fn perform(&self, work: Work) {
        set_current_device(self.device());
        if let Err(error) = work.run() {
            self.failed(error);
        }
    }
}

/// Calls `spawn` with signals blocked that could as well reach any other thread, so that the new thread is none of the
/// program's that handle them.
pub(crate) fn without_signals<T>(spawn: impl FnOnce() -> T) -> T {
    let mut blocked = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: requires a writable place; holds, it is a local.
    unsafe { libc::sigfillset(blocked.as_mut_ptr()) };
    for fault in [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP, libc::SIGSYS] {
        // SAFETY: requires a set; holds, it was filled.
        unsafe { libc::sigdelset(blocked.as_mut_ptr(), fault) };
    }
    let mut before = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: requires a set and a writable place; holds, both are locals.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, blocked.as_ptr(), before.as_mut_ptr()) };
    let result = spawn();
    // SAFETY: requires a set; holds, the first call stored it.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), std::ptr::null_mut()) };
    result
}
