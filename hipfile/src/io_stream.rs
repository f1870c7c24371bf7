//! Streams that transfers can be put on.

use hip_alloc::Stream;

use crate::registered_stream::RegisteredStream;

/// What a transfer asks of its stream. Out of reach for other crates, which seals the trait below.
pub trait Carrier {
    #[doc(hidden)]
    fn hip_stream(&self) -> &Stream;

    /// The registration, which has to last until the stream has passed the transfer.
    #[doc(hidden)]
    fn registration(&self) -> Option<RegisteredStream>;
}

/// A stream that owned transfers can be put on: [`RegisteredStream`] or [`Stream`].
///
/// ```
/// use std::sync::Arc;
///
/// use hipfile::alloc::{DeviceBuffer, Stream};
/// use hipfile::{Driver, FileHandle, IoStream, Region, RegisteredStream, StreamFlags, TransferError};
///
/// /// The first bytes of the file.
/// fn head(file: &Arc<FileHandle>, stream: &impl IoStream, region: Region) -> Result<Region, TransferError> {
///     Ok(file.read_owned(stream, region, 0).wait()?.region)
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let driver = Driver::open()?;
/// let file = FileHandle::new(&driver, std::fs::File::open("/proc/self/exe")?)?;
/// let (file, region) = (Arc::new(file), driver.register(DeviceBuffer::new(4)?)?.into_region());
/// let region = head(&file, &Stream::new()?, region)?;
/// let registered = RegisteredStream::new(&driver, Stream::new()?, StreamFlags::FIXED_VALUES)?;
/// let region = head(&file, &registered, region)?;
/// # assert_eq!(region.slice(..)?.as_device().to_vec()?, b"\x7fELF");
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "transfers can't be put on `{Self}`",
    label = "neither a `RegisteredStream` nor a `Stream`",
    note = "a `StreamRef<'static>` can be made into a `Stream` with `from`; borrowed streams have scopes"
)]
pub trait IoStream: Carrier {}

impl Carrier for Stream {
    fn hip_stream(&self) -> &Stream {
        self
    }

    fn registration(&self) -> Option<RegisteredStream> {
        None
    }
}

impl Carrier for RegisteredStream {
    fn hip_stream(&self) -> &Stream {
        self.stream()
    }

    fn registration(&self) -> Option<RegisteredStream> {
        Some(self.clone())
    }
}

impl IoStream for Stream {}
impl IoStream for RegisteredStream {}
