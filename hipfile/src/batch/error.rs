//! Why a batch did not take requests.

use std::error;
use std::fmt;
use std::io;
use std::sync::{Mutex, PoisonError};

use crate::error::Error;
use crate::request::Request;

/// Why [`Batch::submit`](crate::Batch::submit) did not take the requests, and the requests.
///
/// ```
/// use hipfile::alloc::DeviceBuffer;
/// use hipfile::{Batch, BatchError, Driver, ErrorKind, OpenOptions, Request};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let driver = Driver::open()?;
/// let file = OpenOptions::new().read(true).open(&driver, "/proc/self/exe")?.into();
/// let pieces = driver.register(DeviceBuffer::new(8192)?)?.into_regions(4096)?;
/// let mut batch = Batch::new(&driver, 1)?;
/// let two = pieces.map(|piece| Request::read(&file, piece, 0)).collect();
/// let refused: BatchError = batch.submit(two).unwrap_err();
/// assert_eq!(refused.error().kind(), ErrorKind::Busy);
/// let mut two = refused.into_requests();
/// two.truncate(1);
/// batch.submit(two)?;
/// # Ok(())
/// # }
/// ```
pub struct BatchError {
    error: Error,
    /// Reached by value only. Requests are not Sync, as their closures need not be; errors have to be.
    requests: Mutex<Vec<Request>>,
}

impl BatchError {
    #[cold]
    pub(super) fn new(error: Error, requests: Vec<Request>) -> Self {
        Self { error, requests: Mutex::new(requests) }
    }

    /// What went wrong.
    #[must_use]
    pub fn error(&self) -> &Error {
        &self.error
    }

    /// The requests that were not taken, in their order: all of them, but for the one case that
    /// [`Batch::submit`](crate::Batch::submit) names.
    #[must_use]
    pub fn into_requests(self) -> Vec<Request> {
        self.into_parts().1
    }

    /// What went wrong and the requests that were not taken.
    ///
    /// ```
    /// use hipfile::alloc::DeviceBuffer;
    /// use hipfile::{Batch, Driver, ErrorKind, OpenOptions, Request};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let driver = Driver::open()?;
    /// let file = OpenOptions::new().read(true).open(&driver, "/proc/self/exe")?.into();
    /// let region = driver.register(DeviceBuffer::new(8)?)?.into_region();
    /// let mut batch = Batch::new(&driver, 1)?;
    /// let (error, requests) = batch.submit(vec![Request::read(&file, region, u64::MAX)]).unwrap_err().into_parts();
    /// assert_eq!((error.kind(), error.offset()), (ErrorKind::InvalidInput, Some(u64::MAX)));
    /// assert_eq!(requests.into_iter().map(Request::into_region).next().unwrap().len(), 8);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn into_parts(self) -> (Error, Vec<Request>) {
        (self.error, self.requests.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

impl fmt::Debug for BatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BatchError").field("error", &self.error).finish_non_exhaustive()
    }
}

impl fmt::Display for BatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl error::Error for BatchError {}

impl From<BatchError> for Error {
    /// Drops the requests.
    fn from(refused: BatchError) -> Self {
        refused.error
    }
}

impl From<BatchError> for io::Error {
    /// Drops the requests.
    fn from(refused: BatchError) -> Self {
        refused.error.into()
    }
}
