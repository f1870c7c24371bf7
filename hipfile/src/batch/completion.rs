//! What comes out of a batch.

use crate::error::Result;
use crate::region::Region;

/// A transfer of a batch that has ended: by [`Batch::try_next`](crate::Batch::try_next).
///
/// ```
/// use hipfile::alloc::DeviceBuffer;
/// use hipfile::{Batch, Completion, Driver, OpenOptions, Request};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let driver = Driver::open()?;
/// let file = OpenOptions::new().read(true).open(&driver, "/proc/self/exe")?.into();
/// let region = driver.register(DeviceBuffer::new(4)?)?.into_region();
/// let mut batch = Batch::new(&driver, 1)?;
/// batch.submit([Request::read(&file, region, 0).tag(7)])?;
/// batch.wait(1, None)?;
/// let Completion { tag, region, result, .. } = batch.try_next()?.expect("one was waited for");
/// assert_eq!((tag, result?), (7, 4));
/// assert_eq!(region.slice(..)?.as_device().to_vec()?, b"\x7fELF");
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Completion {
    /// The number that the request was tagged with; 0 if it was not.
    pub tag: u64,
    /// The memory. Nothing uses it any more, however the transfer ended.
    pub region: Region,
    /// Bytes moved, fewer than the region has as for [`FileHandle::read_at`](crate::FileHandle::read_at); or why not.
    /// [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled) if it was cancelled before it began.
    pub result: Result<usize>,
}
