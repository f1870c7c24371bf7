//! Operations that own what they use.

use core::fmt;
use core::future::Future;
use core::mem;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::sync::Arc;

use crate::completion::Watched;
use crate::error::{Cause, Error};
use crate::progress::Progress;

/// Something under way on a stream, which owns all that it uses.
///
/// The result can be waited for, asked for or awaited, by any executor or none.
///
/// ```
/// # fn main() -> hip_alloc::Result<()> {
/// use hip_alloc::{CopyError, DeviceBuffer, Operation, Stream};
///
/// let stream = Stream::new()?;
/// let mut operation: Operation<Result<DeviceBuffer, CopyError<DeviceBuffer>>> =
///     stream.fill(DeviceBuffer::new(4)?, .., 7);
/// let buffer = loop {
///     match operation.try_wait() {
///         Ok(result) => break result?,
///         Err(unfinished) => operation = unfinished, // and do something else
///     }
/// };
/// let operation = stream.fill(buffer, 2.., 8);
/// let buffer = operation.wait()?;
/// assert_eq!(buffer.to_vec()?, [7, 7, 8, 8]);
/// # Ok(())
/// # }
/// ```
///
/// Dropping an operation does not stop it, and does not wait: a thread of this crate drops what it owns once the stream has
/// passed it. Forgetting one leaks what it owns. If nobody can know any more whether the stream still uses that, since HIP
/// answers questions about the stream with an error, it is leaked and counted in [`leaked`](crate::leaked), and the result
/// is that error.
///
/// As a future it can be polled with another waker each time, of which the last one counts. After it was ready it is pending
/// for ever. Wakers are woken by a thread of this crate, one after the other, so none should take long.
#[must_use = "dropping an operation discards its result"]
pub struct Operation<T>(Option<Arc<dyn Pending<T>>>);

/// An operation whose payload is known by its result only.
pub(crate) trait Pending<T>: Send + Sync {
    fn progress(&self) -> &Progress;
    fn watched(self: Arc<Self>) -> Arc<dyn Watched>;
    /// The result, if the operation has ended and nobody took it.
    fn result(self: Arc<Self>) -> Option<T>;
    /// The result where nobody can know.
    fn lost(&self, error: Error) -> T;
}

impl<T> Operation<T> {
    pub(crate) fn new(pending: Arc<dyn Pending<T>>) -> Self {
        Self(Some(pending))
    }

    /// Waits for the end. Sleeps meanwhile, and asks HIP about ten times a second whether the stream is still there.
    ///
    /// # Panics
    /// If the operation has given its result away as a future, with which it ended.
    #[allow(clippy::panic, reason = "there is no result to return, and waiting for it would never end")]
    pub fn wait(mut self) -> T {
        const OPERATION: &str = "Operation::wait";
        let Some(pending) = self.0.take() else { panic!("the result was given away before") };
        if let Some(lost) = inherited(OPERATION, &pending) {
            return lost;
        }
        loop {
            pending.progress().wait(OPERATION);
            if let Some(result) = Arc::clone(&pending).result() {
                return result;
            }
        }
    }

    /// The result if the operation has ended. Does not wait; asks HIP if the end is not known.
    ///
    /// # Errors
    /// The operation itself, if it has not ended.
    pub fn try_wait(mut self) -> Result<T, Self> {
        const OPERATION: &str = "Operation::try_wait";
        let Some(pending) = self.0.take() else { return Err(self) };
        if let Some(lost) = inherited(OPERATION, &pending) {
            return Ok(lost);
        }
        pending.progress().ask(OPERATION);
        match Arc::clone(&pending).result() {
            Some(result) => Ok(result),
            None => Err(Self(Some(pending))),
        }
    }

    /// Whether [`try_wait`](Self::try_wait) would return the result.
    ///
    /// ```
    /// # fn main() -> hip_alloc::Result<()> {
    /// use hip_alloc::{DeviceBuffer, Stream};
    ///
    /// let stream = Stream::new()?;
    /// let operation = stream.fill(DeviceBuffer::new(4)?, .., 7);
    /// stream.synchronize()?;
    /// assert!(operation.is_finished());
    /// # drop(operation.wait()?);
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_finished(&self) -> bool {
        let Some(pending) = &self.0 else { return false };
        if pending.progress().is_inherited() {
            return true;
        }
        pending.progress().ask("Operation::is_finished");
        pending.progress().has_ended()
    }
}

/// What an operation ends with in a child that was forked meanwhile. What it owns stays there for ever.
fn inherited<T>(operation: &'static str, pending: &Arc<dyn Pending<T>>) -> Option<T> {
    if !pending.progress().is_inherited() {
        return None;
    }
    mem::forget(Arc::clone(pending));
    Some(pending.lost(Error::new(operation, Cause::Forked)))
}

impl<T> Future for Operation<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        const OPERATION: &str = "Operation::poll";
        let Some(pending) = &self.0 else { return Poll::Pending };
        if let Some(lost) = inherited(OPERATION, pending) {
            self.0 = None;
            return Poll::Ready(lost);
        }
        let watched = || Arc::clone(pending).watched();
        if !pending.progress().wake_with(OPERATION, context.waker(), watched) {
            return Poll::Pending;
        }
        match self.0.take().and_then(Pending::result) {
            Some(result) => Poll::Ready(result),
            None => Poll::Pending,
        }
    }
}

impl<T> Drop for Operation<T> {
    fn drop(&mut self) {
        let Some(pending) = self.0.take() else { return };
        if pending.progress().is_inherited() {
            mem::forget(pending);
        } else if pending.progress().abandon(|| Arc::clone(&pending).watched()) {
            // Nothing was ever enqueued.
            pending.watched().discard();
        }
    }
}

impl<T> fmt::Debug for Operation<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Operation").finish_non_exhaustive()
    }
}
