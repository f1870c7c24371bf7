//! `hipFileDriverOpen`, `hipFileDriverClose`, `hipFileUseCount`.

use hipfile_sys::hipFileError_t;

use crate::abi;
use crate::driver::Driver;

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn hipFileDriverOpen() -> hipFileError_t {
    abi::status(|| {
        Driver::get().open();
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn hipFileDriverClose() -> hipFileError_t {
    abi::status(|| Driver::get().close())
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn hipFileUseCount() -> i64 {
    abi::contained(|| Ok(Driver::get().use_count())).unwrap_or(-1)
}
