//! The parameters, which AMD's library implements in no version: 5030, arguments unread.

use std::ffi::{c_char, c_int};

use hipfile_sys::{
    hipFileBoolConfigParameter_t, hipFileError_t, hipFileSizeTConfigParameter_t,
    hipFileStringConfigParameter_t,
};
use soft_rocm_faults::point;

use crate::abi;
use crate::failure::Failure;

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn hipFileGetParameterSizeT(
    _param: hipFileSizeTConfigParameter_t,
    _value: *mut usize,
) -> hipFileError_t {
    abi::status(point::hipFileGetParameterSizeT, || Err(Failure::INTERNAL))
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn hipFileGetParameterBool(
    _param: hipFileBoolConfigParameter_t,
    _value: *mut bool,
) -> hipFileError_t {
    abi::status(point::hipFileGetParameterBool, || Err(Failure::INTERNAL))
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn hipFileGetParameterString(
    _param: hipFileStringConfigParameter_t,
    _desc_str: *mut c_char,
    _len: c_int,
) -> hipFileError_t {
    abi::status(point::hipFileGetParameterString, || Err(Failure::INTERNAL))
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn hipFileSetParameterSizeT(
    _param: hipFileSizeTConfigParameter_t,
    _value: usize,
) -> hipFileError_t {
    abi::status(point::hipFileSetParameterSizeT, || Err(Failure::INTERNAL))
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn hipFileSetParameterBool(
    _param: hipFileBoolConfigParameter_t,
    _value: bool,
) -> hipFileError_t {
    abi::status(point::hipFileSetParameterBool, || Err(Failure::INTERNAL))
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn hipFileSetParameterString(
    _param: hipFileStringConfigParameter_t,
    _desc_str: *const c_char,
) -> hipFileError_t {
    abi::status(point::hipFileSetParameterString, || Err(Failure::INTERNAL))
}
