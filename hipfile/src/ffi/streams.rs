//! Streams, and transfers on them.
#![allow(unsafe_code, reason = "calls C")]

use std::ffi::c_void;
use std::sync::atomic::{AtomicI64, AtomicIsize, AtomicUsize, Ordering};

use hipfile_sys as sys;
use sys::Api;

use super::{Handle, checked};
use crate::decode::decode_stored;
use crate::error::Cause;

/// What a transfer on a stream reads its values from and leaves its result in, from its submission until the stream has
/// passed it. Atomic, since the library uses them on other threads, and at times that nobody tells.
#[derive(Debug)]
pub(crate) struct Slots {
    size: AtomicUsize,
    file_offset: AtomicI64,
    buffer_offset: AtomicI64,
    bytes: AtomicIsize,
}

impl Slots {
    pub(crate) fn new(size: usize, file_offset: i64, buffer_offset: i64) -> Self {
        Self {
            size: AtomicUsize::new(size),
            file_offset: AtomicI64::new(file_offset),
            buffer_offset: AtomicI64::new(buffer_offset),
            bytes: AtomicIsize::new(0),
        }
    }

    /// Other values than those submitted, for a stream that has not come to the transfer. The library reads them one by
    /// one, so it may meet some of the old ones and some of the new while it is submitting.
    pub(crate) fn change(&self, size: usize, file_offset: i64, buffer_offset: i64) {
        self.size.store(size, Ordering::Relaxed);
        self.file_offset.store(file_offset, Ordering::Relaxed);
        self.buffer_offset.store(buffer_offset, Ordering::Relaxed);
    }

    /// Number of bytes to move.
    pub(crate) fn size(&self) -> usize {
        self.size.load(Ordering::Relaxed)
    }

    /// Size, file offset and buffer offset.
    #[cfg(test)]
    pub(crate) fn values(&self) -> (usize, i64, i64) {
        let offsets = (self.file_offset.load(Ordering::Relaxed), self.buffer_offset.load(Ordering::Relaxed));
        (self.size(), offsets.0, offsets.1)
    }

    /// How the transfer ended, once the stream has passed it.
    pub(crate) fn result(&self) -> Result<usize, Cause> {
        let stored = self.bytes.load(Ordering::Relaxed);
        decode_stored(stored as i64, self.size())
    }
}

/// A transfer on a stream, but for what is in its slots.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Submission<'a> {
    pub(crate) handle: Handle,
    pub(crate) base: *mut c_void,
    pub(crate) slots: &'a Slots,
    pub(crate) stream: *mut c_void,
}

/// Puts a read from the file into device memory on the stream.
///
/// # Safety
///
/// The stream is live and of the current device if it is null. Until it has passed the transfer, **also if this fails**:
/// the slots stay where they are, the handle is registered and its descriptor open, and the bytes that the slots name, at
/// any time, after `base` are device memory that nobody else uses.
pub(crate) unsafe fn read(api: &Api, s: Submission<'_>) -> Result<(), Cause> {
    let Slots { size, file_offset, buffer_offset, bytes } = s.slots;
    // SAFETY: requires a live stream, and slots, registered handle and device memory to write to until the stream has
    // passed; holds because the caller promises it.
    checked(unsafe {
        (api.hipFileReadAsync)(
            s.handle.0,
            s.base,
            size.as_ptr(),
            file_offset.as_ptr(),
            buffer_offset.as_ptr(),
            bytes.as_ptr(),
            s.stream.cast(),
        )
    })
}

/// Puts a write from device memory into the file on the stream.
///
/// # Safety
///
/// As for [`read`], but others may read the memory meanwhile.
pub(crate) unsafe fn write(api: &Api, s: Submission<'_>) -> Result<(), Cause> {
    let Slots { size, file_offset, buffer_offset, bytes } = s.slots;
    // SAFETY: requires a live stream, and slots, registered handle and device memory to read from until the stream has
    // passed; holds because the caller promises it.
    checked(unsafe {
        (api.hipFileWriteAsync)(
            s.handle.0,
            s.base,
            size.as_ptr(),
            file_offset.as_ptr(),
            buffer_offset.as_ptr(),
            bytes.as_ptr(),
            s.stream.cast(),
        )
    })
}

/// Makes the stream known to the library, with its flags.
///
/// # Safety
///
/// The stream is live, of the current device if it is null, and not destroyed while it is registered.
pub(crate) unsafe fn register(api: &Api, stream: *mut c_void, flags: u32) -> Result<(), Cause> {
    // SAFETY: requires a live stream that stays while it is registered; holds because the caller promises it.
    checked(unsafe { (api.hipFileStreamRegister)(stream.cast(), flags) })
}

/// Makes the library forget the stream. Transfers on it go on.
pub(crate) fn deregister(api: &Api, stream: *mut c_void) -> Result<(), Cause> {
    // SAFETY: requires nothing: the library looks the stream up and answers if it does not know it.
    checked(unsafe { (api.hipFileStreamDeregister)(stream.cast()) })
}
