//! The way into a batch.
#![allow(unsafe_code, reason = "hands files and memory to C for longer than a call")]

use std::time::Duration;

use super::Batch;
use super::entry::{self, Outstanding};
use crate::error::{Cause, Error, Failed, Result};
use crate::ffi::{self, batch::Entry};
use crate::op_error::OpError;
use crate::request::Request;
use crate::trace::{Trace, Work};

const SUBMIT: &str = "submit to batch";

impl Batch {
    /// Starts all of the transfers, or none. It does not wait for them. hipFile 0.5.
    ///
    /// The requests may be of any files and devices. Those that overlap in a file race, as `pread` and `pwrite` of several
    /// threads do. A [place](Request::place) is released when the end of its transfer was fetched, by
    /// [`wait`](Self::wait) or [`try_next`](Self::try_next), or when the batch is dropped.
    ///
    /// ```
    /// use hipfile::alloc::DeviceBuffer;
    /// use hipfile::{Batch, Driver, ErrorKind, OpenOptions, Request};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let driver = Driver::open()?;
    /// let file = OpenOptions::new().read(true).open(&driver, "/proc/self/exe")?.into();
    /// let pieces = driver.register(DeviceBuffer::new(8192)?)?.into_regions(4096)?;
    /// let mut batch = Batch::new(&driver, 1)?;
    /// let refused = batch.submit(pieces.map(|piece| Request::read(&file, piece, 0))).unwrap_err();
    /// assert_eq!(refused.error().kind(), ErrorKind::Busy);
    /// batch.submit(refused.into_inner().into_iter().take(1))?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The requests come back, in their order. [`ErrorKind::Busy`](crate::ErrorKind::Busy) if they are more than there is
    /// [`room`](Self::room) for; [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput) for an offset that passes
    /// `i64::MAX` with the length, for a file that was not opened for it, and for [late values](Request::late);
    /// [`ErrorKind::NotRegistered`](crate::ErrorKind::NotRegistered) if other code deregistered a file, destroyed the batch or
    /// closed the driver; [`ErrorKind::Forked`](crate::ErrorKind::Forked) in a forked child; otherwise what the library
    /// answers.
    ///
    /// If the library fails half-way, which it answers with [`ErrorKind::Internal`](crate::ErrorKind::Internal), it may have
    /// taken some of the requests. This call then waits until all that is outstanding has ended: what was taken becomes
    /// [ready](Self::try_next), the others come back.
    #[doc(alias = "hipFileBatchIOSubmit")]
    pub fn submit(
        &mut self,
        requests: impl IntoIterator<Item = Request>,
    ) -> std::result::Result<(), Failed<Vec<Request>>> {
        let requests = Vec::from_iter(requests);
        let trace = Trace::of(Work::SubmitBatch { requests: requests.len() });
        let submit = || match self.entries(&requests) {
            Ok(entries) => self.start(requests, &entries),
            Err(error) => Err(Failed::new(error, requests)),
        };
        trace.around(submit, Failed::error)
    }

    /// What the library is to be asked, each with a cookie of its own. Nothing has happened yet.
    fn entries(&self, requests: &[Request]) -> Result<Vec<Entry>> {
        let failed = |cause| Err(Error::new(SUBMIT, cause));
        if let Err(cause) = self.driver.live() {
            return failed(cause);
        }
        if requests.len() > self.room() {
            return failed(Cause::BatchFull {
                submitted: requests.len(),
                outstanding: self.outstanding(),
                capacity: self.capacity,
            });
        }
        requests.iter().map(entry::of).collect()
    }

    fn start(
        &mut self,
        requests: Vec<Request>,
        entries: &[Entry],
    ) -> std::result::Result<(), Failed<Vec<Request>>> {
        let outstanding = requests.into_iter().map(Outstanding::new);
        self.outstanding.extend(entries.iter().map(|entry| entry.cookie).zip(outstanding));
        match self.hand_over(entries) {
            Ok(()) => {
                for entry in entries.iter().filter(|entry| entry.transfer.size == 0) {
                    self.end(entry.cookie, Ok(0));
                }
                Ok(())
            }
            Err(cause) => {
                // If it can't be told which were taken, all of them stay, until the library has destroyed the batch.
                let told = refuses_all(&cause) || self.settle().is_ok();
                let entries = if told { entries } else { &[] };
                let error = Error::new(SUBMIT, cause);
                let back = entries.iter().filter_map(|entry| self.outstanding.remove(&entry.cookie));
                let back = back.map(|outstanding| outstanding.refuse(&error)).collect();
                Err(Failed::new(error, back))
            }
        }
    }

    /// Gives the library what is to be moved.
    fn hand_over(&mut self, entries: &[Entry]) -> std::result::Result<(), Cause> {
        let moving: Vec<Entry> = entries.iter().filter(|entry| entry.transfer.size > 0).copied().collect();
        if moving.is_empty() {
            return Ok(());
        }
        // SAFETY: requires files and memory that stay as they are until the event of each was fetched; holds because the
        // requests own both, exclusively where memory is read into, and are in `outstanding`, which they leave when their
        // event was fetched, when they were refused, or when the batch was destroyed; else they are leaked.
        match unsafe { ffi::batch::submit(self.driver.live()?, &self.handle, &moving) } {
            // Its answer to entries that can't be right, which these can, and to a batch that it does not know.
            Err(Cause::Op(OpError::InvalidValue)) => match self.fetch(0, Some(Duration::ZERO)) {
                Err(Cause::UnknownBatch) => Err(Cause::UnknownBatch),
                _ => Err(Cause::Op(OpError::InvalidValue)),
            },
            answer => answer,
        }
    }

    /// Waits until everything the library took has ended and was fetched. What is outstanding then was never taken.
    fn settle(&mut self) -> std::result::Result<(), Cause> {
        // More than the library took, so it waits for all of that. The second call says that the first was no answer to
        // somebody else's destroying the batch.
        self.fetch(self.outstanding.len(), None)?;
        self.fetch(self.outstanding.len(), None)?;
        Ok(())
    }
}

/// Whether this answer to a submission says that nothing was taken.
fn refuses_all(cause: &Cause) -> bool {
    match cause {
        Cause::Forked | Cause::HipCall(_) | Cause::UnknownBatch => true,
        Cause::Op(code) => matches!(
            code,
            OpError::DriverNotInitialized
                | OpError::HipMemoryTypeInvalid
                | OpError::InvalidValue
                | OpError::HandleNotRegistered
                | OpError::BatchFull
        ),
        _ => false,
    }
}
