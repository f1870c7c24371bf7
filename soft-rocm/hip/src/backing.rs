//! What device memory is made of: memory of the host that programs can't touch, or that of NVIDIA's GPUs.

use std::ops::Range;
use std::ptr;

use crate::allocation::Allocation;
use crate::arena::{Arena, ArenaError};
use crate::bindings::hipError_t;
use crate::cuda::Gpus;
use crate::huge::{self, HugePages};
use crate::pinned;
use crate::place::Place;

/// The memory of all devices, without regard to what is allocated.
#[derive(Debug)]
pub(crate) enum Backing {
    /// Memory of the host.
    Host(Host),
    /// Memory of GPUs.
    Gpus(Box<Gpus>),
}

/// Devices of host memory.
#[derive(Debug)]
pub(crate) struct Host {
    arena: Arena,
    huge: HugePages,
    devices: u32,
    per_device: usize,
}

impl Host {
    /// Some devices (more than 0), `per_device` bytes each (more than 0), rounded up to whole pages.
    pub(crate) fn new(devices: u32, per_device: usize, host_readable: bool) -> Result<Host, ArenaError> {
        let per_device = per_device.checked_next_multiple_of(pinned::page_size()).unwrap_or(usize::MAX);
        let len = per_device.saturating_mul(devices as usize);
        let arena = Arena::new(len, host_readable)?;
        Ok(Host { arena, huge: HugePages::new(len), devices, per_device })
    }

    /// The private, writable address of a range inside an allocation that is about to be used.
    #[inline]
    pub(crate) fn alias(&self, allocation: &Allocation, address: usize, len: usize) -> Option<*mut u8> {
        let offset = self.arena.offset(address)?;
        if len >= huge::LEAST {
            let start = offset - (address - allocation.base);
            self.huge.bring_in(&self.arena, offset..offset + len, start..start + allocation.len);
        }
        Some(self.arena.alias(offset))
    }
}

impl Backing {
    /// Number of devices.
    pub(crate) fn devices(&self) -> u32 {
        match self {
            Backing::Host(host) => host.devices,
            Backing::Gpus(gpus) => gpus.count(),
        }
    }

    /// What the devices are called.
    pub(crate) fn names(&self) -> Vec<String> {
        match self {
            Backing::Host(host) => {
                (0..host.devices).map(|device| format!("Software ROCm device {device}")).collect()
            }
            Backing::Gpus(gpus) => gpus.names(),
        }
    }

    /// Bytes that each device has.
    pub(crate) fn per_device(&self) -> usize {
        match self {
            Backing::Host(host) => host.per_device,
            Backing::Gpus(gpus) => gpus.memory(),
        }
    }

    /// What allocations start at and are multiples of.
    pub(crate) fn page(&self) -> usize {
        match self {
            Backing::Host(_) => pinned::page_size(),
            Backing::Gpus(gpus) => gpus.granularity(),
        }
    }

    /// Offset of a device address.
    #[inline]
    pub(crate) fn offset(&self, address: usize) -> Option<usize> {
        match self {
            Backing::Host(host) => host.arena.offset(address),
            Backing::Gpus(gpus) => address.checked_sub(gpus.base()).filter(|offset| *offset < gpus.len()),
        }
    }

    /// Whether the device addresses and this range have a byte in common.
    pub(crate) fn overlaps(&self, address: usize, len: usize) -> bool {
        match self {
            Backing::Host(host) => host.arena.overlaps(address, len),
            Backing::Gpus(gpus) => {
                address < gpus.base() + gpus.len() && address.saturating_add(len) > gpus.base()
            }
        }
    }

    /// Device address of an offset.
    pub(crate) fn public(&self, offset: usize) -> *mut u8 {
        match self {
            Backing::Host(host) => host.arena.public(offset),
            Backing::Gpus(gpus) => ptr::without_provenance_mut(gpus.base() + offset),
        }
    }

    /// Puts memory behind whole pages of a device that have none. Those of the host take it once they are touched.
    pub(crate) fn back(&self, device: u32, offsets: Range<usize>) -> Result<(), hipError_t> {
        match self {
            Backing::Host(_) => Ok(()),
            Backing::Gpus(gpus) => gpus.back(device, gpus.base() + offsets.start..gpus.base() + offsets.end),
        }
    }

    /// Gives back the memory behind what one call of [`Backing::back`] named. Whether that went well, so that there may be memory
    /// behind it again.
    ///
    /// # Safety
    ///
    /// Nothing may rely on the content of the range.
    pub(crate) unsafe fn release(&self, offsets: Range<usize>) -> bool {
        match self {
            Backing::Host(host) => {
                // SAFETY: requires that nobody needs the content; holds by contract.
                unsafe { host.arena.release(offsets.clone()) };
                host.huge.forget(offsets);
                true
            }
            Backing::Gpus(gpus) => {
                gpus.unback(gpus.base() + offsets.start..gpus.base() + offsets.end).is_ok()
            }
        }
    }

    /// Where a range inside an allocation of a device is, which is about to be used.
    #[inline]
    pub(crate) fn place(&self, allocation: &Allocation, address: usize, len: usize) -> Option<Place<'_>> {
        match self {
            Backing::Host(host) => host.alias(allocation, address, len).map(Place::Host),
            Backing::Gpus(gpus) => Some(Place::Gpu { gpus, device: allocation.device, address }),
        }
    }

    /// Free bytes of a device of which this process has not taken `left`.
    pub(crate) fn free(&self, device: u32, left: usize) -> Result<usize, hipError_t> {
        match self {
            Backing::Host(_) => Ok(left),
            Backing::Gpus(gpus) => gpus.free(device).map(|free| free.min(left)),
        }
    }

    /// Has host memory of the program stay in place, where devices could not reach it otherwise.
    pub(crate) fn pin(&self, address: usize, len: usize) -> Result<(), hipError_t> {
        match self {
            Backing::Host(_) => Ok(()),
            Backing::Gpus(gpus) => gpus.pin(address, len),
        }
    }

    /// The same for memory that was just mapped.
    pub(crate) fn pin_fresh(&self, address: usize, len: usize) -> Result<(), hipError_t> {
        match self {
            Backing::Host(_) => Ok(()),
            Backing::Gpus(gpus) => gpus.pin_fresh(address, len),
        }
    }

    /// Undoes what was pinned here. Whether the memory is no longer pinned, and may be unmapped.
    pub(crate) fn unpin(&self, address: usize) -> bool {
        match self {
            Backing::Host(_) => true,
            Backing::Gpus(gpus) => gpus.unpin(address),
        }
    }
}
