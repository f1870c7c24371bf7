//! The parameters, which AMD's library implements in no version: 5030, arguments unread. With the extension
//! `parameters` they are set while the driver is closed and read at any time.

use std::ffi::{CStr, c_char, c_int};

use hipfile_sys::{
    hipFileBoolConfigParameter_t, hipFileError_t, hipFileSizeTConfigParameter_t,
    hipFileStringConfigParameter_t,
};
use soft_rocm_faults::point;

use crate::abi;
use crate::behaviour;
use crate::driver::Driver;
use crate::failure::Failure;
use crate::settings::Settings;

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn hipFileGetParameterSizeT(
    param: hipFileSizeTConfigParameter_t,
    value: *mut usize,
) -> hipFileError_t {
    abi::status(point::hipFileGetParameterSizeT, || get(value, |settings| settings.size(param)))
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn hipFileGetParameterBool(
    param: hipFileBoolConfigParameter_t,
    value: *mut bool,
) -> hipFileError_t {
    abi::status(point::hipFileGetParameterBool, || get(value, |settings| settings.flag(param)))
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn hipFileGetParameterString(
    param: hipFileStringConfigParameter_t,
    desc_str: *mut c_char,
    len: c_int,
) -> hipFileError_t {
    abi::status(point::hipFileGetParameterString, || {
        extension()?;
        let text = Driver::get().setting(|settings| settings.text(param).map(CStr::to_owned))?;
        let bytes = text.as_bytes_with_nul();
        let room = usize::try_from(len).unwrap_or(0);
        if desc_str.is_null() || room < bytes.len() {
            return Err(Failure::INVALID_VALUE);
        }
        // SAFETY: requires that many writable bytes; the C interface demands `len` of them, and it is no more.
        unsafe { desc_str.cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn hipFileSetParameterSizeT(
    param: hipFileSizeTConfigParameter_t,
    value: usize,
) -> hipFileError_t {
    abi::status(point::hipFileSetParameterSizeT, || stage(|settings| settings.set_size(param, value)))
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn hipFileSetParameterBool(
    param: hipFileBoolConfigParameter_t,
    value: bool,
) -> hipFileError_t {
    abi::status(point::hipFileSetParameterBool, || stage(|settings| settings.set_flag(param, value)))
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn hipFileSetParameterString(
    param: hipFileStringConfigParameter_t,
    desc_str: *const c_char,
) -> hipFileError_t {
    abi::status(point::hipFileSetParameterString, || {
        stage(|settings| {
            if desc_str.is_null() {
                return Err(Failure::INVALID_VALUE);
            }
            // SAFETY: requires a C string; the C interface demands one, and it is not null.
            settings.set_text(param, unsafe { CStr::from_ptr(desc_str) })
        })
    })
}

/// Refuses where the library is as AMD's.
fn extension() -> Result<(), Failure> {
    if behaviour::get().extensions.parameters { Ok(()) } else { Err(Failure::INTERNAL) }
}

fn get<T>(place: *mut T, value: impl FnOnce(&Settings) -> Result<T, Failure>) -> Result<(), Failure> {
    extension()?;
    let value = Driver::get().setting(value)?;
    if place.is_null() {
        return Err(Failure::INVALID_VALUE);
    }
    // SAFETY: requires a writable value; the C interface demands one, and it is not null.
    unsafe { place.write(value) };
    Ok(())
}

/// Changes a value, which is possible as long as the driver is closed.
fn stage(change: impl FnOnce(&mut Settings) -> Result<(), Failure>) -> Result<(), Failure> {
    extension()?;
    Driver::get().when_closed(change)?
}
