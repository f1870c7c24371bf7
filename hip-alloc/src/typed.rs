//! Device memory as elements of a type: feature `bytemuck`.

use core::any::type_name;
use core::fmt;
use core::marker::PhantomData;
use core::mem::{align_of, size_of};
use core::ops::{Bound, RangeBounds};

use bytemuck::{Pod, cast_slice, cast_slice_mut};

use crate::error::{Cause, Error, Result};
use crate::slice::DeviceSlice;
use crate::slice_mut::DeviceSliceMut;

/// Device memory borrowed to read, counted in elements of `T`. Made by [`DeviceSlice::typed`]. Feature `bytemuck`.
///
/// ```
/// # fn main() -> hip_alloc::Result<()> {
/// let buffer = hip_alloc::DeviceBuffer::from_host(bytemuck::cast_slice(&[1.5_f32, 2.5, 3.5]))?;
/// let weights: hip_alloc::TypedSlice<f32> = buffer.as_slice().typed()?;
/// assert_eq!((weights.len(), weights.is_empty()), (3, false));
/// assert_eq!(weights.to_vec()?, [1.5, 2.5, 3.5]);
/// assert_eq!(weights.slice(1..)?.as_bytes().len(), 8);
///
/// let mut host = [0.0; 2];
/// weights.copy_to_host(1, &mut host)?;
/// assert_eq!(host, [2.5, 3.5]);
///
/// let error = buffer.slice(..7)?.typed::<f32>().unwrap_err();
/// assert_eq!(error.kind(), hip_alloc::ErrorKind::InvalidInput);
/// # Ok(())
/// # }
/// ```
pub struct TypedSlice<'a, T> {
    bytes: DeviceSlice<'a>,
    elements: PhantomData<fn() -> T>,
}

impl<'a, T: Pod> TypedSlice<'a, T> {
    /// Number of elements.
    #[must_use]
    pub fn len(self) -> usize {
        count::<T>(self.bytes.len())
    }

    /// Whether there are no elements.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.bytes.is_empty()
    }

    /// The same memory as bytes.
    #[must_use]
    pub fn as_bytes(self) -> DeviceSlice<'a> {
        self.bytes
    }

    /// The elements at `range`.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange), in bytes, if `range` is not within this slice.
    pub fn slice(self, range: impl RangeBounds<usize>) -> Result<Self> {
        Ok(Self { bytes: self.bytes.slice(in_bytes::<T>(range))?, elements: PhantomData })
    }

    /// Fills `destination` with the elements from `first` on. Has happened when it returns.
    ///
    /// # Errors
    /// As [`DeviceSlice::copy_to_host`].
    #[doc(alias = "hipMemcpy")]
    pub fn copy_to_host(self, first: usize, destination: &mut [T]) -> Result<()> {
        let offset = first.saturating_mul(size_of::<T>());
        self.bytes.copy_to_host_as("TypedSlice::copy_to_host", offset, cast_slice_mut(destination))
    }

    /// Every element, copied into host memory.
    ///
    /// # Errors
    /// HIP's.
    pub fn to_vec(self) -> Result<Vec<T>> {
        let mut elements = vec![T::zeroed(); self.len()];
        self.bytes.copy_to_host_as("TypedSlice::to_vec", 0, cast_slice_mut(&mut elements))?;
        Ok(elements)
    }
}

impl<'a> DeviceSlice<'a> {
    /// The same memory as elements of `T`. Feature `bytemuck`.
    ///
    /// ```
    /// # fn main() -> hip_alloc::Result<()> {
    /// let buffer = hip_alloc::DeviceBuffer::from_host(&[1, 0, 2, 0])?;
    /// if cfg!(target_endian = "little") {
    ///     assert_eq!(buffer.as_slice().typed::<u16>()?.to_vec()?, [1, 2]);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput) if the length is no whole number of elements, the
    /// address is not aligned for them, or they have no size.
    pub fn typed<T: Pod>(self) -> Result<TypedSlice<'a, T>> {
        check::<T>("DeviceSlice::typed", self)?;
        Ok(TypedSlice { bytes: self, elements: PhantomData })
    }
}

/// Device memory borrowed to read and write, counted in elements of `T`. Made by [`DeviceSliceMut::typed`]. Feature
/// `bytemuck`.
///
/// ```
/// # fn main() -> hip_alloc::Result<()> {
/// let mut buffer = hip_alloc::DeviceBuffer::zeroed(4 * 4)?;
/// let mut counts: hip_alloc::TypedSliceMut<u32> = buffer.as_mut_slice().typed()?;
/// counts.copy_from_host(1, &[7, 8])?;
/// counts.slice_mut(3..)?.copy_from_host(0, &[u32::MAX])?;
/// assert_eq!(counts.as_slice().to_vec()?, [0, 7, 8, u32::MAX]);
/// assert_eq!((counts.len(), counts.is_empty()), (4, false));
/// counts.into_bytes().fill(0)?;
/// assert_eq!(buffer.to_vec()?, [0; 16]);
/// # Ok(())
/// # }
/// ```
pub struct TypedSliceMut<'a, T> {
    bytes: DeviceSliceMut<'a>,
    elements: PhantomData<fn() -> T>,
}

impl<'a, T: Pod> TypedSliceMut<'a, T> {
    /// Number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        count::<T>(self.bytes.len())
    }

    /// Whether there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The same elements, to read.
    #[must_use]
    pub fn as_slice(&self) -> TypedSlice<'_, T> {
        TypedSlice { bytes: self.bytes.as_slice(), elements: PhantomData }
    }

    /// The same memory as bytes.
    #[must_use]
    pub fn into_bytes(self) -> DeviceSliceMut<'a> {
        self.bytes
    }

    /// The elements at `range`, to read and write.
    ///
    /// # Errors
    /// [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange), in bytes, if `range` is not within this slice.
    pub fn slice_mut(&mut self, range: impl RangeBounds<usize>) -> Result<TypedSliceMut<'_, T>> {
        Ok(TypedSliceMut { bytes: self.bytes.slice_mut(in_bytes::<T>(range))?, elements: PhantomData })
    }

    /// Writes `source` from the element `first` on. Has happened when it returns.
    ///
    /// # Errors
    /// As [`DeviceSliceMut::copy_from_host`].
    #[doc(alias = "hipMemcpy")]
    pub fn copy_from_host(&mut self, first: usize, source: &[T]) -> Result<()> {
        let offset = first.saturating_mul(size_of::<T>());
        self.bytes.copy_from_host_as("TypedSliceMut::copy_from_host", offset, cast_slice(source))
    }
}

impl<'a> DeviceSliceMut<'a> {
    /// The same memory as elements of `T`. Feature `bytemuck`.
    ///
    /// ```
    /// # fn main() -> hip_alloc::Result<()> {
    /// let mut buffer = hip_alloc::DeviceBuffer::zeroed(8)?;
    /// buffer.slice_mut(4..)?.typed::<i32>()?.copy_from_host(0, &[-1])?;
    /// assert_eq!(buffer.to_vec()?, [0, 0, 0, 0, 255, 255, 255, 255]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`DeviceSlice::typed`].
    pub fn typed<T: Pod>(self) -> Result<TypedSliceMut<'a, T>> {
        check::<T>("DeviceSliceMut::typed", self.as_slice())?;
        Ok(TypedSliceMut { bytes: self, elements: PhantomData })
    }
}

impl<T> Clone for TypedSlice<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for TypedSlice<'_, T> {}

impl<T> fmt::Debug for TypedSlice<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TypedSlice").field("of", &type_name::<T>()).field("bytes", &self.bytes).finish()
    }
}

impl<T> fmt::Debug for TypedSliceMut<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TypedSliceMut").field("of", &type_name::<T>()).field("bytes", &self.bytes).finish()
    }
}

/// Whether the memory is elements of `T`.
fn check<T>(operation: &'static str, bytes: DeviceSlice<'_>) -> Result<()> {
    let (size, align) = (size_of::<T>(), align_of::<T>());
    let (len, address) = (bytes.len(), bytes.as_ptr().addr());
    let whole = len.checked_rem(size) == Some(0);
    // Memory of no bytes may be anywhere.
    let aligned = len == 0 || address.checked_rem(align) == Some(0);
    if whole && aligned {
        return Ok(());
    }
    Err(Error::new(operation, Cause::Elements { address, len, size, align }))
}

fn count<T>(bytes: usize) -> usize {
    bytes.checked_div(size_of::<T>()).unwrap_or(0)
}

/// A range of elements as one of bytes. What no memory can have stays so.
fn in_bytes<T>(range: impl RangeBounds<usize>) -> (Bound<usize>, Bound<usize>) {
    let bytes = |elements: usize| elements.saturating_mul(size_of::<T>());
    let start = match range.start_bound() {
        Bound::Included(start) => Bound::Included(bytes(*start)),
        Bound::Excluded(before) => Bound::Included(bytes(before.saturating_add(1))),
        Bound::Unbounded => Bound::Unbounded,
    };
    let end = match range.end_bound() {
        Bound::Included(last) => Bound::Excluded(bytes(last.saturating_add(1))),
        Bound::Excluded(end) => Bound::Excluded(bytes(*end)),
        Bound::Unbounded => Bound::Unbounded,
    };
    (start, end)
}
