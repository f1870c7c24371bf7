//! Live allocations: which memory is whose, and what an address means.

use std::collections::BTreeMap;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::arena::{Arena, ArenaError};
use crate::bindings::{hipError_t, hipErrorInvalidDevice, hipErrorInvalidValue, hipErrorOutOfMemory};
use crate::blocks::Blocks;
use crate::pinned;

/// What kind of memory an allocation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Device memory.
    Device,
    /// Pinned host memory, with the flags it was asked for.
    Pinned {
        /// The flags.
        flags: u32,
    },
}

/// A live allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Allocation {
    /// Its first address.
    pub(crate) base: usize,
    /// Its length in bytes, as asked for.
    pub(crate) len: usize,
    /// The device that was current.
    pub(crate) device: u32,
    /// What it is.
    pub(crate) kind: Kind,
}

impl Allocation {
    /// Holds no byte.
    pub(crate) const NONE: Allocation = Allocation { base: 0, len: 0, device: 0, kind: Kind::Device };

    /// Whether the range lies inside; an empty range may start at the end.
    #[inline]
    pub(crate) fn holds(&self, address: usize, len: usize) -> bool {
        address
            .checked_sub(self.base)
            .and_then(|skipped| self.len.checked_sub(skipped))
            .is_some_and(|rest| len <= rest)
    }
}

/// The memory of all devices and the pinned memory of the host.
#[derive(Debug)]
pub(crate) struct Memory {
    arena: Arena,
    /// Bytes a device has.
    per_device: usize,
    page: usize,
    tables: RwLock<Tables>,
    /// Changes with each free: an allocation seen at one value lives as long as the value stays.
    generation: AtomicU64,
}

#[derive(Debug)]
struct Tables {
    /// Free ranges of each device, as arena offsets.
    free: Vec<Blocks>,
    /// Every live allocation by its first address.
    live: BTreeMap<usize, Allocation>,
}

impl Tables {
    /// The allocation that starts last at or before the address.
    #[inline]
    fn before(&self, address: usize) -> Option<Allocation> {
        self.live.range(..=address).next_back().map(|(_, allocation)| *allocation)
    }

    /// Takes out the allocation that starts at the address, if it is of that sort.
    fn take(&mut self, address: usize, is_wanted: impl Fn(Kind) -> bool) -> Result<Allocation, hipError_t> {
        match self.live.get(&address) {
            Some(found) if is_wanted(found.kind) => self.live.remove(&address).ok_or(hipErrorInvalidValue),
            _ => Err(hipErrorInvalidValue),
        }
    }
}

impl Memory {
    /// Memory for some devices (more than 0), `per_device` bytes each (more than 0), rounded up to whole pages.
    pub(crate) fn new(devices: u32, per_device: usize, host_readable: bool) -> Result<Memory, ArenaError> {
        let page = page_size();
        let per_device = per_device.checked_next_multiple_of(page).unwrap_or(usize::MAX);
        let count = devices as usize;
        let arena = Arena::new(per_device.saturating_mul(count), host_readable)?;
        let free = (0..count).map(|device| Blocks::new(device * per_device, per_device)).collect();
        let tables = RwLock::new(Tables { free, live: BTreeMap::new() });
        Ok(Memory { arena, per_device, page, tables, generation: AtomicU64::new(1) })
    }

    /// Allocates device memory, `len` bytes (more than 0), and answers its public address.
    pub(crate) fn allocate(&self, device: u32, len: usize) -> Result<*mut u8, hipError_t> {
        let pages = len.checked_next_multiple_of(self.page).ok_or(hipErrorOutOfMemory)?;
        let mut tables = self.write();
        let blocks = tables.free.get_mut(device as usize).ok_or(hipErrorInvalidDevice)?;
        let address = self.arena.public(blocks.take(pages).ok_or(hipErrorOutOfMemory)?);
        let base = address.addr();
        tables.live.insert(base, Allocation { base, len, device, kind: Kind::Device });
        Ok(address)
    }

    /// Frees device memory by its first address.
    pub(crate) fn free(&self, address: usize) -> Result<(), hipError_t> {
        let allocation = {
            let mut tables = self.write();
            let taken = tables.take(address, |kind| kind == Kind::Device)?;
            self.generation.fetch_add(1, Ordering::Release);
            taken
        };
        let start = self.arena.offset(address).ok_or(hipErrorInvalidValue)?;
        let len = allocation.len.next_multiple_of(self.page);
        // SAFETY: requires that nobody needs the content; holds because the range is neither live nor free to take yet.
        unsafe { self.arena.release(start..start + len) };
        if let Some(blocks) = self.write().free.get_mut(allocation.device as usize) {
            blocks.give(start, len);
        }
        Ok(())
    }

    /// Allocates pinned host memory, `len` bytes (more than 0).
    pub(crate) fn allocate_pinned(&self, device: u32, len: usize, flags: u32) -> Result<*mut u8, hipError_t> {
        let address = pinned::map(len)?;
        let base = address.expose_provenance();
        self.write().live.insert(base, Allocation { base, len, device, kind: Kind::Pinned { flags } });
        Ok(address)
    }

    /// Frees pinned host memory by its first address.
    pub(crate) fn free_pinned(&self, address: usize) -> Result<(), hipError_t> {
        let allocation = self.write().take(address, |kind| kind != Kind::Device)?;
        let address = ptr::with_exposed_provenance_mut(address);
        // SAFETY: requires what `map` answered, no longer used; holds because the table knew it as pinned, it can't be
        // found any more, and the caller gives it up.
        unsafe { pinned::unmap(address, allocation.len) };
        Ok(())
    }

    /// The allocation that holds the address.
    pub(crate) fn find(&self, address: usize) -> Option<Allocation> {
        self.read().before(address).filter(|found| found.holds(address, 1))
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

    /// The private, writable address of a public one.
    #[inline]
    pub(crate) fn alias(&self, address: usize) -> Option<*mut u8> {
        self.arena.offset(address).map(|offset| self.arena.alias(offset))
    }

    /// Whether the range touches device addresses, live or not.
    pub(crate) fn touches_device(&self, address: usize, len: usize) -> bool {
        self.arena.overlaps(address, len)
    }

    /// Free and total bytes of a device.
    pub(crate) fn info(&self, device: u32) -> Result<(usize, usize), hipError_t> {
        let tables = self.read();
        let blocks = tables.free.get(device as usize).ok_or(hipErrorInvalidDevice)?;
        Ok((blocks.free(), self.per_device))
    }

    fn read(&self) -> RwLockReadGuard<'_, Tables> {
        self.tables.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Tables> {
        self.tables.write().unwrap_or_else(PoisonError::into_inner)
    }
}

fn page_size() -> usize {
    // SAFETY: requires nothing.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(size).unwrap_or(4096)
}

#[cfg(test)]
mod tests;
