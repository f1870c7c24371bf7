//! Events: places in streams.
#![allow(unsafe_code, reason = "creates and destroys events")]

use core::ffi::c_void;
use core::time::Duration;

use crate::calls::Failure;
use crate::device::{self, Device};
use crate::error::{Error, Result};
use crate::ffi::Functions;
use crate::stream::StreamRef;
use crate::stream_calls::{BLOCKING_SYNC, DISABLE_TIMING, RawEvent};
use crate::table;

/// A place in a stream that can be asked and waited for, by the host and by other streams.
///
/// An event that was never recorded counts as reached.
///
/// ```
/// # fn main() -> hip_alloc::Result<()> {
/// use hip_alloc::{Event, Stream};
///
/// let (first, second) = (Stream::new()?, Stream::new()?);
/// let event = Event::new()?;
/// event.record(&first)?;
/// second.wait_event(&event)?; // what `second` is given from now on waits for what `first` has been given so far
/// event.synchronize()?;
/// assert!(event.is_reached()?);
/// assert_eq!(event.device(), first.device());
/// assert!(!event.as_raw().is_null()); // for calls of C
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Event {
    raw: RawEvent,
    device: Device,
}

impl Event {
    /// An event of the calling thread's current device, without times.
    ///
    /// # Errors
    /// HIP's; [`ErrorKind::NoDevice`](crate::ErrorKind::NoDevice) without a device.
    #[doc(alias = "hipEventCreateWithFlags")]
    pub fn new() -> Result<Self> {
        Self::create("Event::new", DISABLE_TIMING | BLOCKING_SYNC)
    }

    /// An event of the calling thread's current device that notes when it is reached, for
    /// [`elapsed_since`](Self::elapsed_since).
    ///
    /// ```
    /// # fn main() -> hip_alloc::Result<()> {
    /// use hip_alloc::{Event, Stream};
    ///
    /// let stream = Stream::new()?;
    /// let (before, after) = (Event::timed()?, Event::timed()?);
    /// before.record(&stream)?;
    /// // work
    /// after.record(&stream)?;
    /// after.synchronize()?;
    /// println!("took {:?}", after.elapsed_since(&before)?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`new`](Self::new).
    #[doc(alias = "hipEventCreate")]
    pub fn timed() -> Result<Self> {
        Self::create("Event::timed", BLOCKING_SYNC)
    }

    fn create(operation: &'static str, flags: u32) -> Result<Self> {
        let hip = table::functions(operation)?;
        let device = device::current(operation, hip)?;
        let raw = hip.create_event(flags).map_err(Error::hip(operation))?;
        Ok(Self { raw, device })
    }

    /// Lets the event stand for everything that `stream` has been given so far, instead of what it stood for.
    ///
    /// # Errors
    /// HIP's, such as for a stream of another device.
    #[doc(alias = "hipEventRecord")]
    pub fn record<'a>(&self, stream: impl Into<StreamRef<'a>>) -> Result<()> {
        // SAFETY: requires a live event and a live stream; holds because both references stand for such.
        stream.into().call("Event::record", |hip, raw| unsafe { hip.record_event(self.raw, raw) })
    }

    /// Whether the stream has reached the event. Does not wait.
    ///
    /// # Errors
    /// HIP's, also those of work in the stream.
    #[doc(alias = "hipEventQuery")]
    pub fn is_reached(&self) -> Result<bool> {
        // SAFETY: requires a live event; holds because `self` stands for one.
        self.call("Event::is_reached", |hip| unsafe { hip.event_is_done(self.raw) })
    }

    /// Waits until the stream has reached the event.
    ///
    /// # Errors
    /// HIP's, also those of work in the stream. Then nothing is known of what the stream has done.
    #[doc(alias = "hipEventSynchronize")]
    pub fn synchronize(&self) -> Result<()> {
        // SAFETY: requires a live event; holds because `self` stands for one.
        self.call("Event::synchronize", |hip| unsafe { hip.synchronize_event(self.raw) })
    }

    /// The time from when `earlier` was reached to when this was, with a resolution of about half a microsecond.
    ///
    /// # Errors
    /// HIP's: if one of them is not [`timed`](Self::timed), was not recorded, or is not reached yet (`hipErrorNotReady`).
    #[doc(alias = "hipEventElapsedTime")]
    pub fn elapsed_since(&self, earlier: &Self) -> Result<Duration> {
        // SAFETY: requires two live events; holds because both references stand for such.
        let elapsed =
            self.call("Event::elapsed_since", |hip| unsafe { hip.elapsed(earlier.raw, self.raw) })?;
        // What is no duration, a negative number for one, is none.
        Ok(Duration::try_from_secs_f64(f64::from(elapsed) / 1e3).unwrap_or_default())
    }

    /// The device that the event is of.
    #[must_use]
    pub fn device(&self) -> Device {
        self.device
    }

    /// The handle of C, a `hipEvent_t`. It is valid while `self` lives.
    #[doc(alias = "hipEvent_t")]
    #[must_use]
    pub fn as_raw(&self) -> *mut c_void {
        self.raw.0
    }

    pub(crate) fn raw(&self) -> RawEvent {
        self.raw
    }

    fn call<T>(
        &self,
        operation: &'static str,
        call: impl FnOnce(&Functions) -> core::result::Result<T, Failure>,
    ) -> Result<T> {
        let hip = table::functions(operation)?;
        let _guard = self.device.enter(operation, hip)?;
        call(hip).map_err(Error::hip(operation))
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        const OPERATION: &str = "Event::drop";
        // In a forked child there is nothing to destroy, and nobody is left to tell of a failure.
        let Ok(hip) = table::functions(OPERATION) else { return };
        let Ok(_guard) = self.device.enter(OPERATION, hip) else { return };
        // SAFETY: requires a live event that is used no more; holds because `self` is being dropped.
        _ = unsafe { hip.destroy_event(self.raw) };
    }
}
