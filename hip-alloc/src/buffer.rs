//! Owned device memory.
#![allow(unsafe_code, reason = "vouches for the memory it owns")]

use core::ffi::c_void;
use core::ops::RangeBounds;
use core::ptr;

use crate::calls::Failure;
use crate::device::{self, Device, MemoryInfo};
use crate::error::{Cause, Error, Result};
use crate::ffi::Functions;
use crate::range;
use crate::region::Region;
use crate::registrations::Registrations;
use crate::slice::DeviceSlice;
use crate::slice_mut::DeviceSliceMut;
use crate::stream::Stream;
use crate::table;

/// Owned memory on one device, in bytes.
///
/// Constructors allocate on the calling thread's current device; every other call goes to the buffer's own device,
/// whichever is current. Memory comes with arbitrary content unless the constructor says otherwise. Drop frees it, with
/// an implicit wait for the device; what can't be freed is leaked and counted ([`leaked`](crate::leaked)).
///
/// An empty buffer has a null address, allocates nothing and can't be registered.
///
/// ```
/// # fn main() -> hip_alloc::Result<()> {
/// use hip_alloc::DeviceBuffer;
///
/// let mut buffer = DeviceBuffer::from_host(b"0123456789")?;
/// buffer.copy_from_host(4, b"abc")?;
/// buffer.slice_mut(8..)?.fill(b'!')?;
/// assert_eq!(buffer.to_vec()?, b"0123abc7!!");
/// let mut middle = [0; 3];
/// buffer.copy_to_host(4, &mut middle)?;
/// assert_eq!(&middle, b"abc");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct DeviceBuffer {
    /// What HIP gave and takes back; null if nothing is allocated.
    pub(crate) allocation: *mut c_void,
    /// The bytes that are the buffer's: all of the allocation, or its aligned part.
    pub(crate) region: Region,
    pub(crate) registrations: Registrations,
    /// Where it is freed in order; `None` if that is no stream's matter.
    pub(crate) stream: Option<Stream>,
}

// SAFETY: requires that a buffer may be used and dropped on another thread than the one that made it; holds because HIP's
// memory belongs to the process, all functions called may be called on any thread, the current device is selected on the
// thread that calls, and registrations hold hooks that are Send.
unsafe impl Send for DeviceBuffer {}

// SAFETY: requires that several threads may use `&DeviceBuffer` at once; holds because it only allows to read the
// plain fields, to copy device memory into the caller's host memory (HIP's functions are thread-safe, and writers need
// `&mut`), and to use the registrations, which are behind a mutex.
unsafe impl Sync for DeviceBuffer {}

impl DeviceBuffer {
    /// Allocates `len` bytes of arbitrary content on the current device.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfMemory`](crate::ErrorKind::OutOfMemory) if the device has not that much;
    /// [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput) if `len` is above `isize::MAX`;
    /// [`ErrorKind::NoDevice`](crate::ErrorKind::NoDevice) without a device.
    #[doc(alias = "hipMalloc")]
    pub fn new(len: usize) -> Result<Self> {
        Self::allocate("DeviceBuffer::new", len, 0)
    }

    /// Allocates `len` bytes on the current device and sets them to 0.
    ///
    /// # Errors
    /// As [`new`](Self::new), and HIP's if filling fails.
    #[doc(alias = "hipMemset")]
    pub fn zeroed(len: usize) -> Result<Self> {
        const OPERATION: &str = "DeviceBuffer::zeroed";
        let mut buffer = Self::allocate(OPERATION, len, 0)?;
        buffer.exclusive().fill_as(OPERATION, 0)?;
        Ok(buffer)
    }

    /// Allocates `len` bytes of arbitrary content on the current device, at an address that is a multiple of `align`.
    ///
    /// Takes up to `align - 1` bytes more where HIP's allocator does not align as much by itself. Direct I/O wants the
    /// block size of the file system, often 4096.
    ///
    /// ```
    /// # fn main() -> hip_alloc::Result<()> {
    /// let buffer = hip_alloc::DeviceBuffer::with_alignment(10_000, 4096)?;
    /// assert_eq!((buffer.as_ptr().addr() % 4096, buffer.len()), (0, 10_000));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`new`](Self::new); [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput) if `align` is not a power
    /// of two, or if `len` and the bytes for aligning are together above `isize::MAX`.
    pub fn with_alignment(len: usize, align: usize) -> Result<Self> {
        const OPERATION: &str = "DeviceBuffer::with_alignment";
        if !align.is_power_of_two() {
            return Err(Error::new(OPERATION, Cause::Alignment { align }));
        }
        let mask = align.wrapping_sub(1);
        let plain = Self::allocate(OPERATION, len, 0)?;
        if plain.region.pointer.addr() & mask == 0 {
            return Ok(plain);
        }
        drop(plain);
        let mut padded = Self::allocate(OPERATION, len, mask)?;
        let skipped = padded.region.pointer.addr().wrapping_neg() & mask;
        padded.region.pointer = padded.region.pointer.cast::<u8>().wrapping_add(skipped).cast();
        Ok(padded)
    }

    /// Allocates `bytes.len()` bytes on the current device and copies `bytes` there.
    ///
    /// # Errors
    /// As [`new`](Self::new), and HIP's if copying fails.
    pub fn from_host(bytes: &[u8]) -> Result<Self> {
        const OPERATION: &str = "DeviceBuffer::from_host";
        let mut buffer = Self::allocate(OPERATION, bytes.len(), 0)?;
        buffer.exclusive().copy_from_host_as(OPERATION, 0, bytes)?;
        Ok(buffer)
    }

    /// A buffer of `len` bytes at the start of an allocation of `len + padding` bytes.
    fn allocate(operation: &'static str, len: usize, padding: usize) -> Result<Self> {
        let size = size(operation, len, padding)?;
        let hip = table::functions(operation)?;
        let device = device::current(operation, hip)?;
        let allocation = if len == 0 {
            ptr::null_mut()
        } else {
            hip.malloc(size).map_err(|failure| not_allocated(operation, hip, failure, size, device))?
        };
        let region = Region { pointer: allocation, len, device };
        Ok(Self { allocation, region, registrations: Registrations::default(), stream: None })
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

    /// The address of the first byte on the device, null if empty. Host code can't read or write there.
    #[must_use]
    pub fn as_ptr(&self) -> *mut c_void {
        self.region.pointer
    }

    /// All of it, to read.
    #[must_use]
    pub fn as_slice(&self) -> DeviceSlice<'_> {
        // SAFETY: requires memory that stays allocated and unwritten while the slice lives; holds because the slice
        // borrows the buffer.
        unsafe { DeviceSlice::from_region(self.region) }
    }

    /// All of it, to read and write.
    #[must_use]
    pub fn as_mut_slice(&mut self) -> DeviceSliceMut<'_> {
        self.exclusive()
    }

    fn exclusive(&mut self) -> DeviceSliceMut<'_> {
        // SAFETY: requires memory that stays allocated and is used by nobody else while the slice lives; holds because the
        // slice borrows the buffer mutably.
        unsafe { DeviceSliceMut::from_region(self.region) }
    }

    /// The bytes at `range`, to read.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) if `range` is not within the buffer.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<DeviceSlice<'_>> {
        let range = range::resolve("DeviceBuffer::slice", range, self.len())?;
        // SAFETY: requires memory that stays allocated and unwritten while the slice lives; holds because the slice
        // borrows the buffer and the range was checked against it.
        Ok(unsafe { DeviceSlice::from_region(self.region.part(range)) })
    }

    /// The bytes at `range`, to read and write.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) if `range` is not within the buffer.
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> Result<DeviceSliceMut<'_>> {
        let range = range::resolve("DeviceBuffer::slice_mut", range, self.len())?;
        // SAFETY: requires memory that stays allocated and is used by nobody else while the slice lives; holds because the
        // slice borrows the buffer mutably and the range was checked against it.
        Ok(unsafe { DeviceSliceMut::from_region(self.region.part(range)) })
    }

    /// Fills `destination` with the bytes at `offset`. Has happened when it returns.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) if there are not that many bytes at `offset`; else HIP's,
    /// and `destination` may be partly written.
    #[doc(alias = "hipMemcpy")]
    pub fn copy_to_host(&self, offset: usize, destination: &mut [u8]) -> Result<()> {
        self.as_slice().copy_to_host_as("DeviceBuffer::copy_to_host", offset, destination)
    }

    /// Writes `source` at `offset`. Has happened when it returns.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) if `source` does not fit at `offset`; else HIP's, and the
    /// bytes meant to be written may be partly so.
    #[doc(alias = "hipMemcpy")]
    pub fn copy_from_host(&mut self, offset: usize, source: &[u8]) -> Result<()> {
        self.exclusive().copy_from_host_as("DeviceBuffer::copy_from_host", offset, source)
    }

    /// Every byte, copied into host memory.
    ///
    /// # Errors
    /// HIP's.
    pub fn to_vec(&self) -> Result<Vec<u8>> {
        self.as_slice().to_vec_as("DeviceBuffer::to_vec")
    }

    /// Sets every byte to `value`. Has happened when it returns.
    ///
    /// # Errors
    /// HIP's; some bytes may be set.
    #[doc(alias = "hipMemset")]
    pub fn fill(&mut self, value: u8) -> Result<()> {
        self.exclusive().fill_as("DeviceBuffer::fill", value)
    }
}

/// How many bytes to allocate for `len` bytes and `padding`.
pub(crate) fn size(operation: &'static str, len: usize, padding: usize) -> Result<usize> {
    let size = len.checked_add(padding).filter(|size| isize::try_from(*size).is_ok());
    size.ok_or_else(|| Error::new(operation, Cause::Length { len }))
}

/// Why there are no `size` bytes of the current device, and how many there are.
pub(crate) fn not_allocated(
    operation: &'static str,
    hip: &Functions,
    failure: Failure,
    size: usize,
    device: Device,
) -> Error {
    let memory = hip.memory_info().ok().map(|(free, total)| MemoryInfo { free, total });
    Error::new(operation, Cause::Hip { failure, bytes: Some(size), device: Some(device), memory })
}
