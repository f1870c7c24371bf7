//! How device memory goes: Drop, `free`, `into_raw`; and how it comes from elsewhere.
#![allow(unsafe_code, reason = "frees memory and takes ownership of raw memory")]

use core::ffi::c_void;
use core::mem;
use core::ptr;

use crate::buffer::DeviceBuffer;
use crate::device::Device;
use crate::error::{Error, ErrorKind, Result};
use crate::failed::Failed;
use crate::leaks;
use crate::region::Region;
use crate::registrations::Registrations;
use crate::table;

/// The parts of a [`DeviceBuffer`] without their owner: see [`DeviceBuffer::into_raw`].
///
/// ```
/// # fn main() -> hip_alloc::Result<()> {
/// use hip_alloc::{DeviceBuffer, RawBuffer};
///
/// let raw: RawBuffer = DeviceBuffer::from_host(b"abc")?.into_raw()?;
/// // SAFETY: the parts are those of a buffer, and nobody freed them.
/// let buffer = unsafe { DeviceBuffer::from_raw(raw) };
/// assert_eq!(buffer.to_vec()?, b"abc");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawBuffer {
    /// What `hipMalloc` or `hipMallocAsync` returned and `hipFree` takes; null if `len` is 0.
    pub allocation: *mut c_void,
    /// Where the bytes begin, counted from `allocation`: not 0 only for some aligned buffers.
    pub offset: usize,
    /// Number of bytes.
    pub len: usize,
    /// The device that the memory is on.
    pub device: Device,
}

impl DeviceBuffer {
    /// Frees the memory and says if that fails, which Drop can't. Waits for the device, but for memory of
    /// [`new_on`](Self::new_on).
    ///
    /// # Errors
    /// The buffer comes back with the reason: [`ErrorKind::Busy`] if a library still holds a
    /// registration whose guard was forgotten; [`ErrorKind::Forked`] in a forked child; else
    /// HIP's.
    #[doc(alias = "hipFree")]
    pub fn free(mut self) -> core::result::Result<(), Failed<Self>> {
        match self.release("DeviceBuffer::free") {
            Ok(()) => Ok(()),
            Err(error) => Err(Failed::new(error, self)),
        }
    }

    /// Takes the memory apart; whoever has the parts frees them.
    ///
    /// # Errors
    /// The buffer comes back with the reason: [`ErrorKind::Busy`] if a library still holds a
    /// registration whose guard was forgotten; [`ErrorKind::Forked`] in a forked child.
    pub fn into_raw(mut self) -> core::result::Result<RawBuffer, Failed<Self>> {
        if let Err(error) = self.registrations.clear("DeviceBuffer::into_raw") {
            return Err(Failed::new(error, self));
        }
        let (allocation, region) = (self.allocation, self.region);
        self.allocation = ptr::null_mut();
        let offset = region.pointer.addr().wrapping_sub(allocation.addr());
        Ok(RawBuffer { allocation, offset, len: region.len, device: region.device })
    }

    /// Owns memory that came from [`into_raw`](Self::into_raw) or from `hipMalloc`.
    ///
    /// # Safety
    /// `raw.allocation` came from `hipMalloc` while `raw.device` was current and was not freed; it has at least
    /// `raw.offset + raw.len` bytes, at most `isize::MAX`. Nobody else uses or frees it, and no library holds a registration
    /// of it. Or all of `raw` but the device is null and 0.
    #[must_use]
    pub unsafe fn from_raw(raw: RawBuffer) -> Self {
        let RawBuffer { allocation, offset, len, device } = raw;
        let pointer = allocation.cast::<u8>().wrapping_add(offset).cast();
        let region = Region { pointer, len, device };
        Self { allocation, region, registrations: Registrations::default(), stream: None }
    }

    /// Deregisters and frees. After success there is nothing left to free.
    fn release(&mut self, operation: &'static str) -> Result<()> {
        self.registrations.clear(operation)?;
        if self.allocation.is_null() {
            return Ok(());
        }
        let hip = table::functions(operation)?;
        let Region { device, len, .. } = self.region;
        let _guard = device.enter(operation, hip)?;
        let freed = match &self.stream {
            // SAFETY: requires an allocation that nobody uses; holds because the buffer owns it, we have the buffer to
            // ourselves, and no library remembers it.
            None => unsafe { hip.free(self.allocation) },
            // SAFETY: as above, and a live stream of the current device; holds because it is on the buffer's device.
            Some(stream) => unsafe { hip.free_async(self.allocation, stream.as_ref().raw()) },
        };
        freed.map_err(Error::hip_on(operation, device, len))?;
        self.allocation = ptr::null_mut();
        Ok(())
    }
}

impl Drop for DeviceBuffer {
    fn drop(&mut self) {
        let Err(error) = self.release("DeviceBuffer::drop") else { return };
        // Kept registrations need their hooks' driver to stay open, and in a forked child the set may have been left half
        // changed by a thread that is not there.
        mem::forget(mem::take(&mut self.registrations));
        if error.kind() != ErrorKind::Forked {
            leaks::record(self.region.len);
        }
    }
}
