//! Batches: many transfers handed to the library in one call.
#![allow(unsafe_code, reason = "hands files and memory to C for longer than a call")]

mod completion;
mod entry;
mod events;
mod submit;

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::mem;
use std::sync::Arc;
use std::time::Duration;

pub use self::completion::Completion;
use self::entry::Outstanding;
use self::events::known;
use crate::driver::{Driver, DriverInner};
use crate::error::{Cause, Error, Result};
use crate::ffi::{self, batch::BatchHandle};
use crate::trace::{Trace, Work};
use crate::version::Version;

/// The most that one batch takes.
const MOST: usize = 128;

/// Up to 128 transfers that the library runs on threads of its own, in no particular order.
///
/// ```text
///   Request ──submit──► outstanding ──wait──► ready ──try_next──► Completion
///                          └──cancel──┘
/// ```
///
/// A batch owns what it was given, files and memory, until the library reports the end of each transfer; so it can be
/// stored, sent to another thread, dropped and forgotten.
///
/// ```
/// use std::sync::Arc;
/// use hipfile::alloc::DeviceBuffer;
/// use hipfile::{Batch, Driver, FileHandle, OpenOptions, Request};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let path = std::env::temp_dir().join(format!("hipfile-doc-batch-{}", std::process::id()));
/// # std::fs::write(&path, [7; 10_000])?;
/// let driver = Driver::open()?;
/// let file: Arc<FileHandle> = OpenOptions::new().read(true).open(&driver, &path)?.into();
/// let blocks = driver.register(DeviceBuffer::new(16384)?)?.into_regions(4096)?;
/// let mut batch = Batch::new(&driver, 4)?;
/// batch.submit((0..).zip(blocks).map(|(n, block)| Request::read(&file, block, n * 4096).tag(n)))?;
/// let mut bytes = 0;
/// while batch.outstanding() > 0 {
///     batch.wait(1, None)?;
///     while let Some(done) = batch.try_next()? {
///         bytes += done.result?; // `done.tag` says which, and `done.region` has the bytes
///     }
/// }
/// assert_eq!(bytes, 10_000); // short at the end of the file
/// # std::fs::remove_file(&path)?;
/// # Ok(())
/// # }
/// ```
///
/// **Transfers of a batch wait for no stream**, as those of [`FileHandle::read_at`](crate::FileHandle::read_at), and for
/// nothing that was submitted before them.
///
/// Dropping a batch cancels what has not begun and **waits for what has**. If the library does not prove that it ended, or
/// does not know the batch any more, the memory of what is outstanding is leaked and
/// [counted](crate::alloc::leaked), and the files stay open.
#[must_use = "dropping a batch cancels its transfers"]
pub struct Batch {
    handle: BatchHandle,
    /// What the library may be working on, by cookie.
    outstanding: HashMap<usize, Outstanding>,
    /// What has ended and was not taken.
    ready: VecDeque<Completion>,
    capacity: usize,
    driver: Arc<DriverInner>,
}

impl Batch {
    /// The largest capacity.
    pub const MAX_CAPACITY: usize = MOST;

    /// A batch with room for `capacity` transfers, 1 to [`MAX_CAPACITY`](Self::MAX_CAPACITY). hipFile 0.5.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) with libhipfile before 0.5, which would take transfers and
    /// never run them; [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput) for another capacity;
    /// [`ErrorKind::Forked`](crate::ErrorKind::Forked) in a forked child; otherwise what the library answers.
    #[doc(alias = "hipFileBatchIOSetUp")]
    pub fn new(driver: &Driver, capacity: usize) -> Result<Self> {
        let driver = driver.inner();
        Self::set_up(driver, capacity).map_err(|cause| Error::new("create batch", cause)).map(|handle| Self {
            handle,
            outstanding: HashMap::with_capacity(capacity),
            ready: VecDeque::with_capacity(capacity),
            capacity,
            driver: Arc::clone(driver),
        })
    }

    fn set_up(driver: &DriverInner, capacity: usize) -> std::result::Result<BatchHandle, Cause> {
        let api = driver.live()?;
        let found = ffi::version(api)?;
        if found < Version::BATCH {
            return Err(Cause::Unsupported { feature: "batches that run", since: Version::BATCH, found });
        }
        match u32::try_from(capacity) {
            Ok(count) if (1..=MOST).contains(&capacity) => ffi::batch::set_up(api, count),
            _ => {
                let account = format!("a batch has room for 1 to {MOST} transfers, not for {capacity}");
                Err(Cause::InvalidArgument(account))
            }
        }
    }

    /// How many transfers fit.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use hipfile::{Batch, Driver};
    ///
    /// let batch = Batch::new(&Driver::open()?, Batch::MAX_CAPACITY)?;
    /// assert_eq!((batch.capacity(), batch.outstanding(), batch.room()), (128, 0, 128));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// How many transfers were submitted and not taken by [`try_next`](Self::try_next), whether they have ended or not.
    #[must_use]
    pub fn outstanding(&self) -> usize {
        // Both are bounded by the capacity.
        self.outstanding.len().saturating_add(self.ready.len())
    }

    /// How many more transfers fit.
    #[must_use]
    pub fn room(&self) -> usize {
        self.capacity.saturating_sub(self.outstanding())
    }

    /// Waits until `min` transfers are ready to be taken, or all have ended, or `timeout` has passed. Returns how many are
    /// ready, which may be more or fewer. hipFile 0.5.
    ///
    /// `None` waits as long as it takes. With a `min` of 0 or a `timeout` of zero it does not wait.
    ///
    /// # Errors
    ///
    /// What became ready is ready nevertheless. [`ErrorKind::NotRegistered`](crate::ErrorKind::NotRegistered) if other code
    /// destroyed the batch or closed the driver, [`ErrorKind::LibraryFault`](crate::ErrorKind::LibraryFault) if the library
    /// reports what can't be: what that is about stays outstanding. [`ErrorKind::Forked`](crate::ErrorKind::Forked) in a
    /// forked child.
    #[doc(alias = "hipFileBatchIOGetStatus")]
    pub fn wait(&mut self, min: usize, timeout: Option<Duration>) -> Result<usize> {
        Trace::of(Work::WaitForBatch { min }).around(|| self.wait_for(min, timeout), |error| error)
    }

    fn wait_for(&mut self, min: usize, timeout: Option<Duration>) -> Result<usize> {
        let missing = min.saturating_sub(self.ready.len()).min(self.outstanding.len());
        let fetched = match self.fetch(missing, timeout) {
            Ok(fetched) if fetched < missing && timeout.is_none() => Err(Cause::Fault(format!(
                "the library has no transfers left, where {} are outstanding",
                self.outstanding.len()
            ))),
            fetched => fetched,
        };
        fetched.map(|_| self.ready.len()).map_err(|cause| Error::new("wait for batch", cause))
    }

    /// Takes a transfer that has ended, in no particular order; `None` if there is none yet. It does not wait. hipFile 0.5.
    ///
    /// # Errors
    ///
    /// As for [`wait`](Self::wait).
    #[doc(alias = "hipFileBatchIOGetStatus")]
    pub fn try_next(&mut self) -> Result<Option<Completion>> {
        if self.ready.is_empty() {
            self.wait_for(0, Some(Duration::ZERO))?;
        }
        Ok(self.ready.pop_front())
    }

    /// Cancels the transfers that have not begun. It does not wait for those that have. hipFile 0.5.
    ///
    /// Each transfer still becomes ready, cancelled ones with [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled). The
    /// batch can be used on.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use hipfile::{Batch, Driver, ErrorKind, OpenOptions, Request, alloc::DeviceBuffer};
    ///
    /// let driver = Driver::open()?;
    /// let file = OpenOptions::new().read(true).open(&driver, "/proc/self/exe")?.into();
    /// let region = driver.register(DeviceBuffer::new(4)?)?.into_region();
    /// let mut batch = Batch::new(&driver, 1)?;
    /// batch.submit([Request::read(&file, region, 0)])?;
    /// batch.cancel()?;
    /// batch.wait(1, None)?;
    /// match batch.try_next()?.expect("it has ended, one way or the other").result {
    ///     Ok(bytes) => assert_eq!(bytes, 4, "it had begun"),
    ///     Err(error) => assert_eq!(error.kind(), ErrorKind::Cancelled),
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Nothing was cancelled. [`ErrorKind::NotRegistered`](crate::ErrorKind::NotRegistered) if other code destroyed the batch
    /// or closed the driver, [`ErrorKind::Forked`](crate::ErrorKind::Forked) in a forked child.
    #[doc(alias = "hipFileBatchIOCancel")]
    pub fn cancel(&mut self) -> Result<()> {
        self.driver
            .live()
            .and_then(|api| known(ffi::batch::cancel(api, &self.handle)))
            .map_err(|cause| Error::new("cancel batch", cause))
    }

    /// Has the library destroy the batch. `Ok` says that nothing is in flight any more.
    fn destroy(&mut self) -> std::result::Result<(), Cause> {
        let api = self.driver.live()?;
        // Destroying has no answer, so whether the library knows the batch is asked by what it would do first.
        let cancelled = known(ffi::batch::cancel(api, &self.handle));
        if !matches!(cancelled, Err(Cause::UnknownBatch)) {
            // SAFETY: requires a batch of our own that is not used again; holds because only Drop calls this.
            unsafe { ffi::batch::destroy(api, &self.handle) };
        }
        cancelled
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        if self.destroy().is_err() {
            for outstanding in mem::take(&mut self.outstanding).into_values() {
                outstanding.leak();
            }
        }
    }
}

impl fmt::Debug for Batch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch")
            .field("capacity", &self.capacity)
            .field("outstanding", &self.outstanding())
            .field("ready", &self.ready.len())
            .finish_non_exhaustive()
    }
}
