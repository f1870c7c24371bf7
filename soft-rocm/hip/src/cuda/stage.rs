//! Pinned host memory that bytes pass through.

use std::mem;
use std::ptr;
use std::sync::{Mutex, PoisonError};

use soft_rocm_faults::sys;

use super::Gpus;
use crate::bindings::hipError_t;
use crate::pinned;

/// Bytes of a piece: from there on the link is as fast with larger ones.
pub(crate) const STAGE: usize = 4 << 20;

/// Pieces kept for the next transfers: pinning one takes longer than filling it.
const KEPT: usize = 64;

/// Addresses of the pieces that nobody uses at the moment.
#[derive(Debug, Default)]
pub(super) struct Stages(Mutex<Vec<usize>>);

/// A piece of [`STAGE`] bytes. Dropping it gives it to the next transfer.
#[derive(Debug)]
pub(crate) struct Stage<'a> {
    gpus: &'a Gpus,
    address: usize,
}

impl Stage<'_> {
    /// Where it starts, which is the start of a page.
    pub(crate) fn memory(&self) -> *mut u8 {
        ptr::with_exposed_provenance_mut(self.address)
    }

    /// Keeps it from everybody: a driver that failed may still use it.
    pub(crate) fn abandon(self) {
        mem::forget(self);
    }
}

impl Gpus {
    /// Takes a piece that is free, or makes one.
    pub(crate) fn stage(&self) -> Result<Stage<'_>, hipError_t> {
        let free = self.stages.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let address = free.map_or_else(|| self.make(), Ok)?;
        Ok(Stage { gpus: self, address })
    }

    #[cold]
    fn make(&self) -> Result<usize, hipError_t> {
        let memory = pinned::map(STAGE)?;
        let address = memory.expose_provenance();
        // A forked child would share the pages, and the next write of ours get others than the driver has.
        // SAFETY: requires a mapping of that length; holds, it was just made.
        unsafe { sys::madvise(memory.cast(), STAGE, libc::MADV_DONTFORK) };
        if let Err(error) = self.pin_fresh(address, STAGE) {
            // SAFETY: requires what `map` answered, no longer used; holds.
            unsafe { pinned::unmap(memory, STAGE) };
            return Err(error);
        }
        Ok(address)
    }
}

impl Drop for Stage<'_> {
    fn drop(&mut self) {
        let mut free = self.gpus.stages.0.lock().unwrap_or_else(PoisonError::into_inner);
        if free.len() < KEPT {
            free.push(self.address);
            return;
        }
        drop(free);
        if self.gpus.unpin(self.address) {
            // SAFETY: requires what `map` answered, no longer used; holds as this value owned it.
            unsafe { pinned::unmap(self.memory(), STAGE) };
        }
    }
}
