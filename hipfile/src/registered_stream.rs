//! Streams that the library knows.
#![allow(unsafe_code, reason = "registers streams")]

use std::fmt;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hip_alloc::Stream;

use crate::driver::{Driver, DriverInner};
use crate::error::{Cause, Error, Failed, Result};
use crate::ffi::streams;
use crate::io::hip_cause;
use crate::op_error::OpError;
use crate::stream_flags::StreamFlags;
use crate::trace::{Trace, Work};

/// A stream that the library knows, for transfers: it keeps memory and promises for it.
///
/// Transfers work on any [`Stream`], but libhipfile 0.5 allocates 16 MiB of host memory for each of them where the stream
/// is not registered. Clones share one registration, which ends when the last of them is gone, and so are the operations
/// that hold one; the stream lives on.
///
/// ```
/// use hipfile::alloc::Stream;
/// use hipfile::{Driver, RegisteredStream, StreamFlags};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let driver = Driver::open()?;
/// let stream = RegisteredStream::new(&driver, Stream::new()?, StreamFlags::FIXED_VALUES)?;
/// assert_eq!(stream.flags(), StreamFlags::FIXED_VALUES);
/// stream.stream().synchronize()?;
/// let stream = stream.deregister()?; // or drop it
/// assert!(stream.is_idle()?);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use = "the stream is deregistered as soon as this is dropped"]
pub struct RegisteredStream(Arc<Registration>);

/// One registration, undone when dropped.
struct Registration {
    stream: Stream,
    flags: StreamFlags,
    driver: Arc<DriverInner>,
    /// False once the library does not know the stream any more.
    live: AtomicBool,
}

impl RegisteredStream {
    /// Registers the stream. hipFile 0.2; since 0.5 that allocates host memory as `HIPFILE_ASYNC_BUFFER_SIZE` says.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use hipfile::alloc::Stream;
    /// use hipfile::{Driver, ErrorKind, RegisteredStream, StreamFlags};
    ///
    /// let (driver, stream) = (Driver::open()?, Stream::new()?);
    /// let registered = RegisteredStream::new(&driver, stream.clone(), StreamFlags::empty())?;
    /// let twice = RegisteredStream::new(&driver, stream, StreamFlags::empty()).unwrap_err();
    /// assert_eq!(twice.kind(), ErrorKind::AlreadyRegistered);
    /// # drop(registered);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`ErrorKind::AlreadyRegistered`](crate::ErrorKind::AlreadyRegistered) if the stream is registered already, by
    /// whomever. The default streams of all devices are one stream to the library.
    /// [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput) for flags that the library does not know; otherwise
    /// what HIP answers.
    #[doc(alias = "hipFileStreamRegister")]
    pub fn new(driver: &Driver, stream: Stream, flags: StreamFlags) -> Result<Self> {
        let driver = driver.inner();
        let trace = Trace::of(Work::RegisterStream { device: stream.device().ordinal() });
        let register = || match register(driver, &stream, flags) {
            Ok(()) => {
                let (driver, live) = (Arc::clone(driver), AtomicBool::new(true));
                Ok(Self(Arc::new(Registration { stream, flags, driver, live })))
            }
            Err(cause) => Err(Error::new("register stream", cause)),
        };
        trace.around(register, |error| error)
    }

    /// What the stream promises.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use hipfile::alloc::Stream;
    /// use hipfile::{Driver, RegisteredStream, StreamFlags};
    ///
    /// let stream = RegisteredStream::new(&Driver::open()?, Stream::new()?, StreamFlags::FIXED_SIZE)?;
    /// assert!(!stream.flags().contains(StreamFlags::FIXED_FILE_OFFSET));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn flags(&self) -> StreamFlags {
        self.0.flags
    }

    /// The stream itself, for other work.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use hipfile::alloc::Stream;
    /// use hipfile::{Driver, RegisteredStream, StreamFlags};
    ///
    /// let stream = RegisteredStream::new(&Driver::open()?, Stream::new()?, StreamFlags::empty())?;
    /// stream.stream().synchronize()?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn stream(&self) -> &Stream {
        &self.0.stream
    }

    /// Ends the registration and gives the stream back. Dropping the last clone does the same without telling how it went.
    /// hipFile 0.2.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use hipfile::alloc::Stream;
    /// use hipfile::{Driver, ErrorKind, RegisteredStream, StreamFlags};
    ///
    /// let stream = RegisteredStream::new(&Driver::open()?, Stream::new()?, StreamFlags::empty())?;
    /// let clone = stream.clone();
    /// let (error, stream) = stream.deregister().unwrap_err().into_parts();
    /// assert_eq!(error.kind(), ErrorKind::Busy);
    /// drop(clone);
    /// let stream: Stream = stream.deregister()?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The registered stream comes back. [`ErrorKind::Busy`](crate::ErrorKind::Busy) while a clone or an operation uses
    /// it too; otherwise what the library answers.
    #[doc(alias = "hipFileStreamDeregister")]
    pub fn deregister(self) -> std::result::Result<Stream, Failed<Self>> {
        const DEREGISTER: &str = "deregister stream";
        match Arc::try_unwrap(self.0) {
            Ok(registration) => match registration.release() {
                Ok(()) => Ok(registration.stream.clone()),
                Err(cause) => Err(Failed::new(Error::new(DEREGISTER, cause), Self(Arc::new(registration)))),
            },
            Err(shared) => Err(Failed::new(Error::new(DEREGISTER, Cause::StreamShared), Self(shared))),
        }
    }
}

fn register(driver: &DriverInner, stream: &Stream, flags: StreamFlags) -> std::result::Result<(), Cause> {
    let api = driver.live()?;
    // Null names the default stream of the current device.
    let _device = stream.device().make_current().map_err(hip_cause)?;
    let raw = stream.as_raw();
    // SAFETY: requires a live stream, of the current device if it is null, that is not destroyed while it is registered;
    // holds because the caller keeps a clone beside the registration, which goes first or takes a clone with it.
    match unsafe { streams::register(api, raw, flags.bits()) } {
        Err(Cause::Op(code @ OpError::InvalidValue)) => {
            Err(match flags.difference(StreamFlags::all()).bits() {
                // The only thing that can be wrong with a stream and flags that there are.
                0 => Cause::StreamRegistered,
                unknown => Cause::RefusedValue { value: format!("stream flags {unknown:#x}"), code },
            })
        }
        answer => answer,
    }
}

impl Registration {
    /// Removes the registration. After `Ok` there is none.
    fn release(&self) -> std::result::Result<(), Cause> {
        let api = self.driver.live()?;
        if self.live.load(Ordering::Relaxed) {
            streams::deregister(api, self.stream.as_raw())?;
            self.live.store(false, Ordering::Relaxed);
        }
        Ok(())
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        // HIP gives the address of a destroyed stream to a new one, which would inherit a registration that is left.
        if self.release().is_err() {
            mem::forget(self.stream.clone());
        }
    }
}

impl fmt::Debug for RegisteredStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RegisteredStream")
            .field("stream", self.stream())
            .field("flags", &self.flags())
            .finish_non_exhaustive()
    }
}
