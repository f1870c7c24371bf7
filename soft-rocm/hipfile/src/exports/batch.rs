//! The `hipFileBatchIO` functions.

use std::ffi::c_uint;

use hipfile_sys::{
    hipFileBatchHandle_t, hipFileCanceled, hipFileComplete, hipFileError_t, hipFileFailed, hipFileIOEvents_t,
    hipFileIOParams_t,
};
use libc::timespec;
use soft_rocm_faults::point;

use crate::batch::{self, Event, MOST, Outcome, Patience, Submission};
use crate::behaviour::{self, Version};
use crate::driver::Driver;
use crate::failure::Failure;
use crate::{abi, hip};

/// Before 0.5 batches are never run and there is nothing to ask about them.
fn runs() -> bool {
    behaviour::get().version >= Version::V0_5
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn hipFileBatchIOSetUp(
    batch_idp: *mut hipFileBatchHandle_t,
    max_nr: c_uint,
) -> hipFileError_t {
    abi::status(point::hipFileBatchIOSetUp, || {
        let capacity = max_nr as usize;
        if batch_idp.is_null() || !(1..=MOST).contains(&capacity) {
            return Err(Failure::INVALID_VALUE);
        }
        let handle = Driver::get().set_up_batch(capacity);
        // SAFETY: requires a writable handle; the C interface demands one, and it is not null.
        unsafe { batch_idp.write(handle) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn hipFileBatchIOSubmit(
    batch_idp: hipFileBatchHandle_t,
    nr: c_uint,
    iocbp: *mut hipFileIOParams_t,
    _flags: c_uint,
) -> hipFileError_t {
    abi::status(point::hipFileBatchIOSubmit, || {
        let submission = Submission {
            driver: Driver::get(),
            hip: hip::get,
            pool: batch::pool(),
            version: behaviour::get().version,
        };
        // SAFETY: requires `nr` entries unless null; the C interface demands them.
        unsafe { submission.submit(batch_idp, nr, iocbp) }
    })
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn hipFileBatchIOGetStatus(
    batch_idp: hipFileBatchHandle_t,
    min_nr: c_uint,
    nr: *mut c_uint,
    iocbp: *mut hipFileIOEvents_t,
    timeout: *mut timespec,
) -> hipFileError_t {
    abi::status(point::hipFileBatchIOGetStatus, || {
        if !runs() {
            return Err(Failure::INTERNAL);
        }
        if iocbp.is_null() || nr.is_null() {
            return Err(Failure::INVALID_VALUE);
        }
        // SAFETY: requires a readable number; the C interface demands one, and it is not null.
        let most = unsafe { nr.read() };
        if most == 0 || min_nr > most {
            return Err(Failure::INVALID_VALUE);
        }
        let batch = Driver::get().batch(batch_idp).ok_or(Failure::INVALID_VALUE)?;
        // SAFETY: requires a readable time unless null; the C interface demands it.
        let patience = match unsafe { timeout.as_ref() } {
            Some(time) => Patience::from_now(time.tv_sec, time.tv_nsec).ok_or(Failure::INVALID_VALUE)?,
            None => Patience::Forever,
        };
        let need = min_nr as usize;
        if need > batch.capacity() {
            return Err(Failure::INVALID_VALUE);
        }
        let mut count = 0;
        batch.wait(batch::pool(), need, patience, most as usize, |event| {
            // SAFETY: requires a place inside the caller's array; holds because no more than `most` are delivered.
            let place = unsafe { iocbp.add(count as usize) };
            // SAFETY: requires a writable place; the C interface demands an array of that many.
            unsafe { place.write(translate(event)) };
            count += 1;
        });
        // SAFETY: requires a writable number; the C interface demands one, and it is not null.
        unsafe { nr.write(count) };
        Ok(())
    })
}

fn translate(event: Event) -> hipFileIOEvents_t {
    let (status, ret) = match event.outcome {
        Outcome::Complete(moved) => (hipFileComplete, moved),
        Outcome::Failed(reason) => (hipFileFailed, reason as usize),
        Outcome::Canceled => (hipFileCanceled, 0),
    };
    hipFileIOEvents_t { cookie: std::ptr::with_exposed_provenance_mut(event.cookie), status, ret }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn hipFileBatchIOCancel(batch_idp: hipFileBatchHandle_t) -> hipFileError_t {
    abi::status(point::hipFileBatchIOCancel, || {
        if !runs() {
            return Err(Failure::INTERNAL);
        }
        Driver::get().batch(batch_idp).ok_or(Failure::INVALID_VALUE)?.cancel();
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn hipFileBatchIODestroy(batch_idp: hipFileBatchHandle_t) {
    abi::silent(point::hipFileBatchIODestroy, || {
        if runs() {
            Driver::get().destroy_batch(batch_idp);
        }
    });
}
