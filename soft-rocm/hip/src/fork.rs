//! Whether this process is a child of one that used the library.
//!
//! Such a child has copies of locks that threads it does not have may hold, and no device memory. A child of a
//! process that had not used the library yet starts afresh.

use std::sync::atomic::{AtomicU8, Ordering};

/// The runtime has not been asked for, so there is nothing a child could inherit.
const UNUSED: u8 = 0;
/// The runtime has been asked for.
const USED: u8 = 1;
/// This process was forked from one that had used the runtime.
const CHILD: u8 = 2;

static STATE: AtomicU8 = AtomicU8::new(UNUSED);

/// Notes that the runtime is used; false in a child that inherited one.
#[inline]
pub(crate) fn enter() -> bool {
    match STATE.load(Ordering::Relaxed) {
        USED => true,
        CHILD => false,
        _ => first_use(),
    }
}

/// Whether this process inherited a runtime that was used.
pub(crate) fn is_child() -> bool {
    STATE.load(Ordering::Relaxed) == CHILD
}

#[cold]
fn first_use() -> bool {
    STATE.compare_exchange(UNUSED, USED, Ordering::SeqCst, Ordering::SeqCst) != Err(CHILD)
}

/// Runs in each child before fork returns there.
unsafe extern "C" fn in_child() {
    // A child of a child is one as well.
    let _ = STATE.compare_exchange(USED, CHILD, Ordering::SeqCst, Ordering::SeqCst);
}

/// Registers the handler when the library is loaded: at first use there would be a moment in which another thread
/// could fork between the use and the registration.
extern "C" fn register() {
    // SAFETY: requires a handler that stays loaded; holds because the library is linked with -z nodelete.
    // It fails only without memory for the handler; children are then not told.
    unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
}

#[used]
#[unsafe(link_section = ".init_array")]
static REGISTER: extern "C" fn() = register;
