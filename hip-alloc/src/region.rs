//! A run of bytes on a device: what buffers and slices have in common.
#![allow(unsafe_code, reason = "copies between host and device memory")]

use core::ffi::c_void;
use core::ops::Range;

use crate::device::Device;
use crate::error::{Error, Result};
use crate::ffi::Functions;
use crate::range;
use crate::table;

/// Address, length and device of memory that its holder vouches for. Null and 0 if empty.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Region {
    pub(crate) pointer: *mut c_void,
    pub(crate) len: usize,
    pub(crate) device: Device,
}

impl Region {
    /// The part at `range`, which was checked against `len`. An empty part at the end keeps the end's address.
    pub(crate) fn part(self, range: Range<usize>) -> Self {
        Self {
            pointer: self.pointer.cast::<u8>().wrapping_add(range.start).cast(),
            len: range.end.saturating_sub(range.start),
            device: self.device,
        }
    }

    /// Fills `destination` with the bytes at `offset`.
    ///
    /// # Safety
    /// The region is live device memory, which nobody writes meanwhile.
    pub(crate) unsafe fn copy_to_host(
        self,
        operation: &'static str,
        offset: usize,
        destination: &mut [u8],
    ) -> Result<()> {
        let source = self.part(range::span(operation, offset, destination.len(), self.len)?);
        source.transfer(operation, |hip| {
            // SAFETY: requires `destination.len()` live bytes at `source.pointer`; holds because the span was checked
            // against the region, which our caller promises to be live.
            unsafe { hip.copy_to_host(destination, source.pointer) }
        })
    }

    /// Writes `source` at `offset`.
    ///
    /// # Safety
    /// The region is live device memory, which nobody else uses meanwhile.
    pub(crate) unsafe fn copy_from_host(
        self,
        operation: &'static str,
        offset: usize,
        source: &[u8],
    ) -> Result<()> {
        let destination = self.part(range::span(operation, offset, source.len(), self.len)?);
        destination.transfer(operation, |hip| {
            // SAFETY: requires `source.len()` live bytes at `destination.pointer`, used by nobody else; holds because the
            // span was checked against the region, of which our caller promises that.
            unsafe { hip.copy_from_host(destination.pointer, source) }
        })
    }

    /// Sets every byte to `value`.
    ///
    /// # Safety
    /// The region is live device memory, which nobody else uses meanwhile.
    pub(crate) unsafe fn fill(self, operation: &'static str, value: u8) -> Result<()> {
        self.transfer(operation, |hip| {
            // SAFETY: requires `self.len` live bytes at `self.pointer`, used by nobody else; holds because our caller
            // promises that of the region.
            unsafe { hip.fill(self.pointer, value, self.len) }
        })
    }

    /// Every byte, in host memory.
    ///
    /// # Safety
    /// The region is live device memory, which nobody writes meanwhile.
    pub(crate) unsafe fn to_vec(self, operation: &'static str) -> Result<Vec<u8>> {
        let mut bytes = vec![0; self.len];
        // SAFETY: requires a live region that nobody writes; holds because our caller promises it.
        unsafe { self.copy_to_host(operation, 0, &mut bytes) }?;
        Ok(bytes)
    }

    /// Runs `start` with the region's device current and waits for the default stream. Nothing is called if the region is
    /// empty.
    fn transfer(
        self,
        operation: &'static str,
        start: impl FnOnce(&Functions) -> core::result::Result<(), crate::calls::Failure>,
    ) -> Result<()> {
        if self.len == 0 {
            return Ok(());
        }
        let hip = table::functions(operation)?;
        let _guard = self.device.enter(operation, hip)?;
        let started = start(hip);
        // Also after a failure: what was begun must not go on in host memory that we have given back.
        let finished = hip.synchronize_default_stream();
        started.and(finished).map_err(Error::hip_on(operation, self.device, self.len))
    }
}
