//! Streams: queues of work on a device.
#![allow(unsafe_code, reason = "creates and destroys streams, and vouches for foreign ones")]

use core::ffi::{c_int, c_void};
use core::marker::PhantomData;
use core::ops::RangeInclusive;
use std::sync::Arc;

use crate::calls::Failure;
use crate::device::{self, Device};
use crate::error::{Error, Result};
use crate::event::Event;
use crate::ffi::Functions;
use crate::stream_calls::{NON_BLOCKING, RawStream};
use crate::table;

/// A queue of work on one device, done in order.
///
/// Clones share one stream; it is destroyed when the last clone is gone, and so are operations that hold one. Work that was
/// put into it is still carried out then. Clones may be used on any number of threads.
///
/// ```
/// # fn main() -> hip_alloc::Result<()> {
/// use hip_alloc::Stream;
///
/// let stream = Stream::new()?;
/// assert!(stream.is_idle()?);
/// stream.synchronize()?;
/// println!("device {}, priority {}", stream.device().ordinal(), stream.priority()?);
/// assert!(!stream.is_non_blocking()?); // ordered with the default stream
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Stream(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    raw: RawStream,
    device: Device,
    /// Whether it is destroyed in the end.
    owned: bool,
}

/// A stream that something else keeps: one of this crate's, one of a framework's, or a device's default stream.
///
/// ```
/// # fn main() -> hip_alloc::Result<()> {
/// use hip_alloc::{Device, Stream, StreamRef};
///
/// let stream = Stream::new()?;
/// let borrowed: StreamRef<'_> = stream.as_ref();
/// borrowed.synchronize()?;
/// assert_eq!((borrowed.device(), borrowed.priority()?), (stream.device(), stream.priority()?));
///
/// let default = StreamRef::default_of(Device::current()?);
/// assert!(default.as_raw().is_null());
/// let event = hip_alloc::Event::new()?;
/// event.record(default)?;
/// borrowed.wait_event(&event)?; // what comes into `borrowed` now waits for what is in `default`
/// default.synchronize()?;
/// assert!(default.is_idle()? && !default.is_non_blocking()?);
/// # Ok(())
/// # }
/// ```
///
/// It does not outlive what it was borrowed from:
///
/// ```compile_fail,E0505
/// # fn main() -> hip_alloc::Result<()> {
/// let stream = hip_alloc::Stream::new()?;
/// let borrowed = stream.as_ref();
/// drop(stream);
/// borrowed.synchronize()
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct StreamRef<'a> {
    raw: RawStream,
    device: Device,
    stream: PhantomData<&'a Stream>,
}

/// How a stream is created.
///
/// ```
/// # fn main() -> hip_alloc::Result<()> {
/// use hip_alloc::{Device, StreamOptions};
///
/// let priorities = Device::current()?.stream_priorities()?;
/// let stream = StreamOptions::new().non_blocking(true).priority(*priorities.start()).create()?;
/// assert!(stream.is_non_blocking()?);
/// assert_eq!(stream.priority()?, *priorities.start());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[must_use = "options do nothing until `create` is called"]
pub struct StreamOptions {
    non_blocking: bool,
    priority: i32,
}

impl StreamOptions {
    /// A stream that is ordered with the default stream, of normal priority.
    pub const fn new() -> Self {
        Self { non_blocking: false, priority: 0 }
    }

    /// Whether work in the stream may overlap with work in the device's default stream. If not, each waits for the other.
    #[doc(alias = "hipStreamNonBlocking")]
    pub const fn non_blocking(mut self, non_blocking: bool) -> Self {
        self.non_blocking = non_blocking;
        self
    }

    /// The priority; smaller numbers go first. HIP takes the nearest one that the device has, see
    /// [`Device::stream_priorities`].
    pub const fn priority(mut self, priority: i32) -> Self {
        self.priority = priority;
        self
    }

    /// Creates the stream on the calling thread's current device.
    ///
    /// # Errors
    /// HIP's; [`ErrorKind::NoDevice`](crate::ErrorKind::NoDevice) without a device.
    #[doc(alias = "hipStreamCreateWithPriority")]
    pub fn create(self) -> Result<Stream> {
        const OPERATION: &str = "StreamOptions::create";
        let hip = table::functions(OPERATION)?;
        let device = device::current(OPERATION, hip)?;
        let flags = if self.non_blocking { NON_BLOCKING } else { 0 };
        let raw = hip.create_stream(flags, self.priority).map_err(Error::hip(OPERATION))?;
        Ok(Stream(Arc::new(Inner { raw, device, owned: true })))
    }
}

impl Stream {
    /// A stream of the calling thread's current device that is ordered with the device's default stream.
    ///
    /// # Errors
    /// As [`StreamOptions::create`].
    #[doc(alias = "hipStreamCreate")]
    pub fn new() -> Result<Self> {
        StreamOptions::new().create()
    }

    /// The stream, borrowed.
    #[must_use]
    #[allow(clippy::should_implement_trait, reason = "AsRef gives references, and this is no reference")]
    pub fn as_ref(&self) -> StreamRef<'_> {
        StreamRef { raw: self.0.raw, device: self.0.device, stream: PhantomData }
    }

    /// The device that does the work.
    #[must_use]
    pub fn device(&self) -> Device {
        self.0.device
    }

    /// The handle of C, a `hipStream_t`. It is valid while a clone lives.
    #[doc(alias = "hipStream_t")]
    #[must_use]
    pub fn as_raw(&self) -> *mut c_void {
        self.0.raw.0
    }

    /// As [`StreamRef::synchronize`].
    ///
    /// # Errors
    /// As there.
    pub fn synchronize(&self) -> Result<()> {
        self.as_ref().synchronize()
    }

    /// As [`StreamRef::is_idle`].
    ///
    /// # Errors
    /// As there.
    pub fn is_idle(&self) -> Result<bool> {
        self.as_ref().is_idle()
    }

    /// As [`StreamRef::wait_event`].
    ///
    /// # Errors
    /// As there.
    pub fn wait_event(&self, event: &Event) -> Result<()> {
        self.as_ref().wait_event(event)
    }

    /// As [`StreamRef::is_non_blocking`].
    ///
    /// # Errors
    /// As there.
    pub fn is_non_blocking(&self) -> Result<bool> {
        self.as_ref().is_non_blocking()
    }

    /// As [`StreamRef::priority`].
    ///
    /// # Errors
    /// As there.
    pub fn priority(&self) -> Result<i32> {
        self.as_ref().priority()
    }
}

impl<'a> From<&'a Stream> for StreamRef<'a> {
    /// As [`Stream::as_ref`].
    fn from(stream: &'a Stream) -> Self {
        stream.as_ref()
    }
}

impl From<StreamRef<'static>> for Stream {
    /// A stream that is never destroyed from here, to be stored in operations.
    fn from(stream: StreamRef<'static>) -> Self {
        Self(Arc::new(Inner { raw: stream.raw, device: stream.device, owned: false }))
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        const OPERATION: &str = "Stream::drop";
        if !self.owned {
            return;
        }
        // In a forked child there is nothing to destroy, and nobody is left to tell of a failure.
        let Ok(hip) = table::functions(OPERATION) else { return };
        let Ok(_guard) = self.device.enter(OPERATION, hip) else { return };
        // SAFETY: requires a live stream of ours that nobody uses any more; holds because this is the last clone, and
        // whatever borrowed one is gone.
        _ = unsafe { hip.destroy_stream(self.raw) };
    }
}

impl StreamRef<'static> {
    /// The default stream of a device, also called the null stream, which is always there.
    #[must_use]
    pub fn default_of(device: Device) -> Self {
        Self { raw: RawStream(core::ptr::null_mut()), device, stream: PhantomData }
    }
}

impl<'a> StreamRef<'a> {
    /// A stream that other code made: `stream` is a `hipStream_t` of `device`.
    ///
    /// With the lifetime `'static` it may be turned into a [`Stream`] and stored in operations.
    ///
    /// ```
    /// # fn main() -> hip_alloc::Result<()> {
    /// use hip_alloc::{Stream, StreamRef};
    ///
    /// let other = Stream::new()?; // stands for a framework's
    /// // SAFETY: the stream is of that device, is not captured, and outlives the reference.
    /// let borrowed = unsafe { StreamRef::from_raw(other.as_raw(), other.device()) };
    /// borrowed.synchronize()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Safety
    /// `stream` is a live stream of `device`, or null. It is not destroyed during `'a`, nor before everything that was put
    /// into it during `'a` has been done. It is not being captured into a graph during `'a`.
    #[must_use]
    pub unsafe fn from_raw(stream: *mut c_void, device: Device) -> Self {
        Self { raw: RawStream(stream), device, stream: PhantomData }
    }

    /// The device that does the work.
    #[must_use]
    pub fn device(self) -> Device {
        self.device
    }

    /// The handle of C, a `hipStream_t`; null for the default stream.
    #[must_use]
    pub fn as_raw(self) -> *mut c_void {
        self.raw.0
    }

    /// Waits until everything that was put into the stream so far has been done.
    ///
    /// # Errors
    /// HIP's, also those of work in the stream. Then nothing is known of what the stream has done.
    #[doc(alias = "hipStreamSynchronize")]
    pub fn synchronize(self) -> Result<()> {
        self.synchronize_as("StreamRef::synchronize")
    }

    /// Whether everything that was put into the stream so far has been done. Does not wait.
    ///
    /// # Errors
    /// HIP's, also those of work in the stream.
    #[doc(alias = "hipStreamQuery")]
    pub fn is_idle(self) -> Result<bool> {
        self.is_idle_for("StreamRef::is_idle")
    }

    /// As [`is_idle`](Self::is_idle), asked for `operation`.
    pub(crate) fn is_idle_for(self, operation: &'static str) -> Result<bool> {
        // SAFETY: requires a live stream; holds because the reference stands for one.
        self.call(operation, |hip, raw| unsafe { hip.stream_is_done(raw) })
    }

    /// Lets what is put into this stream from now on wait until the event's last recording has been reached. Does not wait
    /// itself; the event may be of another stream and device.
    ///
    /// # Errors
    /// HIP's.
    #[doc(alias = "hipStreamWaitEvent")]
    pub fn wait_event(self, event: &Event) -> Result<()> {
        // SAFETY: requires a live stream and a live event; holds because both references stand for such.
        self.call("StreamRef::wait_event", |hip, raw| unsafe { hip.stream_wait_event(raw, event.raw()) })
    }

    /// Whether the stream was made as non-blocking, so that it is not ordered with the default stream.
    ///
    /// # Errors
    /// HIP's.
    #[doc(alias = "hipStreamGetFlags")]
    pub fn is_non_blocking(self) -> Result<bool> {
        // SAFETY: requires a live stream; holds because the reference stands for one.
        let flags = self.call("StreamRef::is_non_blocking", |hip, raw| unsafe { hip.stream_flags(raw) })?;
        Ok(flags & NON_BLOCKING != 0)
    }

    /// The stream's priority; smaller numbers go first.
    ///
    /// # Errors
    /// HIP's.
    #[doc(alias = "hipStreamGetPriority")]
    pub fn priority(self) -> Result<i32> {
        // SAFETY: requires a live stream; holds because the reference stands for one.
        self.call("StreamRef::priority", |hip, raw| unsafe { hip.stream_priority(raw) })
    }

    pub(crate) fn synchronize_as(self, operation: &'static str) -> Result<()> {
        // SAFETY: requires a live stream; holds because the reference stands for one.
        self.call(operation, |hip, raw| unsafe { hip.synchronize_stream(raw) })
    }

    pub(crate) fn raw(self) -> RawStream {
        self.raw
    }

    /// Calls HIP with the stream's device current: null names the default stream of that.
    pub(crate) fn call<T>(
        self,
        operation: &'static str,
        call: impl FnOnce(&'static Functions, RawStream) -> core::result::Result<T, Failure>,
    ) -> Result<T> {
        let hip = table::functions(operation)?;
        let _guard = self.device.enter(operation, hip)?;
        call(hip, self.raw).map_err(Error::hip(operation))
    }
}

impl Device {
    /// The priorities that streams of this device can have. The first is the highest: smaller numbers go first.
    ///
    /// # Errors
    /// HIP's, if the device cannot be used.
    #[doc(alias = "hipDeviceGetStreamPriorityRange")]
    pub fn stream_priorities(self) -> Result<RangeInclusive<i32>> {
        const OPERATION: &str = "Device::stream_priorities";
        let hip = table::functions(OPERATION)?;
        let _guard = self.enter(OPERATION, hip)?;
        let (least, greatest): (c_int, c_int) = hip.stream_priority_range().map_err(Error::hip(OPERATION))?;
        Ok(greatest..=least)
    }
}
