//! A transfer that owns what it uses.

use std::sync::Arc;

use crate::file::FileHandle;
use crate::io::Way;
use crate::region::Region;

/// A transfer to be made: between a file, which it shares, and a [`Region`], which it owns.
///
/// Nothing in it is borrowed, so it can be handed to what works on it after the call, such as a
/// [`Batch`](crate::Batch). The region comes back when the transfer has ended, and if it was refused.
///
/// ```
/// use std::sync::Arc;
/// use hipfile::{Driver, FileHandle, OpenOptions, Request, alloc::DeviceBuffer};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let driver = Driver::open()?;
/// let file: Arc<FileHandle> = OpenOptions::new().read(true).open(&driver, "/proc/self/exe")?.into();
/// let region = driver.register(DeviceBuffer::new(4096)?)?.into_region();
/// let request = Request::read(&file, region, 0).tag(1);
/// let region = request.into_region(); // or submit it
/// assert_eq!(region.len(), 4096);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use = "nothing is transferred until it is submitted"]
pub struct Request {
    pub(crate) way: Way,
    pub(crate) file: Arc<FileHandle>,
    pub(crate) region: Region,
    pub(crate) offset: u64,
    pub(crate) tag: u64,
}

impl Request {
    /// Reads the file from `offset` into the region.
    pub fn read(file: &Arc<FileHandle>, region: Region, offset: u64) -> Self {
        Self { way: Way::Read, file: Arc::clone(file), region, offset, tag: 0 }
    }

    /// Writes the region to the file at `offset`.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use hipfile::{Batch, Driver, FileHandle, OpenOptions, Request, alloc::DeviceBuffer};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let path = std::env::temp_dir().join(format!("hipfile-doc-request-write-{}", std::process::id()));
    /// let driver = Driver::open()?;
    /// let file: Arc<FileHandle> = OpenOptions::new().write(true).create(true).open(&driver, &path)?.into();
    /// let region = driver.register(DeviceBuffer::from_host(b"value")?)?.into_region();
    /// let mut batch = Batch::new(&driver, 1)?;
    /// batch.submit(vec![Request::write(&file, region, 4)])?;
    /// batch.wait(1, None)?;
    /// assert_eq!(std::fs::read(&path)?, b"\0\0\0\0value");
    /// # std::fs::remove_file(&path)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn write(file: &Arc<FileHandle>, region: Region, offset: u64) -> Self {
        Self { way: Way::Write, file: Arc::clone(file), region, offset, tag: 0 }
    }

    /// Gives it a number, by which it is known when it has ended.
    pub fn tag(self, tag: u64) -> Self {
        Self { tag, ..self }
    }

    /// The memory, if it is not to be transferred after all.
    pub fn into_region(self) -> Region {
        self.region
    }
}
