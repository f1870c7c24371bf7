//! Checked ranges of registered memory that their holder has alone.
#![allow(unsafe_code, reason = "hands registered memory out as device slices")]

use std::ffi::c_void;
use std::marker::PhantomData;
use std::ops::RangeBounds;

use hip_alloc::{Device, DeviceSlice, DeviceSliceMut, resolve_range};

use crate::error::Result;
use crate::memory::Named;
use crate::registry;
use crate::slice::RegisteredSlice;
use crate::span::{Address, Span};

/// A range of registered memory, borrowed exclusively: files can be read into it.
///
/// ```
/// use hipfile::alloc::DeviceBuffer;
/// use hipfile::{Driver, OpenOptions, RegisteredSliceMut};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let driver = Driver::open()?;
/// let file = OpenOptions::new().read(true).open(&driver, "/proc/self/exe")?;
/// let mut registered = driver.register(DeviceBuffer::new(8)?)?;
/// let (mut head, tail) = registered.slice_mut(..)?.split_at_mut(4)?;
/// file.read_exact_at(&mut head, 0)?;
/// file.read_exact_at(tail, 4)?;
/// assert_eq!(head.as_device().to_vec()?, b"\x7fELF");
///
/// let mut all: RegisteredSliceMut<'_> = registered.slice_mut(..)?;
/// all.as_device_mut().fill(0)?; // what hip-alloc can do, too
/// file.read_exact_at(all.reborrow(), 1)?; // `all` itself can be used again
/// assert_eq!(all.slice(..3)?.as_device().to_vec()?, b"ELF");
/// assert_eq!(all.as_slice().len(), all.len());
/// println!("{} at {:p} of {:?}", all.len(), all.as_ptr(), all.device());
/// assert!(!all.is_empty());
/// # Ok(())
/// # }
/// ```
///
/// Two reads into the same bytes at the same time do not compile:
///
/// ```compile_fail,E0499
/// # use hipfile::{Driver, FileHandle, alloc::DeviceBuffer};
/// # fn twice(file: &FileHandle, driver: &Driver) -> Result<(), Box<dyn std::error::Error>> {
/// let mut registered = driver.register(DeviceBuffer::new(8)?)?;
/// let first = registered.slice_mut(..4)?;
/// let second = registered.slice_mut(..4)?; // the first is still in use
/// file.read_at(first, 0)?;
/// file.read_at(second, 0)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct RegisteredSliceMut<'a> {
    span: Span,
    memory: PhantomData<&'a mut [u8]>,
}

impl<'a> RegisteredSliceMut<'a> {
    /// # Safety
    ///
    /// The span is live device memory that stays so and is used by nobody else for `'a`. Its base is registered or at
    /// least in the same allocation.
    pub(crate) unsafe fn from_span(span: Span) -> Self {
        Self { span, memory: PhantomData }
    }

    /// The `len` bytes at `ptr`, of memory that something else owns: a framework's pool for example.
    ///
    /// As [`RegisteredSlice::from_raw_parts`], the registration that contains all of them is looked up.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use hipfile::alloc::DeviceBuffer;
    /// use hipfile::{Driver, OpenOptions, Registered, RegisteredSliceMut};
    ///
    /// let driver = Driver::open()?;
    /// let file = OpenOptions::new().read(true).open(&driver, "/proc/self/exe")?;
    /// let pool = DeviceBuffer::zeroed(1 << 20)?;
    /// // SAFETY: the bytes are device memory of the current device, used by nobody else, and `pool` outlives the guard.
    /// let _registered = unsafe { Registered::from_raw(&driver, pool.as_ptr(), pool.len(), 0)? };
    /// let tensor = pool.as_ptr().wrapping_byte_add(4096);
    /// // SAFETY: the bytes are device memory of the pool's device, which lives on, and nobody else uses them.
    /// let slice = unsafe { RegisteredSliceMut::from_raw_parts(tensor, 4, pool.device()) };
    /// file.read_exact_at(slice, 0)?;
    /// assert_eq!(pool.slice(4096..4101)?.to_vec()?, b"\x7fELF\0");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Safety
    ///
    /// - The bytes are device memory of `device` in one allocation, and `len` is at most `isize::MAX`.
    /// - While this slice is in use, the memory stays allocated and nobody else reads or writes it.
    ///
    /// The registration need not live so long: without it, transfers go on as for memory that is not registered.
    #[must_use]
    pub unsafe fn from_raw_parts(ptr: *mut c_void, len: usize, device: Device) -> Self {
        let span = Span { base: Address(ptr), offset: 0, len, device };
        // SAFETY: requires live device memory that is nobody else's, and its base registered or in the same allocation;
        // holds because the caller promises the first, and the second is what the look-up is for.
        unsafe { Self::from_span(registry::within_registration(span)) }
    }

    /// Number of bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.span.len
    }

    /// Whether there are no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.span.len == 0
    }

    /// The device that the memory is on.
    #[must_use]
    pub fn device(&self) -> Device {
        self.span.device
    }

    /// The address of the first byte on the device. Host code can't read or write there.
    #[must_use]
    pub fn as_ptr(&self) -> *mut c_void {
        self.span.start().0
    }

    /// The same bytes, to read.
    #[must_use]
    pub fn as_slice(&self) -> RegisteredSlice<'_> {
        // SAFETY: requires live device memory that nobody writes while the result lives; holds because this slice stands for
        // such memory, has it alone, and is borrowed by the result.
        unsafe { RegisteredSlice::from_span(self.span) }
    }

    /// The same bytes for a shorter time, as with `&mut *slice`.
    #[must_use]
    pub fn reborrow(&mut self) -> RegisteredSliceMut<'_> {
        RegisteredSliceMut { span: self.span, memory: PhantomData }
    }

    /// The bytes at `range` of this slice, to read.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) if `range` is not within this slice.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<RegisteredSlice<'_>> {
        let range = resolve_range("RegisteredSliceMut::slice", range, self.span.len)?;
        // SAFETY: requires live device memory that nobody writes while the result lives; holds as for `as_slice`, of a range
        // that was checked.
        Ok(unsafe { RegisteredSlice::from_span(self.span.part(range.start, range.len())) })
    }

    /// The bytes at `range` of this slice, to read and write.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) if `range` is not within this slice.
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> Result<RegisteredSliceMut<'_>> {
        let range = resolve_range("RegisteredSliceMut::slice_mut", range, self.span.len)?;
        Ok(RegisteredSliceMut { span: self.span.part(range.start, range.len()), memory: PhantomData })
    }

    /// The first `mid` bytes, and the rest: two slices that can be read into independently, also at the same time.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) if there are fewer than `mid` bytes.
    pub fn split_at_mut(self, mid: usize) -> Result<(Self, Self)> {
        resolve_range("RegisteredSliceMut::split_at_mut", ..mid, self.span.len)?;
        let part = |span| Self { span, memory: PhantomData };
        Ok((part(self.span.part(0, mid)), part(self.span.rest(mid))))
    }

    /// The same bytes as plain device memory, to copy them to the host.
    #[must_use]
    pub fn as_device(&self) -> DeviceSlice<'_> {
        self.as_slice().as_device()
    }

    /// The same bytes as plain device memory, to copy from the host or fill.
    #[must_use]
    pub fn as_device_mut(&mut self) -> DeviceSliceMut<'_> {
        self.reborrow().into_device()
    }

    /// The same bytes as plain device memory for as long as they are borrowed: what a scope takes.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use hipfile::Driver;
    /// use hipfile::alloc::{DeviceBuffer, Stream};
    ///
    /// let mut registered = Driver::open()?.register(DeviceBuffer::new(5)?)?;
    /// Stream::new()?.scope(|scope| {
    ///     scope.copy_from_host(registered.slice_mut(..)?.into_device(), b"bytes")?;
    ///     Ok::<(), hipfile::Error>(())
    /// })?;
    /// assert_eq!(registered.slice(..)?.as_device().to_vec()?, b"bytes");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn into_device(self) -> DeviceSliceMut<'a> {
        let Span { len, device, .. } = self.span;
        // SAFETY: requires device memory that stays allocated and is nobody else's while the result lives; holds because
        // this slice stands for such memory for `'a`, and is used up.
        unsafe { DeviceSliceMut::from_raw_parts(self.as_ptr(), len, device) }
    }
}

impl Named for RegisteredSliceMut<'_> {
    #[inline]
    fn span(&self) -> Span {
        self.span
    }
}
