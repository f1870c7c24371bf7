//! What a caller says about a transfer.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicU64;
use std::time::Instant;

use super::cancel::CancelToken;
use super::piece::Piece;
use super::pool::{self, Watcher};
use super::report::{Progress, Report};
use super::settings::Settings;
use super::stopped::Stopped;
use crate::file::FileHandle;
use crate::io::Way;
use crate::memory::{ReadInto, WriteFrom};
use crate::trace::{Trace, Work};

/// How a large transfer is to go, and the start of it.
///
/// The path is no option here: files are opened with a [`Policy`](crate::Policy), which holds for all that is done with them.
/// Under [`DirectOnly`](crate::Policy::DirectOnly) odd ends of a part fail, as they do in single calls.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use std::time::{Duration, Instant};
///
/// use hipfile::alloc::DeviceBuffer;
/// use hipfile::transfer::Options;
/// use hipfile::{Driver, OpenOptions};
///
/// # let path = std::env::temp_dir().join(format!("hipfile-doc-options-{}", std::process::id()));
/// # std::fs::write(&path, vec![7; 5_000_000])?;
/// let driver = Driver::open()?;
/// let file = OpenOptions::new().read(true).open(&driver, &path)?;
/// let mut memory = driver.register(DeviceBuffer::new(4_000_000)?)?;
/// let report = Options::new()
///     .threads(8)
///     .chunk(8 << 20)
///     .deadline(Instant::now() + Duration::from_secs(60))
///     .progress(|progress| println!("{} of {} bytes", progress.bytes, progress.total))
///     .read_file_into(&file, memory.slice_mut(..)?, 123)?;
/// assert_eq!(report.bytes, 4_000_000);
/// # std::fs::remove_file(&path)?;
/// # Ok(())
/// # }
/// ```
#[must_use = "options do nothing until a transfer is started with them"]
#[derive(Default)]
pub struct Options<'a> {
    pub(super) settings: Settings,
    pub(super) watcher: Option<Box<Watcher<'a>>>,
}

impl<'a> Options<'a> {
    /// Four threads, chunks of 64 MiB, no deadline. What fits into one chunk is moved by the calling thread.
    pub fn new() -> Self {
        Self::default()
    }

    /// At most how many threads work on a transfer, the caller's among them; at least 1. With 1 no thread is started.
    pub fn threads(mut self, threads: usize) -> Self {
        self.settings.set_threads(threads);
        self
    }

    /// How many bytes a thread moves in one call; rounded up to a multiple of 64 KiB. Shorter chunks tell progress and stop
    /// sooner; each costs AMD's fallback the same again.
    pub fn chunk(mut self, bytes: usize) -> Self {
        self.settings.set_chunk(bytes);
        self
    }

    /// When to stop with kind [`TimedOut`](crate::ErrorKind::TimedOut): no chunk begins after this time, those that have
    /// begun are finished.
    pub fn deadline(mut self, deadline: Instant) -> Self {
        self.settings.deadline = Some(deadline);
        self
    }

    /// Whose [`cancel`](CancelToken::cancel) stops the transfer, with kind [`Cancelled`](crate::ErrorKind::Cancelled).
    pub fn cancel(mut self, token: &CancelToken) -> Self {
        self.settings.cancel = Some(token.clone());
        self
    }

    /// Whom to tell how far the transfer has come.
    ///
    /// It is called by the calling thread, between chunks of its own, each time with more bytes than before, and a last time
    /// when all threads have ended if more has moved since. While it runs the other threads go on. If it panics, the panic
    /// goes on when the other threads have finished their chunks; a [`Job`](super::Job) is cancelled by it instead.
    pub fn progress(mut self, mut watcher: impl FnMut(Progress) + Send + 'a) -> Self {
        self.watcher = Some(Box::new(move |progress| {
            watcher(progress);
            ControlFlow::Continue(())
        }));
        self
    }

    /// Fills `memory` from `offset` of the file. hipFile 0.2.
    ///
    /// # Errors
    ///
    /// With the exact count of what moved. [`ErrorKind::UnexpectedEof`](crate::ErrorKind::UnexpectedEof) if the file ends
    /// first; [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled), [`ErrorKind::TimedOut`](crate::ErrorKind::TimedOut);
    /// otherwise as for [`FileHandle::read_exact_at`].
    #[doc(alias = "hipFileRead")]
    pub fn read_file_into(
        self,
        file: &FileHandle,
        memory: impl ReadInto,
        offset: u64,
    ) -> Result<Report, Stopped> {
        self.read_files_into([(file, memory, offset)])
    }

    /// Writes all of `memory` at `offset` of the file. hipFile 0.2.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # use hipfile::alloc::DeviceBuffer;
    /// # use hipfile::{Driver, OpenOptions};
    /// use hipfile::transfer::Options;
    ///
    /// # let path = std::env::temp_dir().join(format!("hipfile-doc-write-from-file-{}", std::process::id()));
    /// let file = OpenOptions::new().write(true).create(true).open(&Driver::open()?, &path)?;
    /// let checkpoint = DeviceBuffer::zeroed(3 << 20)?;
    /// assert_eq!(Options::new().write_file_from(&file, checkpoint.slice(..)?, 10)?.bytes, 3 << 20);
    /// assert_eq!(std::fs::metadata(&path)?.len(), 10 + (3 << 20));
    /// # std::fs::remove_file(&path)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// With the exact count of what moved. [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput) for a file that is
    /// not open for writing, or open to append; [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled),
    /// [`ErrorKind::TimedOut`](crate::ErrorKind::TimedOut); otherwise as for [`FileHandle::write_all_at`].
    #[doc(alias = "hipFileWrite")]
    pub fn write_file_from(
        self,
        file: &FileHandle,
        memory: impl WriteFrom,
        offset: u64,
    ) -> Result<Report, Stopped> {
        self.write_files_from([(file, memory, offset)])
    }

    /// Fills many memories, each from an offset of a file: all in one transfer, whose chunks are claimed in this order.
    /// hipFile 0.2.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use hipfile::alloc::DeviceBuffer;
    /// use hipfile::transfer::Options;
    /// use hipfile::{Driver, OpenOptions};
    ///
    /// # let path = std::env::temp_dir().join(format!("hipfile-doc-scatter-{}", std::process::id()));
    /// # std::fs::write(&path, b"..key...value")?;
    /// let driver = Driver::open()?;
    /// let file = OpenOptions::new().read(true).open(&driver, &path)?;
    /// let mut pool = driver.register(DeviceBuffer::new(8)?)?;
    /// let (keys, values) = pool.slice_mut(..)?.split_at_mut(3)?;
    /// let report = Options::new().read_files_into([(&file, keys, 2), (&file, values, 8)])?;
    /// assert_eq!(report.bytes, 8);
    /// assert_eq!(pool.slice(..)?.as_device().to_vec()?, b"keyvalue");
    /// # std::fs::remove_file(&path)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`read_file_into`](Self::read_file_into), about the part that failed.
    #[doc(alias = "hipFileRead")]
    pub fn read_files_into<'f, M: ReadInto>(
        self,
        parts: impl IntoIterator<Item = (&'f FileHandle, M, u64)>,
    ) -> Result<Report, Stopped> {
        // They keep the memory borrowed until the end.
        let parts: Vec<_> = parts.into_iter().collect();
        let mut pieces = Vec::with_capacity(parts.len());
        for (file, memory, offset) in &parts {
            pieces.push(Piece::new(Way::Read, file, memory.span(), *offset, pieces.last()));
        }
        self.run(&pieces)
    }

    /// Writes many memories, each at an offset of a file: all in one transfer. Parts that overlap in a file end up in any
    /// order. hipFile 0.2.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use hipfile::alloc::DeviceBuffer;
    /// use hipfile::transfer::Options;
    /// use hipfile::{Driver, OpenOptions};
    ///
    /// # let path = std::env::temp_dir().join(format!("hipfile-doc-gather-{}", std::process::id()));
    /// let file = OpenOptions::new().write(true).create(true).open(&Driver::open()?, &path)?;
    /// let (header, body) = (DeviceBuffer::from_host(b"head")?, DeviceBuffer::from_host(b"body")?);
    /// Options::new().write_files_from([(&file, header.slice(..)?, 0), (&file, body.slice(..)?, 4)])?;
    /// assert_eq!(std::fs::read(&path)?, b"headbody");
    /// # std::fs::remove_file(&path)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`write_file_from`](Self::write_file_from), about the part that failed.
    #[doc(alias = "hipFileWrite")]
    pub fn write_files_from<'f, M: WriteFrom>(
        self,
        parts: impl IntoIterator<Item = (&'f FileHandle, M, u64)>,
    ) -> Result<Report, Stopped> {
        let parts: Vec<_> = parts.into_iter().collect();
        let mut pieces = Vec::with_capacity(parts.len());
        for (file, memory, offset) in &parts {
            pieces.push(Piece::new(Way::Write, file, memory.span(), *offset, pieces.last()));
        }
        self.run(&pieces)
    }

    pub(super) fn run(mut self, pieces: &[Piece<'_>]) -> Result<Report, Stopped> {
        let bytes = pieces.last().map_or(0, Piece::end);
        let trace = Trace::of(Work::Large { parts: pieces.len(), bytes });
        pool::run(pieces, &self.settings, &AtomicU64::new(0), self.watcher.as_deref_mut(), &trace)
    }
}

impl fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options").field("settings", &self.settings).finish_non_exhaustive()
    }
}
