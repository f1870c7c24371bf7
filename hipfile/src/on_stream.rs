//! What every transfer on a stream goes through before C sees it.
#![allow(unsafe_code, reason = "hands device memory to C")]

use hip_alloc::StreamRef;

use crate::error::Cause;
use crate::ffi::streams::{self, Slots, Submission};
use crate::file::FileHandle;
use crate::file_offset;
use crate::io::{MAX_TRANSFER, Way};
use crate::span::{Address, Span};

/// The values of a transfer of `span` at `offset` of the file, proven to be right for the file and this stream.
pub(crate) fn slots(
    way: Way,
    file: &FileHandle,
    span: Span,
    offset: u64,
    stream: StreamRef<'_>,
) -> Result<Slots, Cause> {
    if span.len > 0 {
        file.admits(way)?;
    }
    let file_offset = file_offset::checked(offset, span.len)?;
    // An allocation is never as long as i64::MAX, so an offset into one fits.
    let buffer_offset = i64::try_from(span.offset).map_err(|_| Cause::OffsetTooLarge)?;
    if span.device != stream.device() {
        let (memory, stream) = (span.device.ordinal(), stream.device().ordinal());
        return Err(Cause::OtherDevice { memory, stream });
    }
    Ok(Slots::new(span.len.min(MAX_TRANSFER), file_offset, buffer_offset))
}

/// Puts a transfer on the stream.
///
/// # Safety
///
/// The stream's device is current. Until the stream has passed the transfer, **also if this fails**: the slots stay where
/// they are, the file is not dropped, and the bytes that the slots name, at any time, after `base` are device memory, which
/// nobody else uses if the way is `Read` and nobody else writes if it is `Write`.
pub(crate) unsafe fn submit(
    way: Way,
    file: &FileHandle,
    base: Address,
    slots: &Slots,
    stream: StreamRef<'_>,
) -> Result<(), Cause> {
    let api = file.driver().api();
    let submission = Submission { handle: file.handle(), base: base.0, slots, stream: stream.as_raw() };
    match way {
        // SAFETY: requires a live stream, of the current device if it is null, and slots, handle and exclusive memory until
        // it has passed; holds because the reference stands for such a stream, a file's handle is registered and its
        // descriptor open while it is not dropped, and the caller promises the rest.
        Way::Read => unsafe { streams::read(api, submission) },
        // SAFETY: as for the read, with memory that nobody writes.
        Way::Write => unsafe { streams::write(api, submission) },
    }
}
