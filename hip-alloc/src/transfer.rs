//! Copies and fills in stream order: what is checked before HIP is asked, for scopes and for owned operations alike.
#![allow(unsafe_code, reason = "hands memory to streams")]

use core::ffi::c_void;

use crate::calls::Failure;
use crate::device::Device;
use crate::error::{Cause, Error, Result};
use crate::ffi::Functions;
use crate::region::Region;
use crate::stream::StreamRef;
use crate::stream_calls::{CopyKind, RawStream};

/// One end or both of a copy are device memory; lengths are in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Transfer {
    ToHost { destination: *mut u8, len: usize, source: Region },
    FromHost { destination: Region, source: *const u8, len: usize },
    Within { destination: Region, source: Region },
    Fill { destination: Region, value: u8 },
}

impl Transfer {
    /// Whether the lengths agree and the memory is of the stream's device; `Some` if there is anything to do.
    pub(crate) fn check(self, operation: &'static str, stream: StreamRef<'_>) -> Result<Option<Checked>> {
        let (to, from) = match self {
            Self::ToHost { len, source, .. } => (len, source.len),
            Self::FromHost { destination, len, .. } => (destination.len, len),
            Self::Within { destination, source } => (destination.len, source.len),
            Self::Fill { destination, .. } => (destination.len, destination.len),
        };
        let here = |device: Device| match device == stream.device() {
            true => Ok(()),
            false => {
                Err(Error::new(operation, Cause::OtherDevice { stream: stream.device(), memory: device }))
            }
        };
        match self {
            Self::ToHost { source: region, .. }
            | Self::FromHost { destination: region, .. }
            | Self::Fill { destination: region, .. } => here(region.device)?,
            Self::Within { destination, source } => {
                here(destination.device)?;
                here(source.device)?;
            }
        }
        if to != from {
            return Err(Error::new(operation, Cause::Lengths { source: from, destination: to }));
        }
        Ok((to != 0).then_some(Checked { transfer: self, len: to }))
    }
}

/// A transfer of some bytes that passed [`Transfer::check`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Checked {
    transfer: Transfer,
    len: usize,
}

impl Checked {
    /// Puts the transfer into the stream that it was checked for.
    ///
    /// # Safety
    /// `stream` names that stream, which is live, and its device is current. Until the stream has passed the transfer, also
    /// after an error: the memory stays, nobody writes the source, and nobody else uses the destination.
    pub(crate) unsafe fn enqueue(
        self,
        hip: &Functions,
        stream: RawStream,
    ) -> core::result::Result<(), Failure> {
        let (to, from, kind): (*mut c_void, *const c_void, _) = match self.transfer {
            Transfer::ToHost { destination, source, .. } => {
                (destination.cast(), source.pointer.cast_const(), CopyKind::ToHost)
            }
            Transfer::FromHost { destination, source, .. } => {
                (destination.pointer, source.cast(), CopyKind::FromHost)
            }
            Transfer::Within { destination, source } => {
                (destination.pointer, source.pointer.cast_const(), CopyKind::Within)
            }
            Transfer::Fill { destination, value } => {
                // SAFETY: requires a live stream and `len` bytes that only it uses until it has passed; holds by our caller's
                // promise.
                return unsafe { hip.fill_async(destination.pointer, value, self.len, stream) };
            }
        };
        // SAFETY: requires a live stream, `len` bytes to read that stay as they are and `len` bytes that only the stream uses
        // until it has passed; holds by our caller's promise.
        unsafe { hip.copy_async(to, from, self.len, kind, stream) }
    }
}
