//! Host memory: pages of the library's own, so that an access after the free faults, and what belongs to the program.

use std::ptr;

use soft_rocm_faults::sys;

use crate::bindings::{hipError_t, hipErrorOutOfMemory};

/// Maps `len` bytes (more than 0) of zeros.
pub(crate) fn map(len: usize) -> Result<*mut u8, hipError_t> {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: requires that no existing mapping is replaced; holds, the system chooses a free address.
    let address = unsafe { sys::mmap(ptr::null_mut(), len, access, flags, -1, 0) };
    if address == libc::MAP_FAILED { Err(hipErrorOutOfMemory) } else { Ok(address.cast()) }
}

/// Unmaps what [`map`] mapped.
///
/// # Safety
///
/// `address` and `len` are those of one call of [`map`], and nothing uses the memory any more.
pub(crate) unsafe fn unmap(address: *mut u8, len: usize) {
    // SAFETY: requires a whole mapping that nobody uses; holds by contract.
    unsafe { sys::munmap(address.cast(), len) };
}

/// Whether the system knows the whole range, which is not empty, as memory of this process.
pub(crate) fn is_mapped(address: usize, len: usize) -> bool {
    let start = address - address % page_size();
    // SAFETY: requires nothing of a range: with this flag the system looks at its mappings and does no more.
    unsafe { sys::msync(ptr::without_provenance_mut(start), len + (address - start), libc::MS_ASYNC) == 0 }
}

/// Size of a page.
pub(crate) fn page_size() -> usize {
    // SAFETY: requires nothing.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(size).unwrap_or(4096)
}
