//! `hipFileBufRegister`, `hipFileBufDeregister`.

use std::ffi::{c_int, c_void};

use hipfile_sys::hipFileError_t;
use soft_rocm_faults::point;

use crate::abi::Called;
use crate::driver::Driver;
use crate::stats::Stats;
use crate::{abi, hip};

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn hipFileBufRegister(
    buffer_base: *const c_void,
    length: usize,
    _flags: c_int,
) -> hipFileError_t {
    abi::status(Called::sized(point::hipFileBufRegister, length), || {
        Driver::get().register_buffer(hip::get, buffer_base, length)?;
        Stats::get().buffer_registered();
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn hipFileBufDeregister(buffer_base: *const c_void) -> hipFileError_t {
    abi::status(point::hipFileBufDeregister, || Driver::get().deregister_buffer(buffer_base))
}
