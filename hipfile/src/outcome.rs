//! How a transfer that owns its region ends.

use std::error;
use std::fmt;
use std::io;

use hip_alloc::Operation;

use crate::error::Error;
use crate::region::Region;

/// A read or write under way on a stream, which owns its file and its region.
///
/// Wait for it, ask it, or await it: see [`Operation`]. Dropping it does not stop it; the region is let go of when the stream
/// has passed it.
///
/// ```
/// use std::sync::Arc;
///
/// use hipfile::alloc::{DeviceBuffer, Stream};
/// use hipfile::{Driver, FileHandle, OwnedTransfer};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let driver = Driver::open()?;
/// let file = FileHandle::new(&driver, std::fs::File::open("/proc/self/exe")?)?;
/// let (file, stream) = (Arc::new(file), Stream::new()?);
/// let region = driver.register(DeviceBuffer::new(8192)?)?.into_region();
/// let transfer: OwnedTransfer = file.read_owned(&stream, region, 0);
/// let done = match transfer.try_wait() {
///     Ok(ended) => ended?,
///     Err(transfer) => transfer.wait()?,
/// };
/// assert_eq!(done.bytes, 8192);
/// # assert_eq!(done.region.slice(..4)?.as_device().to_vec()?, b"\x7fELF");
/// # Ok(())
/// # }
/// ```
pub type OwnedTransfer = Operation<Result<Done, TransferError>>;

/// What a transfer gives back.
///
/// ```
/// # use std::sync::Arc;
/// # use hipfile::alloc::{DeviceBuffer, Stream};
/// # use hipfile::{Driver, FileHandle};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let driver = Driver::open()?;
/// # let file = FileHandle::new(&driver, std::fs::File::open("/proc/self/exe")?)?;
/// # let (file, stream) = (Arc::new(file), Stream::new()?);
/// # let region = driver.register(DeviceBuffer::new(4)?)?.into_region();
/// use hipfile::Done;
///
/// let Done { region, bytes, .. } = file.read_owned(&stream, region, 0).wait()?;
/// assert_eq!(region.slice(..bytes)?.as_device().to_vec()?, b"\x7fELF");
/// # Ok(())
/// # }
/// ```
#[non_exhaustive]
#[derive(Debug)]
pub struct Done {
    /// The memory that was read into, or written from.
    pub region: Region,
    /// Number of bytes that moved: fewer than asked for at the end of the file and above 0x7ffff000.
    pub bytes: usize,
}

/// Why a transfer failed, and its region.
///
/// ```
/// use std::sync::Arc;
///
/// use hipfile::alloc::{DeviceBuffer, Stream};
/// use hipfile::{Driver, ErrorKind, FileHandle};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let driver = Driver::open()?;
/// let file = FileHandle::new(&driver, std::fs::File::open("/proc/self/exe")?)?;
/// let (file, stream) = (Arc::new(file), Stream::new()?);
/// let region = driver.register(DeviceBuffer::new(4)?)?.into_region();
/// let failed = file.read_owned(&stream, region, u64::MAX).wait().unwrap_err();
/// assert_eq!(failed.error().kind(), ErrorKind::InvalidInput);
/// assert!(failed.region().is_some());
/// let (error, region) = failed.into_parts();
/// let done = file.read_owned(&stream, region.ok_or(error)?, 0).wait()?;
/// # assert_eq!(done.bytes, 4);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct TransferError {
    error: Error,
    region: Option<Region>,
}

impl TransferError {
    pub(crate) fn new(error: Error, region: Option<Region>) -> Self {
        Self { error, region }
    }

    /// What went wrong.
    #[must_use]
    pub fn error(&self) -> &Error {
        &self.error
    }

    /// What went wrong, without the region.
    ///
    /// ```
    /// use hipfile::{OwnedTransfer, TransferError};
    ///
    /// fn bytes(transfer: OwnedTransfer) -> hipfile::Result<usize> {
    ///     transfer.wait().map(|done| done.bytes).map_err(TransferError::into_error)
    /// }
    /// # let _ = bytes;
    /// ```
    #[must_use]
    pub fn into_error(self) -> Error {
        self.error
    }

    /// The region. `None` if nobody knows whether the device still uses it: it is leaked then, and counted in
    /// [`leaked`](crate::alloc::leaked).
    #[must_use]
    pub fn region(&self) -> Option<&Region> {
        self.region.as_ref()
    }

    /// What went wrong, and the region as [`region`](Self::region) has it.
    #[must_use]
    pub fn into_parts(self) -> (Error, Option<Region>) {
        (self.error, self.region)
    }
}

impl fmt::Display for TransferError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl error::Error for TransferError {}

impl From<TransferError> for Error {
    /// Drops the region.
    fn from(failed: TransferError) -> Self {
        failed.error
    }
}

impl From<TransferError> for io::Error {
    /// Drops the region.
    fn from(failed: TransferError) -> Self {
        failed.error.into()
    }
}
