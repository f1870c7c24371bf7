//! `hipFileDriverOpen`, `hipFileDriverClose`, `hipFileUseCount`.

use hipfile_sys::hipFileError_t;
use soft_rocm_faults::point;

use crate::abi;
use crate::driver::Driver;

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn hipFileDriverOpen() -> hipFileError_t {
    abi::status(point::hipFileDriverOpen, || {
        Driver::get().open();
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn hipFileDriverClose() -> hipFileError_t {
    abi::status(point::hipFileDriverClose, || Driver::get().close())
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn hipFileUseCount() -> i64 {
    abi::value(point::hipFileUseCount, -1, || Driver::get().use_count())
}
