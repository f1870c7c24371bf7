//! Whether the library takes pinned host memory. Nothing says so, so it is given some.
#![allow(unsafe_code, reason = "registers memory")]

use std::mem;

use hip_alloc::PinnedBuffer;
use hipfile_sys::Api;

use crate::error::Cause;
use crate::ffi;
use crate::op_error::OpError;

const PAGE: usize = 4096;

/// Whether the library registers a page of pinned host memory.
pub(super) fn supported(api: &Api) -> Result<bool, Cause> {
    let mut page = PinnedBuffer::zeroed(PAGE).map_err(Cause::Memory)?;
    let base = page.as_mut_ptr().cast();
    // Registering opens the library and leaves it open, unless it is open already.
    ffi::open_driver(api)?;
    // SAFETY: requires memory that stays allocated until it is deregistered; holds because `page` is, or is leaked.
    let answer = unsafe { ffi::register_memory(api, base, PAGE, 0) };
    if answer.is_ok() && ffi::deregister_memory(api, base).is_err() {
        hip_alloc::record_leak(PAGE);
        mem::forget(page);
    }
    // SAFETY: requires an open of our own that nothing relies on any more; holds for the one above, since the page's
    // registration is removed, and where it is not the page stays allocated.
    unsafe { ffi::close_driver(api) }?;
    match answer {
        Ok(()) => Ok(true),
        Err(cause) if cause.op_error() == Some(OpError::HipMemoryTypeInvalid) => Ok(false),
        Err(cause) => Err(cause),
    }
}
