//! Host memory that the driver keeps in place, so that GPUs reach it.

use std::collections::BTreeMap;
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{Gpus, hip};
use crate::bindings::hipError_t;

/// The ranges that this library pinned: start and length. Others may be pinned by the program, and are its own to unpin.
#[derive(Debug, Default)]
pub(super) struct Pins(Mutex<BTreeMap<usize, usize>>);

impl Pins {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<usize, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Gpus {
    /// Pins host memory.
    pub(crate) fn pin(&self, address: usize, len: usize) -> Result<(), hipError_t> {
        /// For the contexts of all devices.
        const PORTABLE: u32 = 1;
        let mut pins = self.pins.lock();
        let _current = self.enter(0)?;
        // SAFETY: requires nothing; the driver refuses what is not mapped.
        hip(unsafe { (self.functions.pin)(ptr::without_provenance_mut(address), len, PORTABLE) })?;
        pins.insert(address, len);
        Ok(())
    }

    /// Pins host memory that was just mapped: what was pinned there before is gone, and its program did not say so.
    pub(crate) fn pin_fresh(&self, address: usize, len: usize) -> Result<(), hipError_t> {
        let end = address.saturating_add(len);
        let stale: Vec<_> = {
            let pins = self.pins.lock();
            let overlaps = |(start, pinned): &(&usize, &usize)| **start + **pinned > address;
            pins.range(..end).filter(overlaps).map(|(start, _)| *start).collect()
        };
        for start in stale {
            self.unpin(start);
        }
        self.pin(address, len)
    }

    /// Undoes what was pinned here. Whether the memory is no longer pinned by this library.
    pub(crate) fn unpin(&self, address: usize) -> bool {
        let mut pins = self.pins.lock();
        if !pins.contains_key(&address) {
            return true;
        }
        let Ok(_current) = self.enter(0) else { return false };
        // SAFETY: requires nothing; the driver refuses what is not pinned.
        let done = unsafe { (self.functions.unpin)(ptr::without_provenance_mut(address)) } == 0;
        if done {
            pins.remove(&address);
        }
        done
    }
}
