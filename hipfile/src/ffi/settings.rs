//! Properties and parameters. No release of AMD's library implements them: it answers 5030 to all.
#![allow(unsafe_code, reason = "calls C")]

use std::ffi::{CStr, OsStr, OsString, c_char, c_int};
use std::os::unix::ffi::OsStrExt;

use hipfile_sys as sys;
use sys::Api;

use super::{checked, filled};
use crate::error::Cause;
use crate::op_error::OpError;

const PROPERTIES: &str = "driver properties";
const PARAMETERS: &str = "parameters";

/// Room for a text and its end; no path of Linux needs more.
const TEXT: usize = libc::PATH_MAX as usize;

/// A limit that the driver has while it is open.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Limit {
    DirectIo,
    DeviceCache,
    PinnedMemory,
}

/// 5030, which is all that the library says where it does not implement a function, says just that.
fn implemented<T>(answer: Result<T, Cause>, feature: &'static str) -> Result<T, Cause> {
    answer.map_err(|cause| match cause {
        Cause::Op(OpError::InternalError) => Cause::Unimplemented(feature),
        other => other,
    })
}

pub(crate) fn properties(api: &Api) -> Result<sys::hipFileDriverProps_t, Cause> {
    // SAFETY: requires a pointer to the structure that may be written; holds because `filled` gives one.
    let answer = filled(|properties| unsafe { (api.hipFileDriverGetProperties)(properties) });
    implemented(answer, PROPERTIES)
}

pub(crate) fn set_poll_mode(api: &Api, poll: bool, threshold_kib: usize) -> Result<(), Cause> {
    // SAFETY: requires nothing.
    implemented(checked(unsafe { (api.hipFileDriverSetPollMode)(poll, threshold_kib) }), PROPERTIES)
}

pub(crate) fn set_limit(api: &Api, limit: Limit, kib: usize) -> Result<(), Cause> {
    let set = match limit {
        Limit::DirectIo => api.hipFileDriverSetMaxDirectIOSize,
        Limit::DeviceCache => api.hipFileDriverSetMaxCacheSize,
        Limit::PinnedMemory => api.hipFileDriverSetMaxPinnedMemSize,
    };
    // SAFETY: requires nothing.
    implemented(checked(unsafe { set(kib) }), PROPERTIES)
}

pub(crate) fn size(api: &Api, number: u32) -> Result<usize, Cause> {
    let (parameter, mut value) = (sys::hipFileSizeTConfigParameter_t(number), 0);
    // SAFETY: requires a place for the value; holds because `value` is one.
    let answer = unsafe { (api.hipFileGetParameterSizeT)(parameter, &raw mut value) };
    implemented(checked(answer), PARAMETERS).map(|()| value)
}

pub(crate) fn set_size(api: &Api, number: u32, value: usize) -> Result<(), Cause> {
    let parameter = sys::hipFileSizeTConfigParameter_t(number);
    // SAFETY: requires nothing.
    implemented(checked(unsafe { (api.hipFileSetParameterSizeT)(parameter, value) }), PARAMETERS)
}

pub(crate) fn flag(api: &Api, number: u32) -> Result<bool, Cause> {
    let parameter = sys::hipFileBoolConfigParameter_t(number);
    // A byte, so that it does not matter how the library spells true.
    let mut value = 0_u8;
    // SAFETY: requires a place for the value, which has the size of a byte; holds because `value` is one.
    let answer = unsafe { (api.hipFileGetParameterBool)(parameter, (&raw mut value).cast()) };
    implemented(checked(answer), PARAMETERS).map(|()| value != 0)
}

pub(crate) fn set_flag(api: &Api, number: u32, value: bool) -> Result<(), Cause> {
    let parameter = sys::hipFileBoolConfigParameter_t(number);
    // SAFETY: requires nothing.
    implemented(checked(unsafe { (api.hipFileSetParameterBool)(parameter, value) }), PARAMETERS)
}

pub(crate) fn text(api: &Api, number: u32) -> Result<OsString, Cause> {
    let parameter = sys::hipFileStringConfigParameter_t(number);
    let mut room = vec![0_u8; TEXT];
    let (place, len) = (room.as_mut_ptr().cast::<c_char>(), TEXT as c_int);
    // SAFETY: requires `len` bytes that may be written; holds because `room` has them.
    let answer = unsafe { (api.hipFileGetParameterString)(parameter, place, len) };
    implemented(checked(answer), PARAMETERS)?;
    match CStr::from_bytes_until_nul(&room) {
        Ok(text) => Ok(OsStr::from_bytes(text.to_bytes()).to_owned()),
        Err(_) => Err(Cause::Fault(format!("the library gave a text that does not end within {TEXT} bytes"))),
    }
}

pub(crate) fn set_text(api: &Api, number: u32, value: &CStr) -> Result<(), Cause> {
    let parameter = sys::hipFileStringConfigParameter_t(number);
    // SAFETY: requires a C string; holds by its type.
    implemented(checked(unsafe { (api.hipFileSetParameterString)(parameter, value.as_ptr()) }), PARAMETERS)
}
