//! Whether this process is a child of one that used the library.
//!
//! Such a child has a copy of the tables and of locks that threads it does not have may hold. It gets an error from
//! every call instead of a hang: 5030, −5030, or −1 for the use count. A child of a process that had not yet used the
//! library can use it.

use std::sync::atomic::{AtomicU8, Ordering};

/// No call was made yet, so there is nothing a child could inherit.
const UNUSED: u8 = 0;
/// Calls are made.
const USED: u8 = 1;
/// This process was forked from one that made calls.
const CHILD: u8 = 2;

static STATE: AtomicU8 = AtomicU8::new(UNUSED);

/// Whether this process inherited the library's state from its parent.
#[inline]
pub(crate) fn is_child() -> bool {
    match STATE.load(Ordering::Relaxed) {
        USED => false,
        CHILD => true,
        _ => first_use(),
    }
}

#[cold]
fn first_use() -> bool {
    STATE.compare_exchange(UNUSED, USED, Ordering::Relaxed, Ordering::Relaxed) == Err(CHILD)
}

/// Runs in each child before fork returns there.
unsafe extern "C" fn in_child() {
    // A child of a child is one as well.
    let _ = STATE.compare_exchange(USED, CHILD, Ordering::Relaxed, Ordering::Relaxed);
}

/// Registers the handler when the library is loaded: at first use there would be a moment in which another thread
/// could fork between the use and the registration.
extern "C" fn register() {
    // SAFETY: requires a handler that lives as long as the process; holds because the library is linked with
    // -z nodelete. Without memory for the handler the child is not told, which is AMD's behaviour.
    unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
}

#[used]
#[unsafe(link_section = ".init_array")]
static REGISTER: extern "C" fn() = register;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_child_knows_and_the_parent_does_not() {
        assert!(!is_child());
        // SAFETY: requires that the child makes async-signal-safe calls only; holds, it loads and exits.
        let pid = unsafe { libc::fork() };
        if pid == 0 {
            let told = is_child();
            // SAFETY: requires nothing.
            unsafe { libc::_exit(if told { 7 } else { 1 }) };
        }
        let mut status = 0;
        // SAFETY: requires a writable status; holds, it is a local.
        let waited = unsafe { libc::waitpid(pid, &mut status, 0) };
        assert_eq!(waited, pid);
        assert_eq!(libc::WEXITSTATUS(status), 7);
        assert!(!is_child());
    }
}
