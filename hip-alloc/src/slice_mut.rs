//! Borrowed device memory, to read and write.
#![allow(unsafe_code, reason = "vouches for borrowed memory")]

use core::ffi::c_void;
use core::marker::PhantomData;
use core::ops::RangeBounds;

use crate::device::Device;
use crate::error::Result;
use crate::range;
use crate::region::Region;
use crate::slice::DeviceSlice;

/// A checked range of device memory, borrowed to read and write.
///
/// ```
/// # fn main() -> hip_alloc::Result<()> {
/// let mut buffer = hip_alloc::DeviceBuffer::zeroed(8)?;
/// let (mut head, mut tail) = buffer.as_mut_slice().split_at_mut(3)?;
/// head.copy_from_host(0, b"abc")?;
/// tail.fill(b'z')?;
/// assert_eq!(buffer.to_vec()?, b"abczzzzz");
///
/// let mut slice = buffer.as_mut_slice();
/// slice.reborrow().fill(b'.')?; // `slice` itself can be used again
/// slice.slice_mut(6..)?.copy_from_host(0, b"!")?;
/// assert_eq!(slice.slice(5..7)?.to_vec()?, b".!");
/// let mut host = [0; 2];
/// slice.copy_to_host(6, &mut host)?;
/// assert_eq!(&host, b"!.");
/// assert_eq!(slice.as_slice().to_vec()?, slice.to_vec()?);
/// assert_eq!((slice.len(), slice.is_empty()), (8, false));
/// let (address, device) = (slice.as_ptr(), slice.device());
/// assert_eq!((address, device), (buffer.as_ptr(), buffer.device()));
/// # Ok(())
/// # }
/// ```
///
/// Nobody else can use the bytes meanwhile:
///
/// ```compile_fail,E0502
/// # fn main() -> hip_alloc::Result<()> {
/// let mut buffer = hip_alloc::DeviceBuffer::new(8)?;
/// let mut slice = buffer.slice_mut(..4)?;
/// buffer.to_vec()?;
/// slice.fill(0)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct DeviceSliceMut<'a> {
    region: Region,
    memory: PhantomData<&'a mut [u8]>,
}

// SAFETY: requires that the slice may be used on another thread; holds because nobody else uses its memory, and HIP's
// copies and fills may be called on any thread.
unsafe impl Send for DeviceSliceMut<'_> {}

// SAFETY: requires that several threads may use `&DeviceSliceMut` at once; holds because that only allows copying from the
// memory, which HIP allows on several threads.
unsafe impl Sync for DeviceSliceMut<'_> {}

impl<'a> DeviceSliceMut<'a> {
    /// # Safety
    /// The region is live device memory, which stays allocated and is used by nobody else for `'a`.
    pub(crate) unsafe fn from_region(region: Region) -> Self {
        Self { region, memory: PhantomData }
    }

    /// Borrows `len` bytes of device memory that this crate does not own, at `pointer` on `device`.
    ///
    /// ```
    /// # fn main() -> hip_alloc::Result<()> {
    /// use hip_alloc::{DeviceBuffer, DeviceSliceMut};
    ///
    /// let pool = DeviceBuffer::zeroed(16)?;
    /// // SAFETY: the pool is live memory of its device, outlives the slice, and nobody else uses it meanwhile.
    /// let mut slice = unsafe { DeviceSliceMut::from_raw_parts(pool.as_ptr(), 4, pool.device()) };
    /// slice.fill(7)?;
    /// assert_eq!(pool.slice(..6)?.to_vec()?, [7, 7, 7, 7, 0, 0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Safety
    /// The bytes are device memory of `device` that stays allocated, and is used by nobody else, for `'a`. `len` is at
    /// most `isize::MAX`. If `len` is 0, `pointer` may be null.
    #[must_use]
    pub unsafe fn from_raw_parts(pointer: *mut c_void, len: usize, device: Device) -> Self {
        Self { region: Region { pointer, len, device }, memory: PhantomData }
    }

    /// The device that the memory is on.
    #[must_use]
    pub fn device(&self) -> Device {
        self.region.device
    }

    /// Number of bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.region.len
    }

    /// Whether there are no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.region.len == 0
    }

    /// The address of the first byte on the device. Host code can't read or write there.
    #[must_use]
    pub fn as_ptr(&self) -> *mut c_void {
        self.region.pointer
    }

    /// The same bytes, to read.
    #[must_use]
    pub fn as_slice(&self) -> DeviceSlice<'_> {
        // SAFETY: requires memory that stays allocated and unwritten while the new slice lives; holds because writing needs
        // `&mut self`, which the new slice borrows.
        unsafe { DeviceSlice::from_region(self.region) }
    }

    /// The same bytes for a shorter time, as with `&mut *slice`.
    #[must_use]
    pub fn reborrow(&mut self) -> DeviceSliceMut<'_> {
        DeviceSliceMut { region: self.region, memory: PhantomData }
    }

    /// The bytes at `range` of this slice, to read.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) if `range` is not within this slice.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<DeviceSlice<'_>> {
        let range = range::resolve("DeviceSliceMut::slice", range, self.len())?;
        // SAFETY: requires memory that stays allocated and unwritten while the new slice lives; holds because writing needs
        // `&mut self`, which the new slice borrows, and the range was checked.
        Ok(unsafe { DeviceSlice::from_region(self.region.part(range)) })
    }

    /// The bytes at `range` of this slice, to read and write.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) if `range` is not within this slice.
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> Result<DeviceSliceMut<'_>> {
        let range = range::resolve("DeviceSliceMut::slice_mut", range, self.len())?;
        Ok(DeviceSliceMut { region: self.region.part(range), memory: PhantomData })
    }

    /// The first `mid` bytes, and the rest: two slices that can be written independently.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) if there are fewer than `mid` bytes.
    pub fn split_at_mut(self, mid: usize) -> Result<(Self, Self)> {
        let head = range::resolve("DeviceSliceMut::split_at_mut", ..mid, self.len())?;
        let tail = mid..self.len();
        Ok((
            Self { region: self.region.part(head), memory: PhantomData },
            Self { region: self.region.part(tail), memory: PhantomData },
        ))
    }

    /// Fills `destination` with the bytes at `offset`. Has happened when it returns.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) if there are not that many bytes at `offset`; else HIP's,
    /// and `destination` may be partly written.
    #[doc(alias = "hipMemcpy")]
    pub fn copy_to_host(&self, offset: usize, destination: &mut [u8]) -> Result<()> {
        self.as_slice().copy_to_host_as("DeviceSliceMut::copy_to_host", offset, destination)
    }

    /// Writes `source` at `offset`. Has happened when it returns.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) if `source` does not fit at `offset`; else HIP's, and the
    /// bytes meant to be written may be partly so.
    #[doc(alias = "hipMemcpy")]
    pub fn copy_from_host(&mut self, offset: usize, source: &[u8]) -> Result<()> {
        self.copy_from_host_as("DeviceSliceMut::copy_from_host", offset, source)
    }

    /// Every byte, copied into host memory.
    ///
    /// # Errors
    /// HIP's.
    pub fn to_vec(&self) -> Result<Vec<u8>> {
        self.as_slice().to_vec_as("DeviceSliceMut::to_vec")
    }

    /// Sets every byte to `value`. Has happened when it returns.
    ///
    /// # Errors
    /// HIP's; some bytes may be set.
    #[doc(alias = "hipMemset")]
    pub fn fill(&mut self, value: u8) -> Result<()> {
        self.fill_as("DeviceSliceMut::fill", value)
    }

    pub(crate) fn region(&self) -> Region {
        self.region
    }

    pub(crate) fn copy_from_host_as(
        &mut self,
        operation: &'static str,
        offset: usize,
        source: &[u8],
    ) -> Result<()> {
        // SAFETY: requires live memory that nobody else uses; holds because the slice stands for such memory.
        unsafe { self.region.copy_from_host(operation, offset, source) }
    }

    pub(crate) fn fill_as(&mut self, operation: &'static str, value: u8) -> Result<()> {
        // SAFETY: requires live memory that nobody else uses; holds because the slice stands for such memory.
        unsafe { self.region.fill(operation, value) }
    }
}
