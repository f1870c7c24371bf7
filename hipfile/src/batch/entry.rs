//! A request on its way through a batch.

use std::mem;
use std::sync::atomic::{AtomicUsize, Ordering};

use hipfile_sys as sys;

use super::completion::Completion;
use crate::error::{Cause, Error, Result};
use crate::ffi::Transfer;
use crate::ffi::batch::Entry;
use crate::file_offset;
use crate::io::{MAX_TRANSFER, Way};
use crate::late::Refusal;
use crate::request::Request;
use crate::trace::{Mode, Trace};

/// What the library is asked, under a cookie that no other transfer of this process ever has, so that an event that comes
/// twice, or to the wrong batch, is told from the right one. Never 0.
pub(super) fn of(request: &Request) -> Result<Entry> {
    static NEXT: AtomicUsize = AtomicUsize::new(1);
    let failed = |cause| Err(error(request, cause));
    if request.late.is_some() {
        return failed(Cause::Late(Refusal::InBatch));
    }
    let span = request.region.span();
    if span.len > 0 {
        request.file.admits(request.way).map_err(|cause| error(request, cause))?;
    }
    let (Ok(file_offset), Ok(buffer_offset)) =
        (file_offset::checked(request.offset, span.len), i64::try_from(span.offset))
    else {
        return failed(Cause::OffsetTooLarge);
    };
    Ok(Entry {
        transfer: Transfer {
            handle: request.file.handle(),
            base: span.base.0,
            size: size(request),
            file_offset,
            buffer_offset,
        },
        opcode: match request.way {
            Way::Read => sys::hipFileBatchRead,
            Way::Write => sys::hipFileBatchWrite,
        },
        // 2^64 are more than a process gets to.
        cookie: NEXT.fetch_add(1, Ordering::Relaxed),
    })
}

/// How many bytes are asked for.
pub(super) fn size(request: &Request) -> usize {
    request.region.len().min(MAX_TRANSFER)
}

/// A request that the library was given.
pub(super) struct Outstanding {
    pub request: Request,
    /// From the submission to the end.
    trace: Trace,
}

impl Outstanding {
    pub fn new(request: Request) -> Self {
        let Request { way, file, region, offset, .. } = &request;
        let trace = Trace::of(file.work(*way, Mode::Batch, *offset, region.len()));
        Self { request, trace }
    }

    /// What became of it, with its file let go of.
    pub fn end(self, result: std::result::Result<usize, Cause>) -> Completion {
        let Self { request, trace } = self;
        let result = result.map_err(|cause| error(&request, cause));
        match &result {
            Ok(bytes) => trace.moved(*bytes as u64),
            Err(error) => trace.failed(error),
        }
        Completion { tag: request.tag, region: request.region, result }
    }

    /// The request, which the library did not take.
    pub fn refuse(self, error: &Error) -> Request {
        self.trace.failed(error);
        self.request
    }

    /// Leaves file and memory as they are for ever, since the library may be working on them.
    pub fn leak(mut self) {
        drop(self.request.place.take());
        if !hip_alloc::forked() {
            hip_alloc::record_leak(self.request.region.len());
        }
        mem::forget(self.request);
    }
}

fn error(request: &Request, cause: Cause) -> Error {
    request.file.error(request.way.name(), cause).at(request.offset, request.region.len())
}
