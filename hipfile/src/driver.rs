//! The driver: libhipfile opened.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hipfile_sys::Api;

use crate::error::{Cause, Error, Failed, Result};
use crate::explain::Environment;
use crate::ffi;
use crate::op_error::OpError;
use crate::trace::{Trace, Work};

/// libhipfile, open. Where everything starts.
///
/// Each [`Driver::open`] is undone by exactly one close, when the last of its users is gone: clones, files,
/// registrations, streams and batches all hold it, so they can be dropped in any order. Opening is cheap, cloning cheaper.
///
/// ```
/// use hipfile::Driver;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let driver = Driver::open()?;
/// assert_eq!(driver.use_count()?, 1);
/// driver.close()?; // or drop it
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Driver {
    inner: Arc<DriverInner>,
}

/// One open of the library, closed when dropped.
pub(crate) struct DriverInner {
    api: &'static Api,
    /// False once a close reached the library, or the library said that somebody else had closed it.
    open: AtomicBool,
}

impl Driver {
    /// Opens libhipfile, loading it first if this program is not linked with it. hipFile 0.2.
    ///
    /// Needs no GPU: that one is missing shows when memory is allocated.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotLoaded`](crate::ErrorKind::NotLoaded) if there is no library to load,
    /// [`ErrorKind::Forked`](crate::ErrorKind::Forked) in a forked child, and what the library answers.
    #[doc(alias = "hipFileDriverOpen")]
    pub fn open() -> Result<Self> {
        let open = || {
            let api = ffi::api()?;
            ffi::open_driver(api)?;
            // To be remembered before the library's first transfer, when that reads it.
            Environment::in_force();
            Ok(Self { inner: Arc::new(DriverInner { api, open: AtomicBool::new(true) }) })
        };
        let open = || open().map_err(|cause| Error::new("open driver", cause));
        Trace::of(Work::OpenDriver).around(open, |error| error)
    }

    /// Closes this open of the library. hipFile 0.2.
    ///
    /// Dropping the last user does the same without telling how it went.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use hipfile::{Driver, ErrorKind};
    ///
    /// let driver = Driver::open()?;
    /// let clone = driver.clone();
    /// let (error, driver) = driver.close().unwrap_err().into_parts();
    /// assert_eq!(error.kind(), ErrorKind::Busy);
    /// drop(clone);
    /// driver.close()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The driver comes back. [`ErrorKind::Busy`](crate::ErrorKind::Busy) while a clone, a file, a
    /// registration, a stream or a batch uses it too; otherwise what the library answers.
    #[doc(alias = "hipFileDriverClose")]
    pub fn close(self) -> std::result::Result<(), Failed<Self>> {
        Trace::of(Work::CloseDriver).around(|| self.try_close(), Failed::error)
    }

    fn try_close(self) -> std::result::Result<(), Failed<Self>> {
        let (inner, cause) = match Arc::try_unwrap(self.inner) {
            Ok(inner) => match inner.close() {
                Ok(()) => return Ok(()),
                Err(cause) => (Arc::new(inner), cause),
            },
            Err(inner) => (inner, Cause::Shared),
        };
        Err(Failed::new(Error::new("close driver", cause), Self { inner }))
    }

    /// How often the library is open in this process, by whomever. hipFile 0.2.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Forked`](crate::ErrorKind::Forked) in a forked child;
    /// [`ErrorKind::Unknown`](crate::ErrorKind::Unknown) if the library gives a negative count.
    #[doc(alias = "hipFileUseCount")]
    pub fn use_count(&self) -> Result<u64> {
        self.inner
            .live()
            .and_then(ffi::use_count)
            .map_err(|cause| Error::new("read use count of driver", cause))
    }

    pub(crate) fn inner(&self) -> &Arc<DriverInner> {
        &self.inner
    }
}

impl DriverInner {
    /// The function table, unless calling C is not safe any more.
    #[inline]
    pub(crate) fn live(&self) -> std::result::Result<&'static Api, Cause> {
        if hip_alloc::forked() { Err(Cause::Forked) } else { Ok(self.api) }
    }

    /// The function table, for a caller who knows that this is no forked child.
    #[inline]
    pub(crate) fn api(&self) -> &'static Api {
        self.api
    }

    #[allow(unsafe_code, reason = "undoes the open that this value stands for")]
    fn close(&self) -> std::result::Result<(), Cause> {
        let api = self.live()?;
        if !self.open.swap(false, Ordering::Relaxed) {
            return Err(Cause::Op(OpError::DriverNotInitialized));
        }
        // SAFETY: requires an open of our own that nothing relies on; holds because `open` was true, and both callers
        // have the only reference to this value, which every file and registration would share.
        let answer = unsafe { ffi::close_driver(api) };
        // Somebody else's close took ours: closing again would take a third party's. Anything else may be tried again.
        if matches!(&answer, Err(cause) if cause.op_error() != Some(OpError::DriverNotInitialized)) {
            self.open.store(true, Ordering::Relaxed);
        }
        answer
    }
}

impl Drop for DriverInner {
    fn drop(&mut self) {
        // Nobody is left to tell, and a process may end with the library open.
        let _ = self.close();
    }
}

impl fmt::Debug for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Driver").field("users", &Arc::strong_count(&self.inner)).finish()
    }
}
