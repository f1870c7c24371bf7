//! Streams: what registration remembers of one. Registrations outlive the driver: a close leaves them as they are.

use std::ffi::c_int;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hipfile_sys::{
    HIPFILE_STREAM_FIXED_BUF_OFFSET, HIPFILE_STREAM_FIXED_FILE_OFFSET, HIPFILE_STREAM_FIXED_FILE_SIZE,
    HIPFILE_STREAM_FLAGS_MASK, hipStream_t,
};

use crate::asynchronous::Order;
use crate::behaviour::{Behaviour, Version};
use crate::config;
use crate::failure::Failure;
use crate::hip::Hip;
use crate::pinned::Pinned;

/// What is remembered of a stream.
#[derive(Debug)]
pub(crate) struct Stream {
    /// The device whose stream it is.
    pub(crate) device: c_int,
    /// Which values of an operation are read at its submission only.
    pub(crate) fixed: Fixed,
    /// Host memory for the transfers that need some.
    pub(crate) bounce: Option<Mutex<Pinned>>,
    order: Mutex<Order>,
}

/// Which values are read at submission only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fixed {
    pub(crate) size: bool,
    pub(crate) file_offset: bool,
    pub(crate) buffer_offset: bool,
}

impl Fixed {
    pub(crate) fn from_flags(flags: u32) -> Self {
        Self {
            size: flags & HIPFILE_STREAM_FIXED_FILE_SIZE != 0,
            file_offset: flags & HIPFILE_STREAM_FIXED_FILE_OFFSET != 0,
            buffer_offset: flags & HIPFILE_STREAM_FIXED_BUF_OFFSET != 0,
        }
    }

    pub(crate) fn all(self) -> bool {
        self.size && self.file_offset && self.buffer_offset
    }
}

impl Stream {
    /// Refuses bits that are no flag.
    pub(crate) fn check_flags(flags: u32) -> Result<(), Failure> {
        if flags & !HIPFILE_STREAM_FLAGS_MASK == 0 { Ok(()) } else { Err(Failure::INVALID_VALUE) }
    }

    /// Finds out about a stream that is to be registered.
    ///
    /// # Errors
    ///
    /// What HIP said, about the stream or about memory for it. Only a HIP whose device memory is out of the host's
    /// reach makes that memory necessary; AMD's library takes it always, from 0.5 on.
    pub(crate) fn to_register(
        hip: &'static Hip,
        behaviour: &Behaviour,
        stream: hipStream_t,
        flags: u32,
    ) -> Result<Self, Failure> {
        let needed = behaviour.amd_quirks || hip.host_address.is_none();
        Self::new(hip, stream, flags, needed && behaviour.version >= Version::V0_5)
    }

    /// Finds out about a stream that an operation names without its being registered.
    ///
    /// # Errors
    ///
    /// As for [`Stream::to_register`]; AMD's library alone takes memory for one operation.
    pub(crate) fn unregistered(
        hip: &'static Hip,
        behaviour: &Behaviour,
        stream: hipStream_t,
    ) -> Result<Self, Failure> {
        Self::new(hip, stream, 0, behaviour.amd_quirks && behaviour.version >= Version::V0_5)
    }

    fn new(hip: &'static Hip, stream: hipStream_t, flags: u32, with_bounce: bool) -> Result<Self, Failure> {
        let device = hip.stream_device(stream).map_err(Failure::Hip)?;
        let bounce = with_bounce
            .then(|| Pinned::new(hip, config::async_buffer_size()))
            .transpose()
            .map_err(Failure::Hip)?;
        Ok(Self {
            device,
            fixed: Fixed::from_flags(flags),
            bounce: bounce.map(Mutex::new),
            order: Mutex::new(Order::new()),
        })
    }

    /// What is known of the order of its operations. Whoever holds this alone puts operations on the stream.
    pub(crate) fn order(&self) -> MutexGuard<'_, Order> {
        self.order.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
