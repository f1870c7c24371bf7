//! Live allocations: which memory is whose, and what an address means.

use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::allocation::{Allocation, Kind};
use crate::backing::Backing;
use crate::bindings::{
    hipError_t, hipErrorHostMemoryAlreadyRegistered, hipErrorHostMemoryNotRegistered, hipErrorInvalidDevice,
    hipErrorInvalidValue, hipErrorOutOfMemory,
};
use crate::blocks::Blocks;
use crate::pinned;
use crate::place::Place;

mod tables;
mod verdict;

pub(crate) use verdict::Verdict;

use tables::Tables;

/// The memory of all devices, and the host memory the runtime knows.
#[derive(Debug)]
pub(crate) struct Memory {
    backing: Backing,
    /// Bytes a device has.
    per_device: usize,
    /// What the length of a device's allocations is rounded up to.
    page: usize,
    tables: RwLock<Tables>,
    /// Changes with each free: an allocation seen at one value lives as long as the value stays.
    generation: AtomicU64,
}

impl Memory {
    /// Nothing is allocated. `remembers` is for [`Memory::judge_use`] and [`Memory::judge_end`].
    pub(crate) fn new(backing: Backing, remembers: bool) -> Memory {
        let (devices, per_device, page) = (backing.devices(), backing.per_device(), backing.page());
        let free = (0..devices as usize).map(|device| Blocks::new(device * per_device, per_device)).collect();
        let tables = RwLock::new(Tables::new(free, remembers));
        Memory { backing, per_device, page, tables, generation: AtomicU64::new(1) }
    }

    /// Allocates device memory, `len` bytes (more than 0), and answers its public address.
    pub(crate) fn allocate(&self, device: u32, len: usize) -> Result<*mut u8, hipError_t> {
        let pages = len.checked_next_multiple_of(self.page).ok_or(hipErrorOutOfMemory)?;
        let start = {
            let mut tables = self.write();
            let blocks = tables.free.get_mut(device as usize).ok_or(hipErrorInvalidDevice)?;
            blocks.take(pages).ok_or(hipErrorOutOfMemory)?
        };
        // Without the lock, which all others need: this may take long.
        let backed = self.backing.back(device, start..start + pages);
        let mut tables = self.write();
        if let Err(error) = backed {
            if let Some(blocks) = tables.free.get_mut(device as usize) {
                blocks.give(start, pages);
            }
            return Err(error);
        }
        let address = self.backing.public(start);
        let base = address.addr();
        tables.live.insert(base, Allocation { base, len, device, kind: Kind::Device });
        Ok(address)
    }

    /// Frees device, managed or signal memory by its first address.
    pub(crate) fn free(&self, address: usize) -> Result<(), hipError_t> {
        let allocation = {
            let mut tables = self.write();
            let taken = tables.take(address, Kind::is_freed_as_device).ok_or(hipErrorInvalidValue)?;
            self.generation.fetch_add(1, Ordering::Release);
            taken
        };
        if allocation.kind != Kind::Device {
            // SAFETY: requires an allocation taken out of the table that nobody uses; holds, the caller gives it up.
            unsafe { unmap(&allocation) };
            return Ok(());
        }
        let start = self.backing.offset(address).ok_or(hipErrorInvalidValue)?;
        let len = allocation.len.next_multiple_of(self.page);
        // SAFETY: requires that nobody needs the content; holds because the range is neither live nor free to take yet.
        let is_usable = unsafe { self.backing.release(start..start + len) };
        if let Some(blocks) = self.write().free.get_mut(allocation.device as usize).filter(|_| is_usable) {
            blocks.give(start, len);
        }
        Ok(())
    }

    /// Frees all device, managed and signal memory of a device.
    pub(crate) fn free_all(&self, device: u32) {
        let live = self.read().live.values().copied().collect::<Vec<_>>();
        for found in live.into_iter().filter(|found| found.device == device) {
            // Other kinds are refused and stay. Another thread may have been faster.
            let _ = self.free(found.base);
        }
    }

    /// Allocates memory that the host reaches as well, `len` bytes (more than 0).
    pub(crate) fn allocate_mapped(&self, device: u32, len: usize, kind: Kind) -> Result<*mut u8, hipError_t> {
        let address = pinned::map(len)?;
        let base = address.expose_provenance();
        {
            let mut tables = self.write();
            // The system gives out addresses whose memory a program freed while it was registered.
            while let Some(stale) = tables.overlapping(base, len) {
                tables.live.remove(&stale.base);
            }
            tables.live.insert(base, Allocation { base, len, device, kind });
        }
        if kind.is_pinned() {
            if let Err(error) = self.backing.pin_fresh(base, len) {
                self.write().live.remove(&base);
                // SAFETY: requires what `map` answered, no longer used; holds, nobody was told of it.
                unsafe { pinned::unmap(address, len) };
                return Err(error);
            }
        }
        Ok(address)
    }

    /// Frees pinned host memory by its first address.
    pub(crate) fn free_pinned(&self, address: usize) -> Result<(), hipError_t> {
        let allocation = self.write().take(address, Kind::is_pinned).ok_or(hipErrorInvalidValue)?;
        if self.backing.unpin(address) {
            // SAFETY: requires an allocation taken out of the table that nobody uses; holds, the caller gives it up.
            unsafe { unmap(&allocation) };
        }
        Ok(())
    }

    /// Registers host memory of the program, `len` bytes (more than 0).
    pub(crate) fn register(
        &self,
        device: u32,
        base: usize,
        len: usize,
        flags: u32,
    ) -> Result<(), hipError_t> {
        if base.checked_add(len).is_none() || self.touches_device(base, len) || !pinned::is_mapped(base, len)
        {
            return Err(hipErrorInvalidValue);
        }
        let mut tables = self.write();
        if tables.overlapping(base, len).is_some() {
            return Err(hipErrorHostMemoryAlreadyRegistered);
        }
        tables.live.insert(base, Allocation { base, len, device, kind: Kind::Registered { flags } });
        drop(tables);
        // Without it copies are slower, and right.
        let _ = self.backing.pin(base, len);
        Ok(())
    }

    /// Undoes a registration by its first address.
    pub(crate) fn unregister(&self, address: usize) -> Result<(), hipError_t> {
        self.write().take(address, Kind::is_registered).ok_or(hipErrorHostMemoryNotRegistered)?;
        self.backing.unpin(address);
        Ok(())
    }

    /// The allocation that holds the address.
    pub(crate) fn find(&self, address: usize) -> Option<Allocation> {
        self.read().at(address)
    }

    /// The device allocation that holds the range, and the generation it was seen at.
    pub(crate) fn find_device(&self, address: usize, len: usize) -> Option<(Allocation, u64)> {
        let tables = self.read();
        let found = tables.before(address)?;
        let fits = found.kind == Kind::Device && found.holds(address, len);
        fits.then(|| (found, self.generation.load(Ordering::Relaxed)))
    }

    /// See the field.
    #[inline]
    pub(crate) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// The address by which host code reaches a range inside an allocation of a device, if it does, which is about to be used.
    #[inline]
    pub(crate) fn alias(&self, allocation: &Allocation, address: usize, len: usize) -> Option<*mut u8> {
        match &self.backing {
            Backing::Host(host) => host.alias(allocation, address, len),
            Backing::Gpus(_) => None,
        }
    }

    /// Where a range inside an allocation of a device is, which is about to be used.
    #[inline]
    pub(crate) fn place(&self, allocation: &Allocation, address: usize, len: usize) -> Option<Place<'_>> {
        self.backing.place(allocation, address, len)
    }

    /// Whether the range touches device addresses, live or not.
    pub(crate) fn touches_device(&self, address: usize, len: usize) -> bool {
        self.backing.overlaps(address, len)
    }

    /// Bytes each device has.
    pub(crate) fn per_device(&self) -> usize {
        self.per_device
    }

    /// Free and total bytes of a device.
    pub(crate) fn info(&self, device: u32) -> Result<(usize, usize), hipError_t> {
        let left = self.read().free.get(device as usize).ok_or(hipErrorInvalidDevice)?.free();
        Ok((self.backing.free(device, left)?, self.per_device))
    }

    fn read(&self) -> RwLockReadGuard<'_, Tables> {
        self.tables.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Tables> {
        self.tables.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Unmaps memory that was mapped for one allocation.
///
/// # Safety
///
/// The allocation was made by [`Memory::allocate_mapped`] and is no longer in the table, so that nobody else unmaps it;
/// nobody uses the memory.
unsafe fn unmap(allocation: &Allocation) {
    let address = ptr::with_exposed_provenance_mut(allocation.base);
    // SAFETY: requires what `map` answered, no longer used; holds by contract.
    unsafe { pinned::unmap(address, allocation.len) };
}

#[cfg(test)]
mod model_tests;
#[cfg(test)]
mod tests;
