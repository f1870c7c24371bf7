//! Device memory: one memfd mapped twice. Programs get addresses in the public mapping, which host code can't touch;
//! the library works through the alias. Neither is ever unmapped, so a late access to freed memory stays inside.

use std::ffi::CStr;
use std::fmt;
use std::io;
use std::ops::Range;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr;

use soft_rocm_faults::sys;

use crate::huge::HUGE;

const NAME: &CStr = c"soft-rocm-device";

/// The memory of all devices.
#[derive(Debug)]
pub(crate) struct Arena {
    public: *mut u8,
    alias: *mut u8,
    len: usize,
}

// SAFETY: requires that the mappings may be used from any thread; holds because memory belongs to the process, and the
// arena only answers addresses in it.
unsafe impl Send for Arena {}
// SAFETY: as for Send; nothing of the arena changes after it was made.
unsafe impl Sync for Arena {}

/// The arena could not be made.
#[derive(Debug)]
pub(crate) struct ArenaError {
    len: usize,
    source: io::Error,
}

impl fmt::Display for ArenaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "cannot map {} bytes of device memory: {} (SOFT_ROCM_DEVICE_MEM and SOFT_ROCM_DEVICE_COUNT set the size)",
            self.len, self.source
        )
    }
}

impl std::error::Error for ArenaError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

impl Arena {
    /// Maps `len` bytes, a multiple of the page size. Pages take memory once they are touched. The alias starts where a
    /// huge page may.
    pub(crate) fn new(len: usize, host_readable: bool) -> Result<Arena, ArenaError> {
        Self::map(len, host_readable).map_err(|source| ArenaError { len, source })
    }

    fn map(len: usize, host_readable: bool) -> io::Result<Arena> {
        let fd = sys::memfd_create(NAME, libc::MFD_CLOEXEC);
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // The mappings keep the file. Its descriptor is closed at the end: a program that closes descriptors it does
        // not know and gets the number again must not have its own file taken for this one.
        // SAFETY: requires an open descriptor that nothing else owns; holds, it was just made.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        set_len(&fd, len)?;
        let access = if host_readable { libc::PROT_READ } else { libc::PROT_NONE };
        Ok(Arena {
            public: map_shared(&fd, len, access)?,
            alias: map_shared(&fd, len, libc::PROT_READ | libc::PROT_WRITE)?,
            len,
        })
    }

    /// Offset of an address of the public mapping.
    #[inline]
    pub(crate) fn offset(&self, address: usize) -> Option<usize> {
        address.checked_sub(self.public.addr()).filter(|offset| *offset < self.len)
    }

    /// Whether the public mapping and this range have a byte in common.
    pub(crate) fn overlaps(&self, address: usize, len: usize) -> bool {
        let start = self.public.addr();
        address < start + self.len && address.saturating_add(len) > start
    }

    /// Public address of an offset.
    pub(crate) fn public(&self, offset: usize) -> *mut u8 {
        self.public.wrapping_add(offset)
    }

    /// Private address of an offset, for reading and writing.
    #[inline]
    pub(crate) fn alias(&self, offset: usize) -> *mut u8 {
        self.alias.wrapping_add(offset)
    }

    /// Gives the pages of whole-page offsets back to the system; they read as zeros after that. Where the system can't,
    /// they keep memory and content, as a GPU's would.
    ///
    /// # Safety
    ///
    /// Nothing may rely on the content of the range.
    pub(crate) unsafe fn release(&self, range: Range<usize>) {
        let start = self.alias(range.start);
        // SAFETY: requires a range of the mapping whose content nobody needs; holds by contract.
        unsafe { sys::madvise(start.cast(), range.len(), libc::MADV_REMOVE) };
    }
}

/// Sets the length of the file. A limit on file sizes is lifted meanwhile if it may be: memory is no file to the user,
/// and going over the limit would raise SIGXFSZ.
fn set_len(fd: &OwnedFd, len: usize) -> io::Result<()> {
    let size = libc::off_t::try_from(len).map_err(|_| io::Error::from_raw_os_error(libc::EFBIG))?;
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: requires a writable rlimit; holds, it is a local.
    unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit) };
    if limit.rlim_max < len as libc::rlim_t {
        return Err(io::Error::from_raw_os_error(libc::EFBIG));
    }
    let lifted = libc::rlimit { rlim_cur: limit.rlim_max, ..limit };
    let lift = limit.rlim_cur < len as libc::rlim_t;
    if lift {
        // SAFETY: requires a readable rlimit; holds, it is a local.
        unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &lifted) };
    }
    let failed = sys::ftruncate(fd.as_raw_fd(), size) != 0;
    let result = if failed { Err(io::Error::last_os_error()) } else { Ok(()) };
    if lift {
        // SAFETY: as above.
        unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &limit) };
    }
    result
}

/// Maps the whole file, from where a huge page may start; children made by fork don't get the mapping.
fn map_shared(fd: &OwnedFd, len: usize, access: libc::c_int) -> io::Result<*mut u8> {
    let place = reserve(len)?;
    let flags = libc::MAP_SHARED | libc::MAP_NORESERVE | libc::MAP_FIXED;
    // SAFETY: requires that no mapping somebody uses is replaced; holds, the place was reserved for this.
    let address = unsafe { sys::mmap(place, len, access, flags, fd.as_raw_fd(), 0) };
    if address == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: requires a mapping of that length; holds, it was just made.
    unsafe { sys::madvise(address, len, libc::MADV_DONTFORK) };
    Ok(address.cast())
}

/// Addresses for `len` bytes, from where a huge page may start. Those before and after them stay out of use.
fn reserve(len: usize) -> io::Result<*mut libc::c_void> {
    let room = len.checked_add(HUGE).ok_or_else(|| io::Error::from_raw_os_error(libc::ENOMEM))?;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: requires that no existing mapping is replaced; holds, the system chooses free addresses.
    let start = unsafe { sys::mmap(ptr::null_mut(), room, libc::PROT_NONE, flags, -1, 0) };
    if start == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    Ok(start.wrapping_byte_add(start.align_offset(HUGE)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEN: usize = 1 << 20;

    /// Bytes of the process that are backed by memory of this arena.
    fn resident(arena: &Arena, offset: usize, len: usize) -> usize {
        let mut pages = vec![0u8; len / 4096];
        // SAFETY: requires one byte a page; holds for the vector above.
        let failed = unsafe { libc::mincore(arena.alias(offset).cast(), len, pages.as_mut_ptr()) };
        assert_eq!(failed, 0);
        pages.iter().filter(|page| **page & 1 == 1).count() * 4096
    }

    #[test]
    fn public_addresses_map_to_offsets_and_nothing_else_does() {
        let arena = Arena::new(LEN, false).unwrap();
        let base = arena.public(0).addr();
        assert_eq!(arena.offset(base), Some(0));
        assert_eq!(arena.offset(base + LEN - 1), Some(LEN - 1));
        assert_eq!(arena.offset(base + LEN), None);
        assert_eq!(arena.offset(base - 1), None);
        assert_eq!(arena.offset(0), None);
        assert_eq!(arena.offset(arena.alias(0).addr()), None);
    }

    #[test]
    fn overlaps_sees_ranges_from_both_sides() {
        let arena = Arena::new(LEN, false).unwrap();
        let base = arena.public(0).addr();
        assert!(arena.overlaps(base - 1, 2));
        assert!(!arena.overlaps(base - 1, 1));
        assert!(arena.overlaps(base + LEN - 1, 1));
        assert!(!arena.overlaps(base + LEN, 1));
        assert!(arena.overlaps(0, usize::MAX));
    }

    #[test]
    fn both_mappings_show_the_same_bytes() {
        let arena = Arena::new(LEN, true).unwrap();
        // SAFETY: requires a writable byte; holds inside the alias.
        unsafe { arena.alias(5000).write(42) };
        // SAFETY: requires a readable byte; holds inside a mapping that host code may read.
        assert_eq!(unsafe { arena.public(5000).read_volatile() }, 42);
    }

    #[test]
    fn released_pages_take_no_memory_and_read_as_zeros() {
        let arena = Arena::new(LEN, false).unwrap();
        // SAFETY: requires writable bytes; holds inside the alias.
        unsafe { arena.alias(0).write_bytes(7, 64 << 10) };
        assert_eq!(resident(&arena, 0, 64 << 10), 64 << 10);
        // SAFETY: requires that nobody needs the content; holds.
        unsafe { arena.release(0..32 << 10) };
        assert_eq!(resident(&arena, 0, 32 << 10), 0);
        assert_eq!(resident(&arena, 32 << 10, 32 << 10), 32 << 10);
        // SAFETY: requires a readable byte; holds inside the alias.
        assert_eq!(unsafe { arena.alias(0).read_volatile() }, 0);
    }

    #[test]
    fn an_impossible_size_is_an_error_that_says_what_to_change() {
        let text = Arena::new(1 << 62, false).unwrap_err().to_string();
        assert!(text.starts_with("cannot map 4611686018427387904 bytes of device memory: "), "{text}");
        assert!(text.ends_with("(SOFT_ROCM_DEVICE_MEM and SOFT_ROCM_DEVICE_COUNT set the size)"), "{text}");
    }
}
