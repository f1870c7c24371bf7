//! Transfers that own what they use.

use std::fmt;
use std::sync::Arc;

use hip_alloc::Place;

use crate::file::FileHandle;
use crate::io::Way;
use crate::io_stream::IoStream;
use crate::late::{Closure, LateValues};
use crate::outcome::OwnedTransfer;
use crate::owned;
use crate::region::Region;

/// A read or write that owns its file and its region, to be put on a stream or, with others, into a
/// [`Batch`](crate::Batch).
///
/// What it owns comes back when the transfer has ended, whichever way it did. Nothing borrowed can be in it, so neither
/// dropping nor forgetting what [`submit`](Self::submit) returns frees memory that a device still works on.
///
/// ```
/// use std::sync::Arc;
///
/// use hipfile::alloc::{DeviceBuffer, Stream};
/// use hipfile::{Driver, FileHandle, RegisteredStream, Request, StreamFlags};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let driver = Driver::open()?;
/// let file = FileHandle::new(&driver, std::fs::File::open("/proc/self/exe")?)?;
/// let file = Arc::new(file);
/// let stream = RegisteredStream::new(&driver, Stream::new()?, StreamFlags::FIXED_VALUES)?;
/// let pool = driver.register(DeviceBuffer::new(64 << 10)?)?;
/// let mut under_way = Vec::new();
/// for (region, offset) in pool.into_regions(4096)?.zip((0..).step_by(4096)) {
///     under_way.push(Request::read(&file, region, offset).submit(&stream));
/// }
/// for transfer in under_way {
///     assert_eq!(transfer.wait()?.bytes, 4096);
/// }
/// # Ok(())
/// # }
/// ```
///
/// Memory that is borrowed can't be in a request,
///
/// ```compile_fail,E0597
/// # use std::sync::Arc;
/// # use hipfile::{Driver, FileHandle, Request, alloc::DeviceBuffer};
/// # fn f(driver: &Driver, file: &Arc<FileHandle>) -> Result<(), Box<dyn std::error::Error>> {
/// let mut memory = DeviceBuffer::new(8)?;
/// let request = Request::read(file, driver.register(&mut memory)?.into_region(), 0);
/// # Ok(())
/// # }
/// ```
///
/// and a region that is under way can't be used.
///
/// ```compile_fail,E0382
/// # use std::sync::Arc;
/// # use hipfile::{FileHandle, Region, Request, alloc::Stream};
/// # fn f(file: &Arc<FileHandle>, stream: &Stream, region: Region) -> Result<(), Box<dyn std::error::Error>> {
/// let transfer = Request::read(file, region, 0).submit(stream);
/// region.slice(..)?;
/// # Ok(())
/// # }
/// ```
#[must_use = "a request does nothing until it is submitted"]
pub struct Request {
    pub(crate) way: Way,
    pub(crate) file: Arc<FileHandle>,
    pub(crate) region: Region,
    pub(crate) offset: u64,
    pub(crate) late: Option<Closure>,
    pub(crate) place: Option<Place>,
    pub(crate) tag: u64,
}

impl Request {
    /// Reads into all of `region` from `offset` of the file.
    pub fn read(file: &Arc<FileHandle>, region: Region, offset: u64) -> Self {
        Self::new(Way::Read, file, region, offset)
    }

    /// Writes all of `region` at `offset` of the file.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use hipfile::alloc::{DeviceBuffer, Stream};
    /// use hipfile::{Driver, OpenOptions, Request};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let path = std::env::temp_dir().join(format!("hipfile-doc-request-write-{}", std::process::id()));
    /// let driver = Driver::open()?;
    /// let file = Arc::new(OpenOptions::new().write(true).create(true).open(&driver, &path)?);
    /// let region = driver.register(DeviceBuffer::from_host(b"results")?)?.into_region();
    /// assert_eq!(Request::write(&file, region, 0).submit(&Stream::new()?).wait()?.bytes, 7);
    /// # assert_eq!(std::fs::read(&path)?, b"results");
    /// # std::fs::remove_file(&path)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn write(file: &Arc<FileHandle>, region: Region, offset: u64) -> Self {
        Self::new(Way::Write, file, region, offset)
    }

    fn new(way: Way, file: &Arc<FileHandle>, region: Region, offset: u64) -> Self {
        Self { way, file: Arc::clone(file), region, offset, late: None, place: None, tag: 0 }
    }

    /// Lets `f` choose the values when the stream comes to the transfer: for lengths and offsets that work before it on the
    /// stream computes.
    ///
    /// `f` is given the submitted values, with the length as it is after the cut at 0x7ffff000, and answers with the ones to
    /// use: at most as many bytes, at any offsets of the file and of the region where they fit. It is called once, on a
    /// thread of HIP that has other work waiting, so it should be quick, and it must call nothing of HIP or of this crate.
    /// What it owns is dropped there as well: not the last share of a file, stream or region, which would be a call. It is
    /// not called, only dropped, if the transfer is refused before or its region has no bytes.
    ///
    /// Late values need a [`RegisteredStream`](crate::RegisteredStream): of others nobody knows what the library reads late.
    ///
    /// Values that are not right move nothing, and the transfer ends in
    /// [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput). So it does if `f` panics, and if it changes what the
    /// stream is registered to fix ([`StreamFlags`](crate::StreamFlags)). Whether the fast path is taken is decided by
    /// the submitted values: late ones that are not as it needs them then end in
    /// [`ErrorKind::Internal`](crate::ErrorKind::Internal).
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// use hipfile::alloc::{DeviceBuffer, Stream};
    /// use hipfile::{Driver, FileHandle, LateValues, RegisteredStream, Request, StreamFlags};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let driver = Driver::open()?;
    /// # let file = FileHandle::new(&driver, std::fs::File::open("/proc/self/exe")?)?;
    /// # let file = Arc::new(file);
    /// # let region = driver.register(DeviceBuffer::new(8192)?)?.into_region();
    /// let stream = RegisteredStream::new(&driver, Stream::new()?, StreamFlags::FIXED_FILE_OFFSET)?;
    /// let needed = Arc::new(AtomicUsize::new(0));
    /// let known_late = Arc::clone(&needed);
    /// // Work on the stream that finds out how much is needed is launched here, ahead of the read.
    /// # needed.store(4096, Ordering::Release);
    /// let read = Request::read(&file, region, 0)
    ///     .late(move |submitted| LateValues { len: known_late.load(Ordering::Acquire), ..submitted })
    ///     .submit(&stream);
    /// assert_eq!(read.wait()?.bytes, 4096);
    /// # Ok(())
    /// # }
    /// ```
    #[doc(alias = "hipLaunchHostFunc")]
    pub fn late(mut self, f: impl FnOnce(LateValues) -> LateValues + Send + 'static) -> Self {
        self.late = Some(Box::new(f));
        self
    }

    /// Holds a place among a bounded number of operations until the stream has passed the transfer.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use hipfile::alloc::{DeviceBuffer, InFlight, Stream};
    /// use hipfile::{Driver, FileHandle, Request};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let driver = Driver::open()?;
    /// # let file = FileHandle::new(&driver, std::fs::File::open("/proc/self/exe")?)?;
    /// # let (file, stream) = (Arc::new(file), Stream::new()?);
    /// let at_most = InFlight::new(4);
    /// let pool = driver.register(DeviceBuffer::new(64 << 10)?)?;
    /// let mut under_way = Vec::new();
    /// for region in pool.into_regions(4096)? {
    ///     let place = at_most.acquire(); // waits while four are under way
    ///     under_way.push(Request::read(&file, region, 0).place(place).submit(&stream));
    /// }
    /// # for transfer in under_way { transfer.wait()?; }
    /// # Ok(())
    /// # }
    /// ```
    pub fn place(mut self, place: Place) -> Self {
        self.place = Some(place);
        self
    }

    /// A number of the caller's own, by which a batch tells which of its requests has ended. Streams have no use for it.
    pub fn tag(mut self, tag: u64) -> Self {
        self.tag = tag;
        self
    }

    /// The region, and no transfer.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use hipfile::alloc::DeviceBuffer;
    /// # use hipfile::{Driver, FileHandle, Request};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let driver = Driver::open()?;
    /// # let file = FileHandle::new(&driver, std::fs::File::open("/proc/self/exe")?)?;
    /// # let file = Arc::new(file);
    /// let region = driver.register(DeviceBuffer::new(4096)?)?.into_region();
    /// let request = Request::read(&file, region, 0).tag(7);
    /// let region = request.into_region(); // thought better of it
    /// # Ok(())
    /// # }
    /// ```
    pub fn into_region(self) -> Region {
        self.region
    }

    /// Puts the transfer on the stream and returns: it is done in order there, after what the stream was given before and
    /// before what it is given after. hipFile 0.2; before 0.5 always through host memory.
    ///
    /// Not more than 0x7ffff000 bytes move at once. A region without bytes ends at once, without the library. Nothing is
    /// flushed to the storage device; see [`FileHandle::write_at`].
    ///
    /// # Errors
    ///
    /// None here; the [`OwnedTransfer`] has them, and the region with it.
    /// [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput) if the file is not open for it, if offset plus length
    /// passes `i64::MAX`, if region and stream are on different devices, or for late values that are not right;
    /// [`ErrorKind::Os`](crate::ErrorKind::Os) without a number if a system call failed, since the library loses which way
    /// on streams; otherwise what HIP or the library answers.
    #[doc(alias = "hipFileReadAsync")]
    #[doc(alias = "hipFileWriteAsync")]
    pub fn submit(self, stream: &impl IoStream) -> OwnedTransfer {
        owned::submit(self, stream.hip_stream(), stream.registration())
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("way", &self.way)
            .field("file", &self.file)
            .field("region", &self.region)
            .field("offset", &self.offset)
            .field("tag", &self.tag)
            .finish_non_exhaustive()
    }
}

/// # Transfers that own what they use
///
/// They are put on a stream and return; file and region are kept until the stream has passed them, whatever happens to what
/// these functions return. Register the stream for more than a few ([`RegisteredStream`](crate::RegisteredStream)).
/// [`Request`] has late values and places besides.
impl FileHandle {
    /// Reads into all of `region` from `offset`, in order on the stream: [`Request::read`], submitted. hipFile 0.2.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use hipfile::alloc::{DeviceBuffer, Stream};
    /// use hipfile::{Driver, FileHandle};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let driver = Driver::open()?;
    /// let file = FileHandle::new(&driver, std::fs::File::open("/proc/self/exe")?)?;
    /// let (file, stream) = (Arc::new(file), Stream::new()?);
    /// let region = driver.register(DeviceBuffer::new(4)?)?.into_region();
    /// let done = file.read_owned(&stream, region, 0).wait()?;
    /// assert_eq!(done.bytes, 4);
    /// # assert_eq!(done.region.slice(..)?.as_device().to_vec()?, b"\x7fELF");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`Request::submit`].
    #[doc(alias = "hipFileReadAsync")]
    pub fn read_owned(
        self: &Arc<Self>,
        stream: &impl IoStream,
        region: Region,
        offset: u64,
    ) -> OwnedTransfer {
        Request::read(self, region, offset).submit(stream)
    }

    /// Writes all of `region` at `offset`, in order on the stream: [`Request::write`], submitted. hipFile 0.2.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use hipfile::alloc::{DeviceBuffer, Stream};
    /// use hipfile::{Driver, OpenOptions};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let path = std::env::temp_dir().join(format!("hipfile-doc-write-owned-{}", std::process::id()));
    /// let driver = Driver::open()?;
    /// let file = Arc::new(OpenOptions::new().write(true).create(true).open(&driver, &path)?);
    /// let region = driver.register(DeviceBuffer::from_host(b"results")?)?.into_region();
    /// assert_eq!(file.write_owned(&Stream::new()?, region, 0).wait()?.bytes, 7);
    /// # assert_eq!(std::fs::read(&path)?, b"results");
    /// # std::fs::remove_file(&path)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`Request::submit`].
    #[doc(alias = "hipFileWriteAsync")]
    pub fn write_owned(
        self: &Arc<Self>,
        stream: &impl IoStream,
        region: Region,
        offset: u64,
    ) -> OwnedTransfer {
        Request::write(self, region, offset).submit(stream)
    }
}
