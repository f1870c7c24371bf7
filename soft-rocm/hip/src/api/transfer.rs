//! Copies and fills.

use std::ffi::{c_int, c_uchar, c_ushort, c_void};

use soft_rocm_faults::{Point, point};

use crate::bindings::{
    hipDeviceptr_t, hipError_t, hipMemcpyDeviceToDevice, hipMemcpyDeviceToHost, hipMemcpyHostToDevice,
    hipMemcpyKind,
};
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
    // SAFETY: requires usable host ranges and no concurrent use; holds by the header.
    call(point::hipMemcpy, size_bytes, || unsafe { copy(point::hipMemcpy, dst, src, size_bytes, kind) })
}

/// Copies host memory to a device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyHtoD(
    dst: hipDeviceptr_t,
    src: *const c_void,
    size_bytes: usize,
) -> hipError_t {
    call(point::hipMemcpyHtoD, size_bytes, || {
        // SAFETY: as above.
        unsafe { copy(point::hipMemcpyHtoD, dst, src, size_bytes, hipMemcpyHostToDevice) }
    })
}

/// Copies device memory to the host.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyDtoH(
    dst: *mut c_void,
    src: hipDeviceptr_t,
    size_bytes: usize,
) -> hipError_t {
    call(point::hipMemcpyDtoH, size_bytes, || {
        // SAFETY: as above.
        unsafe { copy(point::hipMemcpyDtoH, dst, src, size_bytes, hipMemcpyDeviceToHost) }
    })
}

/// Copies device memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyDtoD(
    dst: hipDeviceptr_t,
    src: hipDeviceptr_t,
    size_bytes: usize,
) -> hipError_t {
    call(point::hipMemcpyDtoD, size_bytes, || {
        // SAFETY: as above.
        unsafe { copy(point::hipMemcpyDtoD, dst, src, size_bytes, hipMemcpyDeviceToDevice) }
    })
}

/// Fills device or pinned memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemset(dst: *mut c_void, value: c_int, size_bytes: usize) -> hipError_t {
    // SAFETY: requires that nobody uses the range meanwhile; holds by the header.
    call(point::hipMemset, size_bytes, || unsafe { fill(point::hipMemset, dst, value as u8, size_bytes) })
}

/// Fills bytes of device or pinned memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemsetD8(dest: hipDeviceptr_t, value: c_uchar, count: usize) -> hipError_t {
    // SAFETY: as above.
    call(point::hipMemsetD8, count, || unsafe { fill(point::hipMemsetD8, dest, value, count) })
}

/// Fills elements of 2 bytes of device or pinned memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemsetD16(dest: hipDeviceptr_t, value: c_ushort, count: usize) -> hipError_t {
    call(point::hipMemsetD16, count.saturating_mul(2), || {
        let memory = memory()?;
        wait_for_default()?;
        // SAFETY: as above.
        let filled = unsafe { memory.fill_halves(dest.cast(), value, count) };
        misuse::used(memory, point::hipMemsetD16, &[(dest, count.saturating_mul(2))], filled)
    })
}

/// Fills words of device or pinned memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemsetD32(dest: hipDeviceptr_t, value: c_int, count: usize) -> hipError_t {
    call(point::hipMemsetD32, count.saturating_mul(4), || {
        let memory = memory()?;
        wait_for_default()?;
        // SAFETY: as above.
        let filled = unsafe { memory.fill_words(dest.cast(), value as u32, count) };
        misuse::used(memory, point::hipMemsetD32, &[(dest, count.saturating_mul(4))], filled)
    })
}

/// Copies after what the default stream has been given.
///
/// # Safety
///
/// A side that is not memory of the runtime is usable for that many bytes. Nobody writes the source or uses the
/// destination meanwhile.
pub(super) unsafe fn copy(
    point: Point,
    dst: *mut c_void,
    src: *const c_void,
    len: usize,
    kind: hipMemcpyKind,
) -> Result<(), hipError_t> {
    let memory = memory()?;
    wait_for_default()?;
    // SAFETY: requires usable host ranges and no concurrent use; holds by contract.
    let copied = unsafe { memory.copy(dst.cast(), src.cast(), len, kind) };
    misuse::used(memory, point, &[(dst, len), (src, len)], copied)
}

/// Fills bytes after what the default stream has been given.
///
/// # Safety
///
/// Nobody uses the range meanwhile.
unsafe fn fill(point: Point, dst: *mut c_void, value: u8, len: usize) -> Result<(), hipError_t> {
    let memory = memory()?;
    wait_for_default()?;
    // SAFETY: requires that nobody uses the range meanwhile; holds by contract.
    let filled = unsafe { memory.fill(dst.cast(), value, len) };
    misuse::used(memory, point, &[(dst, len)], filled)
}

/// Keeps order with the default stream: what is done after this comes after all that it has been given.
fn wait_for_default() -> Result<(), hipError_t> {
    if host_function::is_inside() { Ok(()) } else { streams()?.wait_for_default(current_device()) }
}
