//! Checked ranges of registered memory.
#![allow(unsafe_code, reason = "hands registered memory out as device slices")]

use std::ffi::c_void;
use std::marker::PhantomData;
use std::ops::RangeBounds;

use hip_alloc::{Device, DeviceSlice, DeviceSliceMut, resolve_range};

use crate::error::Result;
use crate::memory::Named;
use crate::span::Span;

/// A range of registered memory, borrowed to read: it can be written to files.
///
/// It knows the base of its registration, so transfers find it whatever the range is.
///
/// ```
/// use hipfile::alloc::DeviceBuffer;
/// use hipfile::{Driver, RegisteredSlice};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let registered = Driver::open()?.register(DeviceBuffer::from_host(b"key=value")?)?;
/// let all: RegisteredSlice<'_> = registered.slice(..)?;
/// let (key, value) = all.split_at(4)?;
/// assert_eq!(key.slice(..3)?.as_device().to_vec()?, b"key");
/// assert_eq!((value.len(), value.is_empty(), value.device()), (5, false, registered.device()));
/// assert_eq!(value.as_ptr().addr(), registered.as_ptr().addr() + 4);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct RegisteredSlice<'a> {
    pub(crate) span: Span,
    memory: PhantomData<&'a [u8]>,
}

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
    pub(crate) span: Span,
    memory: PhantomData<&'a mut [u8]>,
}

impl<'a> RegisteredSlice<'a> {
    /// # Safety
    ///
    /// The span is live device memory, registered at its base, which stays so and is not written for `'a`.
    pub(crate) unsafe fn from_span(span: Span) -> Self {
        Self { span, memory: PhantomData }
    }

    /// Number of bytes.
    #[must_use]
    pub fn len(self) -> usize {
        self.span.len
    }

    /// Whether there are no bytes.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.span.len == 0
    }

    /// The device that the memory is on.
    #[must_use]
    pub fn device(self) -> Device {
        self.span.device
    }

    /// The address of the first byte on the device. Host code can't read there.
    #[must_use]
    pub fn as_ptr(self) -> *mut c_void {
        self.span.start().0
    }

    /// The bytes at `range` of this slice.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) if `range` is not within this slice.
    pub fn slice(self, range: impl RangeBounds<usize>) -> Result<Self> {
        let range = resolve_range("RegisteredSlice::slice", range, self.span.len)?;
        Ok(Self { span: self.span.part(range.start, range.len()), memory: PhantomData })
    }

    /// The first `mid` bytes, and the rest.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) if there are fewer than `mid` bytes.
    pub fn split_at(self, mid: usize) -> Result<(Self, Self)> {
        resolve_range("RegisteredSlice::split_at", ..mid, self.span.len)?;
        let part = |span| Self { span, memory: PhantomData };
        Ok((part(self.span.part(0, mid)), part(self.span.rest(mid))))
    }

    /// The same bytes as plain device memory, to copy them to the host.
    #[must_use]
    pub fn as_device(self) -> DeviceSlice<'a> {
        let Span { len, device, .. } = self.span;
        // SAFETY: requires device memory that stays allocated and unwritten for 'a; holds because this slice stands for
        // such memory, of which `len` bytes at its start are its own.
        unsafe { DeviceSlice::from_raw_parts(self.as_ptr(), len, device) }
    }
}

impl<'a> RegisteredSliceMut<'a> {
    /// # Safety
    ///
    /// The span is live device memory, registered at its base, which stays so and is used by nobody else for `'a`.
    pub(crate) unsafe fn from_span(span: Span) -> Self {
        Self { span, memory: PhantomData }
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
        RegisteredSlice { span: self.span, memory: PhantomData }
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
        Ok(RegisteredSlice { span: self.span.part(range.start, range.len()), memory: PhantomData })
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
        let Span { len, device, .. } = self.span;
        // SAFETY: requires device memory that stays allocated and is nobody else's while the result lives; holds because
        // this slice stands for such memory and is borrowed mutably by the result.
        unsafe { DeviceSliceMut::from_raw_parts(self.as_ptr(), len, device) }
    }
}

impl Named for RegisteredSlice<'_> {
    #[inline]
    fn span(&self) -> Span {
        self.span
    }
}

impl Named for RegisteredSliceMut<'_> {
    #[inline]
    fn span(&self) -> Span {
        self.span
    }
}
