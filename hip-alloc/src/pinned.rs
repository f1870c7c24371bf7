//! Owned host memory that devices reach directly.
#![allow(unsafe_code, reason = "vouches for the memory it owns")]

use core::fmt;
use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;
use core::slice;

use crate::error::{Cause, Error, ErrorKind, Result};
use crate::fork::forked;
use crate::leaks;
use crate::table;

/// Owned page-locked host memory, in bytes: what copies in a stream need to overlap with other work.
///
/// It reads and writes as a slice of bytes and belongs to no device. Drop frees it, with an implicit wait for every device;
/// what can't be freed is leaked and counted ([`leaked`](crate::leaked)). In a forked child it is empty, since the pages are
/// not there.
///
/// An empty one allocates nothing.
///
/// ```
/// # fn main() -> hip_alloc::Result<()> {
/// use hip_alloc::PinnedBuffer;
///
/// let mut buffer = PinnedBuffer::zeroed(8)?;
/// buffer[..3].copy_from_slice(b"abc");
/// assert_eq!(*buffer, *b"abc\0\0\0\0\0");
/// # Ok(())
/// # }
/// ```
pub struct PinnedBuffer {
    /// Dangling if `len` is 0.
    pointer: NonNull<u8>,
    len: usize,
}

// SAFETY: requires that the buffer may be used and dropped on another thread than the one that made it; holds because
// HIP's memory belongs to the process, and hipHostFree may be called on any thread.
unsafe impl Send for PinnedBuffer {}

// SAFETY: requires that several threads may use `&PinnedBuffer` at once; holds because that only allows to read.
unsafe impl Sync for PinnedBuffer {}

impl PinnedBuffer {
    /// Allocates `len` bytes and sets them to 0.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`] if the host has not that much to lock; [`ErrorKind::InvalidInput`] if `len` is above
    /// `isize::MAX`; [`ErrorKind::NoDevice`] without a device.
    #[doc(alias = "hipHostMalloc")]
    pub fn zeroed(len: usize) -> Result<Self> {
        Self::allocate("PinnedBuffer::zeroed", len)
    }

    /// Allocates `bytes.len()` bytes and copies `bytes` there.
    ///
    /// ```
    /// # fn main() -> hip_alloc::Result<()> {
    /// let buffer = hip_alloc::PinnedBuffer::from_slice(b"abc")?;
    /// assert_eq!(*buffer, *b"abc");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`zeroed`](Self::zeroed).
    pub fn from_slice(bytes: &[u8]) -> Result<Self> {
        let mut buffer = Self::allocate("PinnedBuffer::from_slice", bytes.len())?;
        buffer.copy_from_slice(bytes);
        Ok(buffer)
    }

    fn allocate(operation: &'static str, len: usize) -> Result<Self> {
        if isize::try_from(len).is_err() {
            return Err(Error::new(operation, Cause::Length { len }));
        }
        let hip = table::functions(operation)?;
        if len == 0 {
            return Ok(Self { pointer: NonNull::dangling(), len });
        }
        let pointer = hip.host_malloc(len).map_err(Error::hip_for(operation, len))?.cast::<u8>();
        // SAFETY: requires `len` writable bytes that nobody else uses; holds because HIP just gave them.
        unsafe { pointer.write_bytes(0, len) };
        Ok(Self { pointer, len })
    }
}

impl Deref for PinnedBuffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        let len = if forked() { 0 } else { self.len };
        // SAFETY: requires `len` initialised bytes that nobody writes during the borrow; holds because the buffer owns
        // them, wrote zeros there, and lends them mutably only from `&mut self`.
        unsafe { slice::from_raw_parts(self.pointer.as_ptr(), len) }
    }
}

impl DerefMut for PinnedBuffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        let len = if forked() { 0 } else { self.len };
        // SAFETY: requires `len` initialised bytes that nobody else uses during the borrow; holds because the buffer owns
        // them, wrote zeros there, and is borrowed mutably.
        unsafe { slice::from_raw_parts_mut(self.pointer.as_ptr(), len) }
    }
}

impl AsRef<[u8]> for PinnedBuffer {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl AsMut<[u8]> for PinnedBuffer {
    fn as_mut(&mut self) -> &mut [u8] {
        self
    }
}

impl fmt::Debug for PinnedBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PinnedBuffer").field("pointer", &self.pointer).field("len", &self.len).finish()
    }
}

impl Drop for PinnedBuffer {
    fn drop(&mut self) {
        if self.len == 0 {
            return;
        }
        let freed = table::functions("PinnedBuffer::drop").and_then(|hip| {
            // SAFETY: requires memory of hipHostMalloc that nobody uses any more; holds because the buffer owns it.
            unsafe { hip.host_free(self.pointer.cast()) }.map_err(Error::hip("PinnedBuffer::drop"))
        });
        if freed.is_err_and(|error| error.kind() != ErrorKind::Forked) {
            leaks::record(self.len);
        }
    }
}
