//! Owned pieces of registered memory.
#![allow(unsafe_code, reason = "hands pieces of registered memory out as slices")]

use std::any::Any;
use std::ffi::c_void;
use std::fmt;
use std::mem;
use std::ops::RangeBounds;
use std::sync::Arc;

use hip_alloc::{Device, DeviceMemoryMut, resolve_range};

use crate::error::Result;
use crate::registered::Registered;
use crate::slice::RegisteredSlice;
use crate::slice_mut::RegisteredSliceMut;
use crate::span::Span;

/// A piece of registered memory that owns its bytes: nobody else reads or writes them while it exists.
///
/// All pieces of one registration share it, and the last one takes it down and lets go of the memory. So a piece borrows
/// nothing and can be sent anywhere and stored, which is what transfers that outlive the call need. Splitting allocates
/// nothing, neither on the device nor on the host, and registers nothing.
///
/// ```
/// use hipfile::alloc::DeviceBuffer;
/// use hipfile::{Driver, OpenOptions};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let driver = Driver::open()?;
/// let file = OpenOptions::new().read(true).open(&driver, "/proc/self/exe")?;
/// let mut rest = driver.register(DeviceBuffer::new(1 << 20)?)?.into_region();
/// let mut head = rest.split_to(4)?;
/// let reader = std::thread::spawn(move || file.read_exact_at(head.slice_mut(..)?, 0).map(|()| head));
/// rest.slice_mut(..)?.as_device_mut().fill(0)?;
/// let mut whole = reader.join().unwrap()?;
/// whole.unsplit(rest).expect("they were one");
/// assert_eq!(whole.slice(..5)?.as_device().to_vec()?, b"\x7fELF\0");
/// println!("{} bytes at {:p} of {:?}", whole.len(), whole.as_ptr(), whole.device());
/// assert!(!whole.is_empty());
/// # Ok(())
/// # }
/// ```
///
/// A region is registered already, so it is no [`DeviceMemory`](hip_alloc::DeviceMemory), which promises that it may be, and
/// copies that own what they use don't take it. Its slices can be copied at once or, from and to borrowed memory, in a scope:
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use hipfile::Driver;
/// use hipfile::alloc::{DeviceBuffer, Stream};
///
/// let mut region = Driver::open()?.register(DeviceBuffer::new(5)?)?.into_region();
/// let mut back = [0; 5];
/// Stream::new()?.scope(|scope| {
///     scope.copy_from_host(region.slice_mut(..)?.into_device(), b"bytes")?;
///     Ok::<(), hipfile::Error>(())
/// })?;
/// region.slice(..)?.as_device().copy_to_host(0, &mut back)?;
/// assert_eq!(back, *b"bytes");
/// # Ok(())
/// # }
/// ```
///
/// Only registrations that own their memory, and have it to themselves, can be made into regions: not those that borrow
///
/// ```compile_fail,E0597
/// # use hipfile::{Driver, alloc::DeviceBuffer};
/// # fn f(driver: &Driver) -> Result<(), Box<dyn std::error::Error>> {
/// let mut memory = DeviceBuffer::new(8)?;
/// let region = driver.register(&mut memory)?.into_region();
/// # Ok(())
/// # }
/// ```
///
/// nor those that share.
///
/// ```compile_fail,E0277
/// # use hipfile::{Driver, alloc::DeviceBuffer};
/// # fn f(driver: &Driver) -> Result<(), Box<dyn std::error::Error>> {
/// let memory = std::sync::Arc::new(DeviceBuffer::new(8)?);
/// let region = driver.register(memory)?.into_region();
/// # Ok(())
/// # }
/// ```
#[must_use = "its bytes can be used through it only"]
pub struct Region {
    span: Span,
    /// A `Registered<M>`. Whoever made the pieces gave it up, so its memory is reached through them only.
    registered: Arc<dyn Any + Send + Sync>,
}

/// # Regions
impl<M: DeviceMemoryMut + Send + Sync + 'static> Registered<M> {
    /// All of the registered bytes as one piece that owns them, to be split and sent about.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use hipfile::{Driver, Region, alloc::DeviceBuffer};
    ///
    /// let region: Region = Driver::open()?.register(DeviceBuffer::new(8192)?)?.into_region();
    /// assert_eq!(region.len(), 8192);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// [`Region::try_into_registered`] is the way back.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use hipfile::alloc::DeviceBuffer;
    /// use hipfile::{Driver, Region, Registered};
    ///
    /// let registered: Registered<DeviceBuffer> = Driver::open()?.register(DeviceBuffer::new(100)?)?;
    /// let region: Region = registered.into_region();
    /// assert_eq!((region.len(), region.is_empty()), (100, false));
    /// println!("{} bytes at {:p} of {:?}", region.len(), region.as_ptr(), region.device());
    /// # Ok(())
    /// # }
    /// ```
    pub fn into_region(self) -> Region {
        Region { span: self.span(), registered: Arc::new(self) }
    }
}

impl Region {
    /// Number of bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.span.len
    }

    /// Whether there are no bytes: one side of a split at the edge has none.
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

    /// Splits the first `at` bytes off and returns them; this piece keeps the rest.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use hipfile::{Driver, alloc::DeviceBuffer};
    ///
    /// let mut rest = Driver::open()?.register(DeviceBuffer::from_host(b"key=value")?)?.into_region();
    /// let key = rest.split_to(3)?;
    /// assert_eq!(key.slice(..)?.as_device().to_vec()?, b"key");
    /// assert_eq!(rest.len(), 6);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) if there are fewer than `at` bytes; nothing has changed then.
    pub fn split_to(&mut self, at: usize) -> Result<Region> {
        resolve_range("Region::split_to", ..at, self.span.len)?;
        let rest = self.span.rest(at);
        let head = mem::replace(&mut self.span, rest).part(0, at);
        Ok(Self { span: head, registered: Arc::clone(&self.registered) })
    }

    /// Splits everything after the first `at` bytes off and returns it; this piece keeps the first.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use hipfile::{Driver, alloc::DeviceBuffer};
    ///
    /// let mut head = Driver::open()?.register(DeviceBuffer::new(100)?)?.into_region();
    /// let tail = head.split_off(60)?;
    /// assert_eq!((head.len(), tail.len()), (60, 40));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) if there are fewer than `at` bytes; nothing has changed then.
    pub fn split_off(&mut self, at: usize) -> Result<Region> {
        resolve_range("Region::split_off", ..at, self.span.len)?;
        let head = self.span.part(0, at);
        let tail = mem::replace(&mut self.span, head).rest(at);
        Ok(Self { span: tail, registered: Arc::clone(&self.registered) })
    }

    /// Joins `other`, which starts where this piece ends, to this piece: undoes a split.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use hipfile::{Driver, alloc::DeviceBuffer};
    ///
    /// let mut head = Driver::open()?.register(DeviceBuffer::new(100)?)?.into_region();
    /// let mut middle = head.split_off(60)?;
    /// let tail = middle.split_off(20)?;
    /// let tail = head.unsplit(tail).expect_err("the middle is missing");
    /// head.unsplit(middle).unwrap();
    /// head.unsplit(tail).unwrap();
    /// assert_eq!(head.len(), 100);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// `other` comes back if it starts elsewhere or is of another registration; this piece has not changed then.
    pub fn unsplit(&mut self, other: Region) -> std::result::Result<(), Region> {
        // Pieces are within one allocation, whose length is at most isize::MAX, so the sums are exact.
        let end = self.span.offset.wrapping_add(self.span.len);
        if !Arc::ptr_eq(&self.registered, &other.registered) || end != other.span.offset {
            return Err(other);
        }
        self.span.len = self.span.len.wrapping_add(other.span.len);
        Ok(())
    }

    /// The bytes at `range`, to write to files.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) if `range` is not within this piece.
    pub fn slice(&self, range: impl RangeBounds<usize>) -> Result<RegisteredSlice<'_>> {
        let range = resolve_range("Region::slice", range, self.span.len)?;
        // SAFETY: requires live registered memory that nobody writes while the slice lives; holds because the range was
        // checked, the slice borrows `self`, which keeps memory and registration, and only `&mut` of `self` writes it.
        Ok(unsafe { RegisteredSlice::from_span(self.span().part(range.start, range.len())) })
    }

    /// The bytes at `range`, to read files into.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) if `range` is not within this piece.
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> Result<RegisteredSliceMut<'_>> {
        let range = resolve_range("Region::slice_mut", range, self.span.len)?;
        // SAFETY: requires live registered memory that is nobody else's while the slice lives; holds because the range was
        // checked, the slice borrows `self` mutably, the registered memory is exclusive, and no other piece has the bytes:
        // pieces are made by splitting only.
        Ok(unsafe { RegisteredSliceMut::from_span(self.span().part(range.start, range.len())) })
    }

    /// The registration, if this is the last of its pieces: all of it, also the bytes of pieces that were dropped.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use hipfile::{Driver, alloc::DeviceBuffer};
    ///
    /// let mut head = Driver::open()?.register(DeviceBuffer::new(100)?)?.into_region();
    /// let tail = head.split_off(60)?;
    /// let head = head.try_into_registered::<DeviceBuffer>().expect_err("the tail is somewhere");
    /// drop(tail);
    /// let registered = head.try_into_registered::<DeviceBuffer>().expect("the head is the last");
    /// assert_eq!(registered.len(), 100);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The piece comes back if there are others, or if the memory is not held by an `M`.
    pub fn try_into_registered<M: DeviceMemoryMut + Send + Sync + 'static>(
        self,
    ) -> std::result::Result<Registered<M>, Region> {
        let Self { span, registered } = self;
        let registered = match registered.downcast::<Registered<M>>() {
            Ok(registered) => registered,
            Err(registered) => return Err(Self { span, registered }),
        };
        Arc::try_unwrap(registered).map_err(|registered| Self { span, registered })
    }

    /// Where the bytes are, for a transfer that owns this piece.
    pub(crate) fn span(&self) -> Span {
        self.span
    }
}

impl fmt::Debug for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Region")
            .field("base", &self.span.base.0)
            .field("offset", &self.span.offset)
            .field("len", &self.span.len)
            .field("device", &self.span.device)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
