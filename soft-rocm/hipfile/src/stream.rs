//! Registered streams. They outlive the driver: a close leaves them as they are.

use std::ffi::c_int;

use hipfile_sys::{HIPFILE_STREAM_FLAGS_MASK, hipStream_t};

use crate::failure::Failure;
use crate::hip::Hip;

/// What registration remembers of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stream {
    /// The device whose stream it is.
    pub(crate) device: c_int,
}

impl Stream {
    /// Refuses bits that are no flag.
    pub(crate) fn check_flags(flags: u32) -> Result<(), Failure> {
        if flags & !HIPFILE_STREAM_FLAGS_MASK == 0 { Ok(()) } else { Err(Failure::INVALID_VALUE) }
    }

    /// Asks HIP about a stream.
    pub(crate) fn new(hip: &Hip, stream: hipStream_t) -> Result<Self, Failure> {
        Ok(Self { device: hip.stream_device(stream).map_err(Failure::Hip)? })
    }
}
