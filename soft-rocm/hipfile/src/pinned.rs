//! Pinned host memory of HIP.
//!
//! It may be let go where HIP must not be called, in a function that a stream calls. So it is set aside then, and the
//! next submission or registration gives it back.

use std::mem;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use hipfile_sys::hipError_t;

use crate::hip::Hip;

/// A piece of it.
#[derive(Debug)]
pub(crate) struct Pinned(Block);

#[derive(Debug)]
struct Block {
    hip: &'static Hip,
    memory: NonNull<u8>,
    len: usize,
}

// SAFETY: requires that any thread may use and free the memory; holds because HIP binds it to no thread.
unsafe impl Send for Block {}
// SAFETY: requires that shared references do no harm; holds because they give no access to the memory.
unsafe impl Sync for Block {}

/// What is set aside, and whether there is anything.
static ASIDE: Mutex<Vec<Block>> = Mutex::new(Vec::new());
static ANY_ASIDE: AtomicBool = AtomicBool::new(false);

fn aside() -> MutexGuard<'static, Vec<Block>> {
    ASIDE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Pinned {
    /// Allocates `len` bytes.
    pub(crate) fn new(hip: &'static Hip, len: usize) -> Result<Self, hipError_t> {
        let memory = hip.allocate_pinned(len)?;
        Ok(Self(Block { hip, memory, len }))
    }

    /// Its bytes.
    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        let Block { memory, len, .. } = self.0;
        // SAFETY: requires that many bytes that nobody else uses; holds because HIP allocated them for this value, and
        // memory that comes from outside the program has contents.
        unsafe { std::slice::from_raw_parts_mut(memory.as_ptr(), len) }
    }

    /// Gives back what was set aside.
    #[inline]
    pub(crate) fn give_back() {
        if ANY_ASIDE.load(Ordering::Relaxed) {
            free_all();
        }
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        let Block { hip, memory, len } = self.0;
        let mut aside = aside();
        aside.push(Block { hip, memory, len });
        ANY_ASIDE.store(true, Ordering::Relaxed);
    }
}

#[cold]
fn free_all() {
    let mut aside = aside();
    ANY_ASIDE.store(false, Ordering::Relaxed);
    let blocks = mem::take(&mut *aside);
    drop(aside);
    for block in blocks {
        // SAFETY: requires memory of this HIP that nothing uses; holds because its owner is gone.
        if unsafe { block.hip.free_pinned(block.memory) }.is_err() {
            // SAFETY: requires a format whose arguments follow; holds, it takes none.
            unsafe { libc::syslog(libc::LOG_CRIT, c"hipFile: pinned memory could not be freed".as_ptr()) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hip::test::Mock;

    #[test]
    fn memory_is_set_aside_and_then_given_back() {
        let mock: &'static Mock = Box::leak(Box::new(Mock::new(1)));
        let mut pinned = Pinned::new(&mock.hip, 5000).unwrap();
        pinned.bytes().fill(7);
        assert_eq!(pinned.bytes().len(), 5000);
        let place = pinned.0.memory;
        mock.calls();
        drop(pinned);
        assert!(mock.calls().is_empty(), "HIP may not be called now");
        // Another test may have given it back meanwhile, but nobody sets it aside a second time.
        Pinned::give_back();
        assert!(aside().iter().all(|block| block.memory != place));
    }
}
