//! Checked ranges of registered memory.
#![allow(unsafe_code, reason = "hands registered memory out as device slices")]

use std::ffi::c_void;
use std::marker::PhantomData;
use std::ops::RangeBounds;

use hip_alloc::{Device, DeviceSlice, resolve_range};

use crate::error::Result;
use crate::memory::Named;
use crate::registry;
use crate::span::{Address, Span};

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
    span: Span,
    memory: PhantomData<&'a [u8]>,
}

impl<'a> RegisteredSlice<'a> {
    /// # Safety
    ///
    /// The span is live device memory that stays so and is not written for `'a`. Its base is registered or at least in the
    /// same allocation.
    pub(crate) unsafe fn from_span(span: Span) -> Self {
        Self { span, memory: PhantomData }
    }

    /// The `len` bytes at `ptr`, of memory that something else owns: a framework's pool for example.
    ///
    /// The registration that contains all of them is looked up, wherever in it they are, so a pool that was registered once
    /// serves every pointer into it. If none does, they are used as memory that is not registered, as [`DeviceSlice`]s are.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use hipfile::alloc::DeviceBuffer;
    /// use hipfile::{Driver, OpenOptions, Registered, RegisteredSlice};
    ///
    /// # let path = std::env::temp_dir().join(format!("hipfile-doc-raw-parts-{}", std::process::id()));
    /// let driver = Driver::open()?;
    /// let file = OpenOptions::new().write(true).create(true).open(&driver, &path)?;
    /// let pool = DeviceBuffer::from_host(b"a pool of a framework")?;
    /// // SAFETY: the bytes are device memory of the current device, nobody writes them, and `pool` outlives the guard.
    /// let _registered = unsafe { Registered::from_raw(&driver, pool.as_ptr(), pool.len(), 0)? };
    /// let tensor = pool.as_ptr().wrapping_byte_add(2);
    /// // SAFETY: the bytes are device memory of the pool's device, which lives on and is not written.
    /// let slice = unsafe { RegisteredSlice::from_raw_parts(tensor, 4, pool.device()) };
    /// file.write_all_at(slice, 0)?;
    /// assert_eq!(std::fs::read(&path)?, b"pool");
    /// # std::fs::remove_file(&path)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Safety
    ///
    /// - The bytes are device memory of `device` in one allocation, and `len` is at most `isize::MAX`.
    /// - While this slice and its copies are in use, the memory stays allocated and nobody writes to it.
    ///
    /// The registration need not live so long: without it, transfers go on as for memory that is not registered.
    #[must_use]
    pub unsafe fn from_raw_parts(ptr: *mut c_void, len: usize, device: Device) -> Self {
        let span = Span { base: Address(ptr), offset: 0, len, device };
        // SAFETY: requires live device memory that nobody writes, and its base registered or in the same allocation; holds
        // because the caller promises the first, and the second is what the look-up is for.
        unsafe { Self::from_span(registry::within_registration(span)) }
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

impl Named for RegisteredSlice<'_> {
    #[inline]
    fn span(&self) -> Span {
        self.span
    }
}
