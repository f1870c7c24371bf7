//! Transfers on a stream that borrow file and memory, inside a scope that waits for them.
#![allow(unsafe_code, reason = "hands borrowed device memory to a stream")]

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hip_alloc::Scope;

use crate::error::{Cause, Error, Result, Subject};
use crate::ffi::streams::Slots;
use crate::file::FileHandle;
use crate::io::{Way, hip_cause};
use crate::memory::{ReadInto, WriteFrom};
use crate::on_stream;
use crate::span::Span;
use crate::trace::{Mode, Trace};

/// A transfer of a scope. What came of it is known once the scope has ended, or waited.
///
/// ```
/// use hipfile::alloc::{DeviceBuffer, Stream};
/// use hipfile::{Driver, FileHandle, ScopedTransfer};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let driver = Driver::open()?;
/// let file = FileHandle::new(&driver, std::fs::File::open("/proc/self/exe")?)?;
/// let mut memory = DeviceBuffer::new(4)?;
/// let stream = Stream::new()?;
/// let transfer: ScopedTransfer = stream.scope(|scope| file.read_at_in(scope, memory.slice_mut(..)?, 0))?;
/// assert_eq!(transfer.result().transpose()?, Some(4));
/// # assert_eq!(memory.to_vec()?, b"\x7fELF");
/// # Ok(())
/// # }
/// ```
#[must_use = "it tells whether the transfer worked, and how many bytes moved"]
pub struct ScopedTransfer(Arc<State>);

struct State {
    slots: Slots,
    /// Whether the stream has passed the transfer.
    passed: AtomicBool,
    way: Way,
    file: Subject,
    offset: u64,
    len: usize,
}

/// What the scope keeps until it has waited: the slots, which then have the result.
struct Kept(Arc<State>);

/// What the scope keeps for whoever listens, once the transfer is on its stream.
struct Told(Arc<State>, Trace);

impl Drop for Told {
    fn drop(&mut self) {
        let Self(state, trace) = self;
        match state.result() {
            Ok(bytes) => trace.moved(bytes as u64),
            Err(error) => trace.failed(&error),
        }
    }
}

impl State {
    /// Once the stream has passed the transfer.
    fn result(&self) -> Result<usize> {
        let Self { slots, way, file, offset, len, .. } = self;
        slots.result().map_err(|cause| Error::new(way.name(), cause).on(file.clone()).at(*offset, *len))
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.0.passed.store(true, Ordering::Release);
    }
}

impl ScopedTransfer {
    /// The number of bytes that moved, fewer than asked for at the end of the file and above 0x7ffff000; `None` while the
    /// scope has not waited.
    ///
    /// ```
    /// # use hipfile::alloc::{DeviceBuffer, Stream};
    /// # use hipfile::{Driver, FileHandle};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let driver = Driver::open()?;
    /// # let file = FileHandle::new(&driver, std::fs::File::open("/proc/self/exe")?)?;
    /// # let mut memory = DeviceBuffer::new(4)?;
    /// Stream::new()?.scope(|scope| {
    ///     let transfer = file.read_at_in(scope, memory.slice_mut(..)?, 0)?;
    ///     assert!(transfer.result().is_none());
    ///     scope.synchronize()?;
    ///     assert_eq!(transfer.result().transpose()?, Some(4));
    ///     Ok(())
    /// })
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// What the library left as the result. [`ErrorKind::Os`](crate::ErrorKind::Os) without a number if a system call
    /// failed: on streams the library loses which way.
    pub fn result(&self) -> Option<Result<usize>> {
        self.0.passed.load(Ordering::Acquire).then(|| self.0.result())
    }
}

impl fmt::Debug for ScopedTransfer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let State { way, offset, len, .. } = &*self.0;
        f.debug_struct("ScopedTransfer")
            .field("way", way)
            .field("offset", offset)
            .field("len", len)
            .field("result", &self.result())
            .finish_non_exhaustive()
    }
}

/// # Transfers in a scope
///
/// They are put on the scope's stream and return; what they borrow is borrowed until the scope ends. The stream does them
/// in order, after what it was given before and before what it is given after. Register the stream for more than a few
/// ([`RegisteredStream`](crate::RegisteredStream)).
impl FileHandle {
    /// Reads into `memory` from `offset`, in order on the scope's stream. hipFile 0.2; before 0.5 always through host memory.
    ///
    /// ```
    /// use hipfile::alloc::{DeviceBuffer, Stream};
    /// use hipfile::{Driver, FileHandle, RegisteredStream, StreamFlags};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let driver = Driver::open()?;
    /// let file = FileHandle::new(&driver, std::fs::File::open("/proc/self/exe")?)?;
    /// let stream = RegisteredStream::new(&driver, Stream::new()?, StreamFlags::FIXED_VALUES)?;
    /// let mut memory = driver.register(DeviceBuffer::new(8)?)?;
    /// let (first, second) = memory.slice_mut(..)?.split_at_mut(4)?;
    /// let (a, b) = stream.stream().scope(|scope| -> hipfile::Result<_> {
    ///     Ok((file.read_at_in(scope, first, 0)?, file.read_at_in(scope, second, 4)?))
    /// })?;
    /// assert_eq!((a.result().transpose()?, b.result().transpose()?), (Some(4), Some(4)));
    /// # assert_eq!(&memory.memory().to_vec()?[..4], b"\x7fELF");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// Why it could not be put on the stream. [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput) if the file is not
    /// open for it, if `offset` plus the length of `memory` passes `i64::MAX`, or if memory and stream are on different
    /// devices; otherwise what HIP or the library answers. How the transfer itself went is in [`ScopedTransfer::result`].
    #[doc(alias = "hipFileReadAsync")]
    pub fn read_at_in<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        memory: impl ReadInto + 'scope,
        offset: u64,
    ) -> Result<ScopedTransfer> {
        // SAFETY: requires memory that is nobody else's until the scope ends; holds because only exclusive borrows are
        // `ReadInto`, and this one lasts for 'scope.
        unsafe { self.in_scope(Way::Read, scope, memory.span(), offset) }
    }

    /// Writes `memory` at `offset`, in order on the scope's stream. hipFile 0.2; before 0.5 always through host memory.
    ///
    /// Nothing is flushed to the storage device; see [`write_at`](Self::write_at).
    ///
    /// ```
    /// use hipfile::alloc::{DeviceBuffer, Stream};
    /// use hipfile::{Driver, OpenOptions};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let path = std::env::temp_dir().join(format!("hipfile-doc-write-in-{}", std::process::id()));
    /// let file = OpenOptions::new().write(true).create(true).open(&Driver::open()?, &path)?;
    /// let memory = DeviceBuffer::from_host(b"on a stream")?;
    /// let transfer = Stream::new()?.scope(|scope| file.write_at_in(scope, memory.slice(..)?, 0))?;
    /// assert_eq!(transfer.result().transpose()?, Some(11));
    /// # assert_eq!(std::fs::read(&path)?, b"on a stream");
    /// # std::fs::remove_file(&path)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`read_at_in`](Self::read_at_in).
    #[doc(alias = "hipFileWriteAsync")]
    pub fn write_at_in<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        memory: impl WriteFrom + 'scope,
        offset: u64,
    ) -> Result<ScopedTransfer> {
        // SAFETY: requires memory that nobody writes until the scope ends; holds because the borrow lasts for 'scope.
        unsafe { self.in_scope(Way::Write, scope, memory.span(), offset) }
    }

    /// # Safety
    ///
    /// `span` is live device memory during 'scope, which nobody else uses if the way is `Read` and nobody else writes if
    /// it is `Write`.
    unsafe fn in_scope<'scope>(
        &'scope self,
        way: Way,
        scope: &'scope Scope<'scope, '_>,
        span: Span,
        offset: u64,
    ) -> Result<ScopedTransfer> {
        let submit = || -> std::result::Result<Arc<State>, Cause> {
            let slots = on_stream::slots(way, self, span, offset, scope.stream())?;
            let (passed, file, len) = (AtomicBool::new(span.len == 0), self.subject(), span.len);
            let state = Arc::new(State { slots, passed, way, file, offset, len });
            if len == 0 {
                self.driver().live()?;
            } else {
                // Fails in a forked child, so what follows is not reached there.
                let _device = scope.stream().device().make_current().map_err(hip_cause)?;
                scope.keep(Box::new(Kept(Arc::clone(&state))));
                // SAFETY: requires that the stream's device is current, and that slots, file and memory stay until the
                // stream has passed, also after an error; holds because it was made current, the scope keeps the slots until
                // it has waited, and file and memory are borrowed for 'scope, which lasts until the last wait.
                unsafe { on_stream::submit(way, self, span.base, &state.slots, scope.stream()) }?;
            }
            Ok(state)
        };
        let trace = Trace::of(self.work(way, Mode::Scope, offset, span.len));
        match trace.within(submit) {
            Ok(state) => {
                if span.len == 0 {
                    trace.moved(0);
                } else if trace.is_heard() {
                    scope.keep(Box::new(Told(Arc::clone(&state), trace)));
                }
                Ok(ScopedTransfer(state))
            }
            Err(cause) => {
                let error = self.failed(way, cause, span, offset, 0);
                trace.failed(&error);
                Err(error)
            }
        }
    }
}
