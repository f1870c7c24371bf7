//! The functions of batches.
#![allow(unsafe_code, reason = "calls C")]

use std::ffi::{c_uint, c_void};
use std::ptr;
use std::time::Duration;

use hipfile_sys as sys;
use sys::Api;

use super::{Transfer, checked};
use crate::error::Cause;

/// A batch, as the library names it. Not Sync: whoever shares it would have to say who fetches whose events.
#[derive(Debug)]
pub(crate) struct BatchHandle(sys::hipFileBatchHandle_t);

// SAFETY: requires that the handle may be used from any thread; holds because it is an opaque key for the library, whose
// functions lock and may be called from any thread (contract §2.9).
unsafe impl Send for BatchHandle {}

/// One transfer of a batch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) transfer: Transfer,
    pub(crate) opcode: sys::hipFileOpcode_t,
    /// Comes back with the event.
    pub(crate) cookie: usize,
}

/// Makes a batch with room for `capacity` transfers.
pub(crate) fn set_up(api: &Api, capacity: c_uint) -> Result<BatchHandle, Cause> {
    let mut handle: sys::hipFileBatchHandle_t = ptr::null_mut();
    // SAFETY: requires a place for the handle; holds because it is a local.
    checked(unsafe { (api.hipFileBatchIOSetUp)(&raw mut handle, capacity) })?;
    Ok(BatchHandle(handle))
}

/// Starts transfers: all of them or, by most errors, none. At least one, and few enough for a count in C.
///
/// # Safety
///
/// Until its event was fetched, or the batch destroyed, or this call refused all of them, each entry's handle is registered
/// and its descriptor open, and its memory is device memory that nobody else uses for a read, or writes for a write.
pub(crate) unsafe fn submit(api: &Api, batch: &BatchHandle, entries: &[Entry]) -> Result<(), Cause> {
    let mut params: Vec<sys::hipFileIOParams_t> = entries.iter().map(params).collect();
    // The array has as many as it has entries, which the batch's capacity bounds.
    let count = params.len() as c_uint;
    // SAFETY: requires an array of `count` entries, whose files and memory are as said above; holds because the vector has
    // them, it is not kept, and the caller promises the rest. An unknown handle is an answer.
    checked(unsafe { (api.hipFileBatchIOSubmit)(batch.0, count, params.as_mut_ptr(), 0) })
}

fn params(entry: &Entry) -> sys::hipFileIOParams_t {
    let Entry { transfer, opcode, cookie } = *entry;
    let batch = sys::hipFileIOBatchParams_t {
        devPtr_base: transfer.base,
        file_offset: transfer.file_offset,
        devPtr_offset: transfer.buffer_offset,
        size: transfer.size,
    };
    sys::hipFileIOParams_t {
        mode: sys::hipFileBatch,
        u: sys::hipFileIOParamsUnion_t { batch },
        fh: transfer.handle.as_ptr(),
        opcode,
        cookie: ptr::without_provenance_mut::<c_void>(cookie),
    }
}

/// Waits until `min` transfers have ended, or all, or `timeout` has passed, and fetches as many events as there is room
/// for. `min` is at most the length of `events`, which is not 0.
pub(crate) fn status<'e>(
    api: &Api,
    batch: &BatchHandle,
    min: usize,
    events: &'e mut [sys::hipFileIOEvents_t],
    timeout: Option<Duration>,
) -> Result<&'e [sys::hipFileIOEvents_t], Cause> {
    let mut timeout = timeout.map(|timeout| libc::timespec {
        tv_sec: timeout.as_secs().try_into().unwrap_or(i64::MAX),
        tv_nsec: timeout.subsec_nanos().into(),
    });
    let timeout = timeout.as_mut().map_or(ptr::null_mut(), ptr::from_mut);
    // The capacity of a batch bounds both.
    let (min, mut count) = (min as c_uint, events.len() as c_uint);
    // SAFETY: requires room for `count` events and a timeout or none; holds because the slice has the room and `timeout` is
    // a local or null. An unknown handle is an answer.
    checked(unsafe {
        (api.hipFileBatchIOGetStatus)(batch.0, min, &raw mut count, events.as_mut_ptr(), timeout)
    })?;
    // A count above the room is not believed.
    let count = usize::try_from(count).map_or(events.len(), |count| count.min(events.len()));
    Ok(events.get(..count).unwrap_or_default())
}

/// Cancels what has not begun. `Ok` also says that the library knows the batch.
pub(crate) fn cancel(api: &Api, batch: &BatchHandle) -> Result<(), Cause> {
    // SAFETY: requires nothing: an unknown handle is an answer.
    checked(unsafe { (api.hipFileBatchIOCancel)(batch.0) })
}

/// Destroys a batch: cancels what has not begun and waits for the rest. An unknown batch is ignored.
///
/// # Safety
///
/// `batch` came from [`set_up`] and is not used again.
pub(crate) unsafe fn destroy(api: &Api, batch: &BatchHandle) {
    // SAFETY: requires a batch of the caller's own, since its address may be given out again; holds because the caller
    // promises it.
    unsafe { (api.hipFileBatchIODestroy)(batch.0) }
}
