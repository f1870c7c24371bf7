//! Pieces of memory that lie as direct I/O of their bytes asks.

use hip_alloc::resolve_range;

use crate::error::Result;
use crate::region::Region;

impl Region {
    /// The unit of [`split_in_step`](Self::split_in_step), which lets go of fewer bytes than this: a page of 4096 bytes.
    pub const STEP: usize = 4096;

    /// Splits a piece off for the `len` bytes at `offset` of a file, and lets go of the few bytes before it; this piece keeps
    /// the rest.
    ///
    /// The new piece lies as far behind a page as its bytes do in the file. That is what [`transfer`](crate::transfer) needs
    /// to move all but their odd ends on the fast path: the pages between these then have aligned addresses as well as aligned
    /// offsets. `len` + [`STEP`](Self::STEP) bytes for each piece are always enough.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use hipfile::{Driver, Region, alloc::DeviceBuffer};
    ///
    /// let tensors = [(1003, 500_000), (7_000_001, 100_000)];
    /// let room = tensors.iter().map(|(_, len)| len + Region::STEP).sum();
    /// let mut pool = Driver::open()?.register(DeviceBuffer::new(room)?)?.into_region();
    /// for (offset, len) in tensors {
    ///     let region = pool.split_in_step(offset, len)?;
    ///     assert_eq!(region.as_ptr().addr() % Region::STEP, offset as usize % Region::STEP);
    ///     assert_eq!(region.len(), len);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) if there are not enough bytes; nothing has changed then.
    pub fn split_in_step(&mut self, offset: u64, len: usize) -> Result<Region> {
        const STEP: u64 = Region::STEP as u64;
        let behind = (offset % STEP).wrapping_sub(self.as_ptr().addr() as u64) % STEP;
        let skip = behind as usize;
        resolve_range("Region::split_in_step", skip..skip.saturating_add(len), self.len())?;
        drop(self.split_to(skip)?);
        self.split_to(len)
    }
}
