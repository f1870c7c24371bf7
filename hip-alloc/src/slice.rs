//! Borrowed device memory, to read.
#![allow(unsafe_code, reason = "vouches for borrowed memory")]

use core::ffi::c_void;
use core::marker::PhantomData;
use core::ops::RangeBounds;

use crate::device::Device;
use crate::error::Result;
use crate::range;
use crate::region::Region;

/// A checked range of device memory, borrowed to read.
///
/// ```
/// # fn main() -> hip_alloc::Result<()> {
/// let buffer = hip_alloc::DeviceBuffer::from_host(b"key=value")?;
/// let (key, value) = buffer.as_slice().split_at(4)?;
/// assert_eq!(key.slice(..3)?.to_vec()?, b"key");
/// assert_eq!(value.to_vec()?, b"value");
/// assert_eq!((value.len(), value.is_empty(), value.device()), (5, false, buffer.device()));
/// assert_eq!(value.as_ptr().addr(), buffer.as_ptr().addr() + 4);
///
/// let mut host = [0; 2];
/// value.copy_to_host(3, &mut host)?;
/// assert_eq!(&host, b"ue");
/// # Ok(())
/// # }
/// ```
///
/// Its buffer can't be written, moved or freed meanwhile:
///
/// ```compile_fail,E0505
/// # fn main() -> hip_alloc::Result<()> {
/// let buffer = hip_alloc::DeviceBuffer::new(9)?;
/// let slice = buffer.slice(..4)?;
/// drop(buffer);
/// slice.to_vec()?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct DeviceSlice<'a> {
    region: Region,
    memory: PhantomData<&'a [u8]>,
}

// SAFETY: requires that the slice may be used on another thread; holds because it only allows copying from device memory
// that nobody writes, which HIP allows on any thread.
unsafe impl Send for DeviceSlice<'_> {}

// SAFETY: requires that several threads may use `&DeviceSlice` at once; holds because the slice is Copy and Send.
unsafe impl Sync for DeviceSlice<'_> {}

impl<'a> DeviceSlice<'a> {
    /// # Safety
    /// The region is live device memory, which stays allocated and is not written for `'a`.
    pub(crate) unsafe fn from_region(region: Region) -> Self {
        Self { region, memory: PhantomData }
    }

    /// Borrows `len` bytes of device memory that this crate does not own, at `pointer` on `device`.
    ///
    /// ```
    /// # fn main() -> hip_alloc::Result<()> {
    /// use hip_alloc::{DeviceBuffer, DeviceSlice};
    ///
    /// let pool = DeviceBuffer::from_host(b"of a framework")?;
    /// // SAFETY: the pool is live memory of its device, outlives the slice, and nobody writes to it.
    /// let slice = unsafe { DeviceSlice::from_raw_parts(pool.as_ptr(), 4, pool.device()) };
    /// assert_eq!(slice.to_vec()?, b"of a");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Safety
    /// The bytes are device memory of `device` that stays allocated, and is not written, for `'a`. `len` is at most
    /// `isize::MAX`. If `len` is 0, `pointer` may be null.
    #[must_use]
    pub unsafe fn from_raw_parts(pointer: *mut c_void, len: usize, device: Device) -> Self {
        Self { region: Region { pointer, len, device }, memory: PhantomData }
    }

    /// The device that the memory is on.
    #[must_use]
    pub fn device(self) -> Device {
        self.region.device
    }

    /// Number of bytes.
    #[must_use]
    pub fn len(self) -> usize {
        self.region.len
    }

    /// Whether there are no bytes.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.region.len == 0
    }

    /// The address of the first byte on the device. Host code can't read there.
    #[must_use]
    pub fn as_ptr(self) -> *mut c_void {
        self.region.pointer
    }

    /// The bytes at `range` of this slice.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) if `range` is not within this slice.
    pub fn slice(self, range: impl RangeBounds<usize>) -> Result<Self> {
        let range = range::resolve("DeviceSlice::slice", range, self.len())?;
        Ok(self.part(range))
    }

    /// The first `mid` bytes, and the rest.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) if there are fewer than `mid` bytes.
    pub fn split_at(self, mid: usize) -> Result<(Self, Self)> {
        let head = range::resolve("DeviceSlice::split_at", ..mid, self.len())?;
        Ok((self.part(head), self.part(mid..self.len())))
    }

    /// Fills `destination` with the bytes at `offset`. Has happened when it returns.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) if there are not that many bytes at `offset`; else HIP's,
    /// and `destination` may be partly written.
    #[doc(alias = "hipMemcpy")]
    pub fn copy_to_host(self, offset: usize, destination: &mut [u8]) -> Result<()> {
        self.copy_to_host_as("DeviceSlice::copy_to_host", offset, destination)
    }

    /// Every byte, copied into host memory.
    ///
    /// # Errors
    /// HIP's.
    pub fn to_vec(self) -> Result<Vec<u8>> {
        self.to_vec_as("DeviceSlice::to_vec")
    }

    /// `range` was checked.
    fn part(self, range: core::ops::Range<usize>) -> Self {
        Self { region: self.region.part(range), memory: PhantomData }
    }

    pub(crate) fn region(self) -> Region {
        self.region
    }

    pub(crate) fn copy_to_host_as(
        self,
        operation: &'static str,
        offset: usize,
        destination: &mut [u8],
    ) -> Result<()> {
        // SAFETY: requires live memory that nobody writes; holds because the slice stands for such memory.
        unsafe { self.region.copy_to_host(operation, offset, destination) }
    }

    pub(crate) fn to_vec_as(self, operation: &'static str) -> Result<Vec<u8>> {
        // SAFETY: requires live memory that nobody writes; holds because the slice stands for such memory.
        unsafe { self.region.to_vec(operation) }
    }
}
