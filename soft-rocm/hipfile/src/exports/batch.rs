//! The `hipFileBatchIO` functions. There is no engine yet, so a batch can't be made (5030) and every handle is an
//! unknown one, which is what the other functions answer to.

use std::ffi::c_uint;

use hipfile_sys::{hipFileBatchHandle_t, hipFileError_t, hipFileIOEvents_t, hipFileIOParams_t};
use libc::timespec;
use soft_rocm_faults::point;

use crate::abi;
use crate::failure::Failure;

/// The largest capacity of a batch.
const MOST: c_uint = 128;

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn hipFileBatchIOSetUp(
    batch_idp: *mut hipFileBatchHandle_t,
    max_nr: c_uint,
) -> hipFileError_t {
    abi::status(point::hipFileBatchIOSetUp, || {
        if batch_idp.is_null() || !(1..=MOST).contains(&max_nr) {
            return Err(Failure::INVALID_VALUE);
        }
        Err(Failure::INTERNAL)
    })
}

// Without a batch to name, the arguments of the next three are invalid whatever they are.

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn hipFileBatchIOSubmit(
    _batch_idp: hipFileBatchHandle_t,
    _nr: c_uint,
    _iocbp: *mut hipFileIOParams_t,
    _flags: c_uint,
) -> hipFileError_t {
    abi::status(point::hipFileBatchIOSubmit, || Err(Failure::INVALID_VALUE))
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn hipFileBatchIOGetStatus(
    _batch_idp: hipFileBatchHandle_t,
    _min_nr: c_uint,
    _nr: *mut c_uint,
    _iocbp: *mut hipFileIOEvents_t,
    _timeout: *mut timespec,
) -> hipFileError_t {
    abi::status(point::hipFileBatchIOGetStatus, || Err(Failure::INVALID_VALUE))
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn hipFileBatchIOCancel(_batch_idp: hipFileBatchHandle_t) -> hipFileError_t {
    abi::status(point::hipFileBatchIOCancel, || Err(Failure::INVALID_VALUE))
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn hipFileBatchIODestroy(_batch_idp: hipFileBatchHandle_t) {
    abi::silent(point::hipFileBatchIODestroy, || ());
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ptr;

    #[test]
    fn set_up_checks_its_arguments() {
        // HF-BATCH-01
        let untouched = ptr::without_provenance_mut(8);
        let mut batch: hipFileBatchHandle_t = untouched;
        for capacity in [0, 129, c_uint::MAX] {
            // SAFETY: requires a writable handle; holds, it is a local.
            assert_eq!(unsafe { hipFileBatchIOSetUp(&mut batch, capacity) }.err.0, 5022);
        }
        // SAFETY: requires nothing: the pointer is null.
        assert_eq!(unsafe { hipFileBatchIOSetUp(ptr::null_mut(), 1) }.err.0, 5022);
        for capacity in [1, 128] {
            // SAFETY: requires a writable handle; holds, it is a local.
            assert_eq!(unsafe { hipFileBatchIOSetUp(&mut batch, capacity) }.err.0, 5030);
        }
        assert_eq!(batch, untouched);
    }

    #[test]
    fn every_handle_is_unknown() {
        // HF-BATCH-02, HF-BATCH-03
        for batch in [ptr::null_mut(), ptr::without_provenance_mut(8)] {
            // SAFETY: requires nothing: the array has no entries.
            assert_eq!(unsafe { hipFileBatchIOSubmit(batch, 0, ptr::null_mut(), 0) }.err.0, 5022);
            // SAFETY: requires nothing: there is no array.
            assert_eq!(unsafe { hipFileBatchIOSubmit(batch, 1, ptr::null_mut(), 0) }.err.0, 5022);
            let (mut events, mut count) = ([hipFileIOEvents_t::default()], 1);
            // SAFETY: requires that many writable events; holds, they are locals.
            let status = unsafe {
                hipFileBatchIOGetStatus(batch, 0, &mut count, events.as_mut_ptr(), ptr::null_mut())
            };
            assert_eq!((status.err.0, count), (5022, 1));
            // SAFETY: requires nothing: the handle names no batch.
            assert_eq!(unsafe { hipFileBatchIOCancel(batch) }.err.0, 5022);
            // SAFETY: as above.
            unsafe { hipFileBatchIODestroy(batch) };
        }
    }
}
