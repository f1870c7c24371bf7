//! Spans: feature `tracing` is on.
//!
//! A subscriber is code of others. What it panics with ends here, since some operations must not unwind while C works on
//! what they own. In a forked child it is not called: its locks may be held for ever.

use std::mem;
use std::os::fd::{AsFd, AsRawFd, RawFd};

use tracing::dispatcher::{self, DefaultGuard};
use tracing::field::{Empty, debug, display};
use tracing::level_filters::{LevelFilter, STATIC_MAX_LEVEL};
use tracing::span::Entered;
use tracing::{Level, Span};

use super::{FileBytes, Mode, Work};
use crate::error::{Cause, Error, Result};
use crate::explain::Explanation;
use crate::file::FileHandle;
use crate::io::Way;
use crate::quietly::quietly;

/// The span of an operation: from its beginning until this is dropped.
#[derive(Debug)]
pub(crate) struct Trace(Span);

/// Calls `call` in the span of the transfer that it makes.
#[inline]
pub(crate) fn moving(work: Work<'_>, call: impl FnOnce() -> Result<usize>) -> Result<usize> {
    if is_wanted(&work) { heard(work, call) } else { call() }
}

/// As [`moving`], if somebody listens to spans of others at least. Apart, so that it costs the others nothing.
#[inline(never)]
fn heard(work: Work<'_>, call: impl FnOnce() -> Result<usize>) -> Result<usize> {
    let trace = Trace(begin(work));
    if trace.is_heard() { trace.moving(call) } else { call() }
}

/// Whether anybody listens to spans of this level at all.
#[inline]
fn is_wanted(work: &Work<'_>) -> bool {
    let level = level(work);
    level <= STATIC_MAX_LEVEL && level <= LevelFilter::current()
}

#[inline]
fn level(work: &Work<'_>) -> Level {
    if matches!(work, Work::Chunk(..)) { Level::TRACE } else { Level::DEBUG }
}

impl Trace {
    #[inline]
    pub(crate) fn of(work: Work<'_>) -> Self {
        Self(if is_wanted(&work) { begin(work) } else { Span::none() })
    }

    /// Whether there is anybody to be told.
    pub(crate) fn is_heard(&self) -> bool {
        !self.0.is_disabled()
    }

    /// Runs code in the span, on any thread, whose default subscriber is the span's meanwhile.
    pub(crate) fn within<T>(&self, code: impl FnOnce() -> T) -> T {
        let _inside = self.is_heard().then(|| Inside::of(&self.0));
        code()
    }

    /// Runs an operation in the span, and tells how it failed.
    pub(crate) fn around<T, E>(
        self,
        code: impl FnOnce() -> std::result::Result<T, E>,
        error: impl FnOnce(&E) -> &Error,
    ) -> std::result::Result<T, E> {
        let answer = self.within(code);
        if let Err(failed) = &answer {
            self.failed(error(failed));
        }
        answer
    }

    fn moving(self, call: impl FnOnce() -> Result<usize>) -> Result<usize> {
        let answer = self.within(call);
        match &answer {
            Ok(bytes) => self.moved(*bytes as u64),
            Err(error) => {
                self.moved(error.bytes_done() as u64);
                self.failed(error);
            }
        }
        answer
    }

    /// Tells how many bytes moved.
    pub(crate) fn moved(&self, bytes: u64) {
        self.tell(|span| {
            span.record("done", bytes);
        });
    }

    /// Tells what went wrong.
    pub(crate) fn failed(&self, error: &Error) {
        self.tell(|span| {
            span.record("kind", debug(error.kind())).record("error", display(error));
        });
    }

    /// Tells why it failed, where no error is made of it.
    pub(crate) fn failed_by(&self, cause: &Cause) {
        self.tell(|span| {
            span.record("kind", debug(cause.kind())).record("error", display(cause));
        });
    }

    /// Tells which path was to be expected.
    pub(crate) fn explained(&self, explanation: Option<&Explanation>) {
        if let Some(explanation) = explanation {
            self.tell(|span| {
                span.record("predicted", display(explanation));
            });
        }
    }

    fn tell(&self, record: impl FnOnce(&Span)) {
        if self.is_heard() && !hip_alloc::forked() {
            quietly(|| record(&self.0));
        }
    }
}

impl Drop for Trace {
    #[inline]
    fn drop(&mut self) {
        if self.is_heard() {
            let span = mem::replace(&mut self.0, Span::none());
            if hip_alloc::forked() {
                mem::forget(span);
            } else {
                quietly(|| drop(span));
            }
        }
    }
}

/// A span that a thread is in.
struct Inside<'a> {
    // Left in this order.
    entered: Option<Entered<'a>>,
    subscriber: Option<DefaultGuard>,
}

impl<'a> Inside<'a> {
    #[cold]
    fn of(span: &'a Span) -> Self {
        if hip_alloc::forked() {
            return Self { entered: None, subscriber: None };
        }
        let subscriber =
            quietly(|| span.with_subscriber(|(_, subscriber)| dispatcher::set_default(subscriber)));
        Self { entered: quietly(|| span.enter()), subscriber: subscriber.flatten() }
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        let (entered, subscriber) = (self.entered.take(), self.subscriber.take());
        if hip_alloc::forked() {
            mem::forget((entered, subscriber));
        } else {
            quietly(|| drop(entered));
            quietly(|| drop(subscriber));
        }
    }
}

/// The span, with the fields that are known at the beginning; none in a forked child.
#[cold]
fn begin(work: Work<'_>) -> Span {
    if hip_alloc::forked() {
        return Span::none();
    }
    quietly(|| span(work)).unwrap_or_else(Span::none)
}

/// A span of its own for each kind of work, as `tracing` needs them.
macro_rules! span {
    ($name:literal $(, $field:ident = $value:expr)* $(,)?) => {
        tracing::span!(target: "hipfile", Level::DEBUG, $name $(, $field = $value)*, kind = Empty, error = Empty)
    };
}

/// The span of a transfer.
macro_rules! transfer {
    ($level:ident, $name:literal, $($mode:ident)?, $bytes:ident) => {{
        let FileBytes { file, offset, bytes } = $bytes;
        tracing::span!(
            target: "hipfile", Level::$level, $name, $($mode,)? path = file.path().map(|path| display(path.display())),
            fd = fd(file),
            offset, bytes, done = Empty, kind = Empty, error = Empty
        )
    }};
}

fn span(work: Work<'_>) -> Span {
    match work {
        Work::OpenDriver => span!("open_driver"),
        Work::CloseDriver => span!("close_driver"),
        Work::Open(path) => span!("open", path = display(path.display())),
        Work::Replace(path) => span!("replace", path = display(path.display())),
        Work::Commit(path) => span!("commit", path = path.map(|path| display(path.display()))),
        Work::RegisterFile { path, fd } => {
            span!("register_file", path = path.map(|path| display(path.display())), fd = fd)
        }
        Work::RegisterMemory { bytes, device } => span!("register_memory", bytes = bytes, device = device),
        Work::DeregisterMemory { bytes, device } => {
            span!("deregister_memory", bytes = bytes, device = device)
        }
        Work::RegisterStream { device } => span!("register_stream", device = device),
        Work::Transfer(Way::Read, mode, bytes) => {
            let mode = name(mode);
            transfer!(DEBUG, "read", mode, bytes)
        }
        Work::Transfer(Way::Write, mode, bytes) => {
            let mode = name(mode);
            transfer!(DEBUG, "write", mode, bytes)
        }
        Work::Chunk(Way::Read, bytes) => transfer!(TRACE, "read_chunk", , bytes),
        Work::Chunk(Way::Write, bytes) => transfer!(TRACE, "write_chunk", , bytes),
        Work::Large { parts, bytes } => {
            span!("transfer", parts = parts, bytes = bytes, done = Empty, predicted = Empty)
        }
        Work::SubmitBatch { requests } => span!("submit_batch", requests = requests),
        Work::WaitForBatch { min } => span!("wait_for_batch", min = min),
    }
}

/// The number of a file without a path.
fn fd(file: &FileHandle) -> Option<RawFd> {
    file.path().is_none().then(|| file.as_fd().as_raw_fd())
}

/// The field `mode`.
fn name(mode: Mode) -> &'static str {
    match mode {
        Mode::Blocking => "blocking",
        Mode::After => "after",
        Mode::Host => "host",
        Mode::Scope => "scope",
        Mode::Owned => "owned",
        Mode::Batch => "batch",
    }
}
