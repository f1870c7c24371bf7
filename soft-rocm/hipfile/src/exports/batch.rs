//! The `hipFileBatchIO` functions. There is no engine yet, so a batch can't be made (5030) and every handle is an
//! unknown one, which is what the other functions answer to.

use std::ffi::c_uint;

use hipfile_sys::{hipFileBatchHandle_t, hipFileError_t, hipFileIOEvents_t, hipFileIOParams_t};
use libc::timespec;

use crate::abi;
use crate::failure::Failure;

/// The largest capacity of a batch.
const MOST: c_uint = 128;

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn hipFileBatchIOSetUp(
    batch_idp: *mut hipFileBatchHandle_t,
    max_nr: c_uint,
) -> hipFileError_t {
    abi::status(|| {
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
    abi::status(|| Err(Failure::INVALID_VALUE))
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn hipFileBatchIOGetStatus(
    _batch_idp: hipFileBatchHandle_t,
    _min_nr: c_uint,
    _nr: *mut c_uint,
    _iocbp: *mut hipFileIOEvents_t,
    _timeout: *mut timespec,
) -> hipFileError_t {
    abi::status(|| Err(Failure::INVALID_VALUE))
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn hipFileBatchIOCancel(_batch_idp: hipFileBatchHandle_t) -> hipFileError_t {
    abi::status(|| Err(Failure::INVALID_VALUE))
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn hipFileBatchIODestroy(_batch_idp: hipFileBatchHandle_t) {}
