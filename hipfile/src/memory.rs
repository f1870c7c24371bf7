//! What a transfer works on.

use hip_alloc::{DeviceBuffer, DeviceMemory, DeviceMemoryMut, DeviceSlice, DeviceSliceMut};

use crate::region::Region;
use crate::registered::Registered;
use crate::slice::RegisteredSlice;
use crate::slice_mut::RegisteredSliceMut;
use crate::span::{Address, Span};

/// Names memory to a transfer. Out of reach for other crates, which seals the two traits below.
pub trait Named {
    #[doc(hidden)]
    fn span(&self) -> Span;
}

/// Device memory that a file can be read into: all of a [`Registered`], [`Region`] or [`DeviceBuffer`] by `&mut`, or a part of
/// it, which is a [`RegisteredSliceMut`] or [`DeviceSliceMut`].
///
/// Memory is registered to make transfers cheaper; memory that is not registered works as well.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use hipfile::alloc::DeviceBuffer;
/// use hipfile::{Driver, FileHandle, ReadInto};
///
/// fn start_of(file: &FileHandle, memory: impl ReadInto) -> hipfile::Result<usize> {
///     file.read_at(memory, 0)
/// }
///
/// let driver = Driver::open()?;
/// let file = FileHandle::new(&driver, std::fs::File::open("/proc/self/exe")?)?;
/// let mut memory = DeviceBuffer::new(8)?;
/// start_of(&file, &mut memory)?;
/// let mut slice = memory.slice_mut(2..)?;
/// start_of(&file, &mut slice)?; // by reference: the slice can be used again
/// start_of(&file, slice)?;
/// let mut registered = driver.register(&mut memory)?;
/// start_of(&file, registered.slice_mut(..4)?)?;
/// start_of(&file, &mut registered)?;
/// # drop(registered);
/// # assert_eq!(&memory.to_vec()?[..4], b"\x7fELF");
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "a file can't be read into `{Self}`",
    label = "neither `&mut` of device memory nor a mutable slice of it",
    note = "device memory is a `Registered`, a `Region` or a `DeviceBuffer`; `slice_mut(..)` of one gives a slice",
    note = "memory that is shared, as in an `Arc` or a shared slice, can only be written to files"
)]
pub trait ReadInto: Named {}

/// Device memory that can be written to a file: all of a [`Registered`], [`Region`] or [`DeviceBuffer`] by reference, or a part
/// of it, which is a [`RegisteredSlice`], a [`DeviceSlice`], or a mutable one of these.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use hipfile::alloc::DeviceBuffer;
/// use hipfile::{Driver, FileHandle, OpenOptions, WriteFrom};
///
/// fn append(file: &FileHandle, end: &mut u64, memory: impl WriteFrom) -> hipfile::Result<()> {
///     *end += file.write_at(memory, *end)? as u64;
///     Ok(())
/// }
///
/// let driver = Driver::open()?;
/// let memory = std::sync::Arc::new(DeviceBuffer::zeroed(8)?);
/// let registered = driver.register(memory)?;
/// # let path = std::env::temp_dir().join(format!("hipfile-doc-write-from-{}", std::process::id()));
/// let file = OpenOptions::new().write(true).create(true).open(&driver, &path)?;
/// let mut end = 0;
/// append(&file, &mut end, registered.slice(..4)?)?;
/// append(&file, &mut end, registered.memory().slice(4..)?)?;
/// append(&file, &mut end, &registered)?;
/// assert_eq!(end, 16);
/// # std::fs::remove_file(&path)?;
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be written to a file",
    label = "neither a reference to device memory nor a slice of it",
    note = "device memory is a `Registered`, a `Region` or a `DeviceBuffer`; `slice(..)` of one gives a slice"
)]
pub trait WriteFrom: Named {}

impl<T: Named + ?Sized> Named for &T {
    #[inline]
    fn span(&self) -> Span {
        (**self).span()
    }
}

impl<T: Named + ?Sized> Named for &mut T {
    #[inline]
    fn span(&self) -> Span {
        (**self).span()
    }
}

impl Named for DeviceSlice<'_> {
    #[inline]
    fn span(&self) -> Span {
        Span { base: Address(self.as_ptr()), offset: 0, len: self.len(), device: self.device() }
    }
}

impl Named for DeviceSliceMut<'_> {
    #[inline]
    fn span(&self) -> Span {
        Span { base: Address(self.as_ptr()), offset: 0, len: self.len(), device: self.device() }
    }
}

impl Named for DeviceBuffer {
    #[inline]
    fn span(&self) -> Span {
        self.as_slice().span()
    }
}

impl Named for Region {
    #[inline]
    fn span(&self) -> Span {
        Region::span(self)
    }
}

impl<M: DeviceMemory> Named for Registered<M> {
    #[inline]
    fn span(&self) -> Span {
        Registered::span(self)
    }
}

// Exclusive access only: a read from a file writes to the memory. Owners by reference only: a transfer that goes on after
// the call would work on what the call dropped.
impl ReadInto for &mut DeviceBuffer {}
impl ReadInto for &mut Region {}
impl<M: DeviceMemoryMut> ReadInto for &mut Registered<M> {}
impl ReadInto for RegisteredSliceMut<'_> {}
impl ReadInto for DeviceSliceMut<'_> {}
impl<T: ReadInto + ?Sized> ReadInto for &mut T {}

impl WriteFrom for &DeviceBuffer {}
impl WriteFrom for &Region {}
impl<M: DeviceMemory> WriteFrom for &Registered<M> {}
impl WriteFrom for RegisteredSlice<'_> {}
impl WriteFrom for RegisteredSliceMut<'_> {}
impl WriteFrom for DeviceSlice<'_> {}
impl WriteFrom for DeviceSliceMut<'_> {}
impl<T: WriteFrom + ?Sized> WriteFrom for &T {}
impl<T: WriteFrom + ?Sized> WriteFrom for &mut T {}
