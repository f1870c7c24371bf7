//! Registered memory cut into equal pieces.

use std::iter::FusedIterator;

use hip_alloc::DeviceMemoryMut;

use crate::error::{Cause, Error, Result};
use crate::region::Region;
use crate::registered::Registered;

/// The pieces of registered memory, in order: see [`Registered::into_regions`].
///
/// What was not taken is let go of when this is dropped.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use hipfile::{Driver, Regions, alloc::DeviceBuffer};
///
/// let mut blocks: Regions = Driver::open()?.register(DeviceBuffer::new(12 << 20)?)?.into_regions(4 << 20)?;
/// let first = blocks.next();
/// assert_eq!((first.map(|block| block.len()), blocks.len()), (Some(4 << 20), 2));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use = "iterators are lazy"]
pub struct Regions {
    /// What was not taken; no piece of zero bytes.
    rest: Option<Region>,
    /// Length of a piece, at least 1.
    len: usize,
}

impl<M: DeviceMemoryMut + Send + Sync + 'static> Registered<M> {
    /// Pieces of `len` bytes each, in order, the last one shorter if they don't come out even.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use hipfile::{Driver, Region, alloc::DeviceBuffer};
    ///
    /// let registered = Driver::open()?.register(DeviceBuffer::new(10 << 20)?)?;
    /// let blocks: Vec<Region> = registered.into_regions(4 << 20)?.collect();
    /// assert_eq!(blocks.iter().map(Region::len).collect::<Vec<_>>(), [4 << 20, 4 << 20, 2 << 20]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput) if `len` is 0; the registration is dropped.
    pub fn into_regions(self, len: usize) -> Result<Regions> {
        if len == 0 {
            return Err(Error::new("Registered::into_regions", Cause::EmptyPieces));
        }
        Ok(Regions { rest: Some(self.into_region()), len })
    }
}

impl Iterator for Regions {
    type Item = Region;

    fn next(&mut self) -> Option<Region> {
        let mut next = self.rest.take()?;
        // Fails for the last piece, which is not longer than the others.
        self.rest = next.split_off(self.len).ok().filter(|rest| !rest.is_empty());
        Some(next)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.rest.as_ref().map_or(0, |rest| rest.len().div_ceil(self.len));
        (left, Some(left))
    }
}

impl ExactSizeIterator for Regions {}

impl FusedIterator for Regions {}
