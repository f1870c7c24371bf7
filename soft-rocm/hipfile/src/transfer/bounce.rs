//! Host memory that data passes through on its way between a file and a device the host can't reach.

use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicPtr, Ordering};

use soft_rocm_faults::sys;

use crate::failure::Failure;

/// Bytes of a bounce buffer of the pool: small enough to stay in a core's cache between the two copies.
const CHUNK: usize = 1 << 20;

/// Bytes of the bounce buffer that AMD's library maps for each transfer, whatever its size.
const AMD_CHUNK: usize = 16 << 20;

/// Buffers kept for the next transfers; together they hold what AMD's library maps anew for each one.
const KEPT: usize = 16;

/// Buffers that no transfer uses at the moment.
#[derive(Debug)]
struct Pool([AtomicPtr<u8>; KEPT]);

impl Pool {
    const fn new() -> Self {
        Self([const { AtomicPtr::new(ptr::null_mut()) }; KEPT])
    }

    fn take(&'static self) -> Result<Bounce, Failure> {
        let pooled =
            self.0.iter().find_map(|slot| NonNull::new(slot.swap(ptr::null_mut(), Ordering::Acquire)));
        let memory = pooled.map_or_else(|| map(CHUNK), Ok)?;
        Ok(Bounce { memory, len: CHUNK, pool: Some(self) })
    }

    /// Whether there was room for it.
    fn put(&self, memory: NonNull<u8>) -> bool {
        self.0.iter().any(|slot| {
            let (free, mine) = (ptr::null_mut(), memory.as_ptr());
            slot.compare_exchange(free, mine, Ordering::Release, Ordering::Relaxed).is_ok()
        })
    }
}

#[cold]
fn map(len: usize) -> Result<NonNull<u8>, Failure> {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: requires nothing: the system chooses the place.
    let memory = unsafe { sys::mmap(ptr::null_mut(), len, access, kind, -1, 0) };
    if memory == libc::MAP_FAILED {
        return Err(Failure::last_os());
    }
    NonNull::new(memory.cast()).ok_or(Failure::INTERNAL)
}

/// A bounce buffer. Dropping it gives it to the next transfer, if it is one of the pool's.
#[derive(Debug)]
pub(crate) struct Bounce {
    memory: NonNull<u8>,
    len: usize,
    pool: Option<&'static Pool>,
}

impl Bounce {
    /// Takes a buffer from the pool, or maps one.
    ///
    /// # Errors
    ///
    /// The system error if there is no memory.
    pub(crate) fn take() -> Result<Self, Failure> {
        static POOL: Pool = Pool::new();
        POOL.take()
    }

    /// Maps a buffer for one transfer, as AMD's library does.
    ///
    /// # Errors
    ///
    /// The system error if there is no memory.
    pub(super) fn fresh() -> Result<Self, Failure> {
        Ok(Self { memory: map(AMD_CHUNK)?, len: AMD_CHUNK, pool: None })
    }

    /// Its bytes.
    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: requires that many bytes, initialised, which nobody else uses; holds because the mapping is that
        // long, starts as zeros, and is in nobody's hands but this value's.
        unsafe { std::slice::from_raw_parts_mut(self.memory.as_ptr(), self.len) }
    }
}

impl Drop for Bounce {
    fn drop(&mut self) {
        if !self.pool.is_some_and(|pool| pool.put(self.memory)) {
            // SAFETY: requires a mapping that nothing uses any more; holds because this value owned it.
            unsafe { sys::munmap(self.memory.as_ptr().cast(), self.len) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn buffers_are_used_again_and_never_by_two() {
        static POOL: Pool = Pool::new();
        let take = || POOL.take().unwrap();
        let mut held: Vec<_> = (0..KEPT + 2).map(|_| take()).collect();
        let places: HashSet<_> = held.iter().map(|bounce| bounce.memory).collect();
        assert_eq!(places.len(), KEPT + 2);
        for (mark, bounce) in held.iter_mut().enumerate() {
            bounce.bytes().fill(mark as u8);
        }
        for (mark, bounce) in held.iter_mut().enumerate() {
            assert!(bounce.bytes().iter().all(|byte| *byte == mark as u8));
        }
        drop(held);
        let again: Vec<_> = (0..KEPT).map(|_| take()).collect();
        let again: HashSet<_> = again.iter().map(|bounce| bounce.memory).collect();
        assert!(again.is_subset(&places));
        assert_eq!(again.len(), KEPT);
    }
}
