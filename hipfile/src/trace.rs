//! What is told of an operation to whoever listens through the crate `tracing`.
//!
//! The rest of the crate calls the same functions whether or not feature `tracing` is on. Without it they do nothing, and a
//! [`Trace`] has no bytes.

#[cfg(not(feature = "tracing"))]
mod nothing;
#[cfg(feature = "tracing")]
mod spans;

use std::os::fd::RawFd;
use std::path::Path;

#[cfg(not(feature = "tracing"))]
pub(crate) use nothing::{Trace, moving};
#[cfg(feature = "tracing")]
pub(crate) use spans::{Trace, moving};

use crate::file::FileHandle;
use crate::io::Way;

/// An operation that has a span.
#[derive(Clone, Copy)]
#[cfg_attr(not(feature = "tracing"), allow(dead_code, reason = "nobody is told"))]
pub(crate) enum Work<'a> {
    OpenDriver,
    CloseDriver,
    /// Of a file, by path.
    Open(&'a Path),
    Replace(&'a Path),
    Commit(Option<&'a Path>),
    RegisterFile {
        path: Option<&'a Path>,
        fd: RawFd,
    },
    RegisterMemory {
        bytes: usize,
        device: u32,
    },
    DeregisterMemory {
        bytes: usize,
        device: u32,
    },
    RegisterStream {
        device: u32,
    },
    /// Of one piece of memory.
    Transfer(Way, Mode, FileBytes<'a>),
    /// A part of a large transfer.
    Chunk(Way, FileBytes<'a>),
    /// A large transfer, by all of its threads.
    Large {
        parts: usize,
        bytes: u64,
    },
    SubmitBatch {
        requests: usize,
    },
    WaitForBatch {
        min: usize,
    },
}

/// The bytes of a file that are to move.
#[derive(Clone, Copy)]
#[cfg_attr(not(feature = "tracing"), allow(dead_code, reason = "nobody is told"))]
pub(crate) struct FileBytes<'a> {
    pub file: &'a FileHandle,
    pub offset: u64,
    pub bytes: usize,
}

/// How a transfer is asked for.
#[derive(Clone, Copy)]
#[cfg_attr(not(feature = "tracing"), allow(dead_code, reason = "nobody is told"))]
pub(crate) enum Mode {
    /// By a call that returns when the bytes have moved.
    Blocking,
    /// The same, once GPU work is done.
    After,
    /// Between file and host memory.
    Host,
    /// On a stream, in a scope.
    Scope,
    /// On a stream, owning file and region.
    Owned,
    /// With others in a batch.
    Batch,
}

#[cfg(test)]
#[cfg(feature = "tracing")]
mod tests;
