//! Blocking transfers that wait for GPU work first.

use hip_alloc::{Event, Stream, StreamRef};

use crate::error::Result;
use crate::file::FileHandle;
use crate::io::{Way, hip_cause};
use crate::memory::{ReadInto, WriteFrom};
use crate::registered_stream::RegisteredStream;
use crate::span::Span;
use crate::trace::{self, Mode};

/// GPU work that can be waited for. Out of reach for other crates, which seals the trait below.
pub trait Wait {
    #[doc(hidden)]
    fn wait(self) -> hip_alloc::Result<()>;
}

/// What a transfer can wait for: `&Stream`, [`StreamRef`], `&RegisteredStream`, or `&Event`.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use hipfile::alloc::{DeviceBuffer, Event, Stream};
/// use hipfile::{After, Driver, FileHandle};
///
/// fn first_bytes(file: &FileHandle, memory: &mut DeviceBuffer, after: impl After) -> hipfile::Result<usize> {
///     file.read_at_after(after, memory.slice_mut(..)?, 0)
/// }
///
/// let driver = Driver::open()?;
/// let file = FileHandle::new(&driver, std::fs::File::open("/proc/self/exe")?)?;
/// let mut memory = DeviceBuffer::new(4)?;
/// let (stream, event) = (Stream::new()?, Event::new()?);
/// event.record(&stream)?;
/// first_bytes(&file, &mut memory, &event)?;
/// first_bytes(&file, &mut memory, &stream)?;
/// # assert_eq!(memory.to_vec()?, b"\x7fELF");
/// # Ok(())
/// # }
/// ```
#[diagnostic::on_unimplemented(
    message = "a transfer can't wait for `{Self}`",
    label = "neither a stream nor an event",
    note = "give `&Stream`, `StreamRef`, `&RegisteredStream` or `&Event`"
)]
pub trait After: Wait {}

impl Wait for StreamRef<'_> {
    fn wait(self) -> hip_alloc::Result<()> {
        self.synchronize()
    }
}

impl Wait for &Stream {
    fn wait(self) -> hip_alloc::Result<()> {
        self.synchronize()
    }
}

impl Wait for &RegisteredStream {
    fn wait(self) -> hip_alloc::Result<()> {
        self.stream().synchronize()
    }
}

impl Wait for &Event {
    fn wait(self) -> hip_alloc::Result<()> {
        self.synchronize()
    }
}

impl After for StreamRef<'_> {}
impl After for &Stream {}
impl After for &RegisteredStream {}
impl After for &Event {}

/// # Transfers after GPU work
///
/// [`read_at`](Self::read_at) and [`write_at`](Self::write_at) that first wait, blocking, for a stream or an event. Other
/// streams are not waited for.
impl FileHandle {
    /// Waits for everything that the stream has been given so far, or for the event, and reads as
    /// [`read_at`](Self::read_at) does. hipFile 0.2.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use hipfile::alloc::{DeviceBuffer, Stream};
    /// use hipfile::{Driver, FileHandle};
    ///
    /// let driver = Driver::open()?;
    /// let file = FileHandle::new(&driver, std::fs::File::open("/proc/self/exe")?)?;
    /// let mut memory = DeviceBuffer::new(4)?;
    /// let stream = Stream::new()?; // that still works on what is in the memory
    /// assert_eq!(file.read_at_after(&stream, memory.slice_mut(..)?, 0)?, 4);
    /// # assert_eq!(memory.to_vec()?, b"\x7fELF");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// HIP's, also those of work in the stream: nothing is read then. Otherwise as for [`read_at`](Self::read_at).
    #[doc(alias = "hipFileRead")]
    pub fn read_at_after(&self, after: impl After, memory: impl ReadInto, offset: u64) -> Result<usize> {
        self.after(Way::Read, after, memory.span(), offset)
    }

    /// Waits for everything that the stream has been given so far, or for the event, and writes as
    /// [`write_at`](Self::write_at) does. hipFile 0.2.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use hipfile::alloc::{DeviceBuffer, Event, Stream};
    /// use hipfile::{Driver, OpenOptions};
    ///
    /// # let path = std::env::temp_dir().join(format!("hipfile-doc-write-after-{}", std::process::id()));
    /// let file = OpenOptions::new().write(true).create(true).open(&Driver::open()?, &path)?;
    /// let memory = DeviceBuffer::zeroed(4096)?;
    /// let (stream, computed) = (Stream::new()?, Event::new()?);
    /// // A kernel that fills the memory is launched here.
    /// computed.record(&stream)?;
    /// assert_eq!(file.write_at_after(&computed, memory.slice(..)?, 0)?, 4096);
    /// # std::fs::remove_file(&path)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// HIP's, also those of work in the stream: nothing is written then. Otherwise as for [`write_at`](Self::write_at).
    #[doc(alias = "hipFileWrite")]
    pub fn write_at_after(&self, after: impl After, memory: impl WriteFrom, offset: u64) -> Result<usize> {
        self.after(Way::Write, after, memory.span(), offset)
    }

    fn after(&self, way: Way, after: impl After, span: Span, offset: u64) -> Result<usize> {
        trace::moving(self.work(way, Mode::After, offset, span.len), || {
            after.wait().map_err(|error| self.failed(way, hip_cause(error), span, offset, 0))?;
            self.called(way, span, offset)
        })
    }
}
