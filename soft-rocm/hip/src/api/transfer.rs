//! Copies and fills.

use std::ffi::{c_int, c_void};

use soft_rocm_faults::point;

use crate::bindings::{hipDeviceptr_t, hipError_t, hipMemcpyKind};
use crate::entry::call;
use crate::misuse;
use crate::runtime::{current_device, memory, streams};
use crate::stream::host_function;

/// Copies between any two kinds of memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpy(
    dst: *mut c_void,
    src: *const c_void,
    size_bytes: usize,
    kind: hipMemcpyKind,
) -> hipError_t {
    call(point::hipMemcpy, size_bytes, || {
        let memory = memory()?;
        wait_for_default()?;
        // SAFETY: requires usable host ranges and no concurrent use; holds by the header.
        let copied = unsafe { memory.copy(dst.cast(), src.cast(), size_bytes, kind) };
        misuse::used(memory, point::hipMemcpy, &[(dst, size_bytes), (src, size_bytes)], copied)
    })
}

/// Fills device or pinned memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemset(dst: *mut c_void, value: c_int, size_bytes: usize) -> hipError_t {
    call(point::hipMemset, size_bytes, || {
        let memory = memory()?;
        wait_for_default()?;
        // SAFETY: requires that nobody uses the range meanwhile; holds by the header.
        let filled = unsafe { memory.fill(dst.cast(), value as u8, size_bytes) };
        misuse::used(memory, point::hipMemset, &[(dst, size_bytes)], filled)
    })
}

/// Fills words of device or pinned memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemsetD32(dest: hipDeviceptr_t, value: c_int, count: usize) -> hipError_t {
    call(point::hipMemsetD32, count.saturating_mul(4), || {
        let memory = memory()?;
        wait_for_default()?;
        // SAFETY: requires that nobody uses the range meanwhile; holds by the header.
        let filled = unsafe { memory.fill_words(dest.cast(), value as u32, count) };
        misuse::used(memory, point::hipMemsetD32, &[(dest, count.saturating_mul(4))], filled)
    })
}

/// Keeps order with the default stream: what is done after this comes after all that it has been given.
pub(super) fn wait_for_default() -> Result<(), hipError_t> {
    if host_function::is_inside() { Ok(()) } else { streams()?.wait_for_default(current_device()) }
}
