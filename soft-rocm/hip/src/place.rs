//! Where bytes are, and how they move.

use std::ptr;

use crate::bindings::{hipError_t, hipErrorInvalidValue};
use crate::cuda::{Gpus, STAGE};

/// Where a range is that may be used.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place<'a> {
    /// Here this library reaches it.
    Host(*mut u8),
    /// In a GPU's memory, which only the driver reaches.
    Gpu {
        /// All GPUs.
        gpus: &'a Gpus,
        /// Which of them.
        device: u32,
        /// At what address.
        address: usize,
    },
}

impl Place<'_> {
    fn address(self) -> usize {
        match self {
            Place::Host(address) => address.expose_provenance(),
            Place::Gpu { address, .. } => address,
        }
    }

    /// So many bytes on.
    fn skip(self, bytes: usize) -> Self {
        match self {
            Place::Host(address) => Place::Host(address.wrapping_add(bytes)),
            Place::Gpu { gpus, device, address } => Place::Gpu { gpus, device, address: address + bytes },
        }
    }

    /// Copies `len` bytes from another place. The ranges may overlap.
    ///
    /// # Safety
    ///
    /// The ranges may be read and written, and nobody uses them otherwise.
    pub(crate) unsafe fn copy_from(self, src: Place<'_>, len: usize) -> Result<(), hipError_t> {
        match (self, src) {
            (
                Place::Gpu { gpus, device: to, address: dst },
                Place::Gpu { device: from, address: src_address, .. },
            ) if to != from || dst.abs_diff(src_address) < len => {
                // SAFETY: requires what this one does.
                unsafe { self.copy_staged(gpus, src, len) }
            }
            (Place::Gpu { gpus, .. }, Place::Host(_)) | (Place::Host(_), Place::Gpu { gpus, .. }) => {
                // SAFETY: as above.
                match unsafe { self.copy_at_once(src, len) } {
                    // The driver takes no host memory of which it knows a part.
                    // SAFETY: as above.
                    Err(hipErrorInvalidValue) => unsafe { self.copy_staged(gpus, src, len) },
                    result => result,
                }
            }
            // SAFETY: as above.
            _ => unsafe { self.copy_at_once(src, len) },
        }
    }

    /// As [`Place::copy_from`], except between GPUs, and for ranges of one that overlap.
    ///
    /// # Safety
    ///
    /// As there.
    unsafe fn copy_at_once(self, src: Place<'_>, len: usize) -> Result<(), hipError_t> {
        match (self, src) {
            (Place::Host(dst), Place::Host(src)) => {
                // SAFETY: requires a readable and a writable range; holds by contract.
                unsafe { ptr::copy(src, dst, len) };
                Ok(())
            }
            (Place::Gpu { gpus, device, .. }, _) | (_, Place::Gpu { gpus, device, .. }) => {
                // SAFETY: as above.
                unsafe { gpus.copy(device, self.address(), src.address(), len) }
            }
        }
    }

    /// Copies through pinned memory.
    ///
    /// # Safety
    ///
    /// As for [`Place::copy_from`].
    unsafe fn copy_staged(self, gpus: &Gpus, src: Place<'_>, len: usize) -> Result<(), hipError_t> {
        let stage = gpus.stage()?;
        let pinned = Place::Host(stage.memory());
        let chunks = len.div_ceil(STAGE);
        for step in 0..chunks {
            // What is written first must not be what is read later.
            let chunk = if self.address() > src.address() { chunks - 1 - step } else { step };
            let at = chunk * STAGE;
            let count = STAGE.min(len - at);
            // SAFETY: requires a readable source and a writable destination; holds by contract and for the stage.
            let copied = unsafe { pinned.copy_at_once(src.skip(at), count) }
                // SAFETY: as above.
                .and_then(|()| unsafe { self.skip(at).copy_at_once(pinned, count) });
            if copied.is_err() {
                stage.abandon();
                return copied;
            }
        }
        Ok(())
    }

    /// Fills `len` bytes.
    ///
    /// # Safety
    ///
    /// The range may be written, and nobody uses it otherwise.
    pub(crate) unsafe fn fill(self, value: u8, len: usize) -> Result<(), hipError_t> {
        match self {
            Place::Host(dst) => {
                // SAFETY: requires a writable range; holds by contract.
                unsafe { dst.write_bytes(value, len) };
                Ok(())
            }
            // SAFETY: as above.
            Place::Gpu { gpus, device, address } => unsafe { gpus.fill(device, address, value, len) },
        }
    }

    /// Fills `count` words of 4 bytes.
    ///
    /// # Safety
    ///
    /// As for [`Place::fill`]; the place is a multiple of 4.
    pub(crate) unsafe fn fill_words(self, value: u32, count: usize) -> Result<(), hipError_t> {
        match self {
            Place::Host(dst) => {
                // SAFETY: requires an aligned writable range; holds by contract.
                unsafe { std::slice::from_raw_parts_mut(dst.cast::<u32>(), count) }.fill(value);
                Ok(())
            }
            // SAFETY: as above.
            Place::Gpu { gpus, device, address } => unsafe { gpus.fill_words(device, address, value, count) },
        }
    }
}
