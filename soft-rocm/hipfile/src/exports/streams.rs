//! `hipFileStreamRegister`, `hipFileStreamDeregister`.

use std::ffi::c_uint;

use hipfile_sys::{hipFileError_t, hipStream_t};
use soft_rocm_faults::point;

use crate::driver::Driver;
use crate::{abi, behaviour, hip};

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn hipFileStreamRegister(stream: hipStream_t, flags: c_uint) -> hipFileError_t {
    abi::status(point::hipFileStreamRegister, || {
        Driver::get().register_stream(hip::get, behaviour::get(), stream, flags)
    })
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn hipFileStreamDeregister(stream: hipStream_t) -> hipFileError_t {
    abi::status(point::hipFileStreamDeregister, || Driver::get().deregister_stream(stream))
}
