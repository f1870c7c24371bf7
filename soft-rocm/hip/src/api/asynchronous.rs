//! Copies, fills, allocations and values in memory, in the order of a stream.

use std::ffi::{c_int, c_uchar, c_uint, c_ushort, c_void};
use std::ptr;

use soft_rocm_faults::{Point, point};

use super::put;
use crate::bindings::{
    hipDeviceptr_t, hipError_t, hipErrorInvalidValue, hipMemcpyDeviceToDevice, hipMemcpyDeviceToHost,
    hipMemcpyHostToDevice, hipMemcpyKind, hipStream_t,
};
use crate::entry::call;
use crate::memory::Memory;
use crate::misuse;
use crate::runtime::{memory, streams};
use crate::stream::{Signal, Wait, Width, Work, host_function};

/// Copies in the order of a stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyAsync(
    dst: *mut c_void,
    src: *const c_void,
    size_bytes: usize,
    kind: hipMemcpyKind,
    stream: hipStream_t,
) -> hipError_t {
    call(point::hipMemcpyAsync, size_bytes, || {
        submit_copy(point::hipMemcpyAsync, dst, src, size_bytes, kind, stream)
    })
}

/// Copies host memory to a device, in the order of a stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyHtoDAsync(
    dst: hipDeviceptr_t,
    src: *const c_void,
    size_bytes: usize,
    stream: hipStream_t,
) -> hipError_t {
    call(point::hipMemcpyHtoDAsync, size_bytes, || {
        submit_copy(point::hipMemcpyHtoDAsync, dst, src, size_bytes, hipMemcpyHostToDevice, stream)
    })
}

/// Copies device memory to the host, in the order of a stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyDtoHAsync(
    dst: *mut c_void,
    src: hipDeviceptr_t,
    size_bytes: usize,
    stream: hipStream_t,
) -> hipError_t {
    call(point::hipMemcpyDtoHAsync, size_bytes, || {
        submit_copy(point::hipMemcpyDtoHAsync, dst, src, size_bytes, hipMemcpyDeviceToHost, stream)
    })
}

/// Copies device memory, in the order of a stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyDtoDAsync(
    dst: hipDeviceptr_t,
    src: hipDeviceptr_t,
    size_bytes: usize,
    stream: hipStream_t,
) -> hipError_t {
    call(point::hipMemcpyDtoDAsync, size_bytes, || {
        submit_copy(point::hipMemcpyDtoDAsync, dst, src, size_bytes, hipMemcpyDeviceToDevice, stream)
    })
}

/// Copies in the order of a stream and waits for it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemcpyWithStream(
    dst: *mut c_void,
    src: *const c_void,
    size_bytes: usize,
    kind: hipMemcpyKind,
    stream: hipStream_t,
) -> hipError_t {
    let (dst, src) = (dst.cast(), src.cast());
    call(point::hipMemcpyWithStream, size_bytes, || {
        let (streams, memory) = (streams()?, memory()?);
        let stream = streams.find(stream.addr())?;
        let ranges = ranges_of_copy(dst, src, size_bytes);
        if host_function::is_inside() {
            // SAFETY: requires usable host ranges and no concurrent use; holds by the header.
            let copied = unsafe { memory.copy(dst, src, size_bytes, kind) };
            return misuse::used(memory, point::hipMemcpyWithStream, &ranges, copied);
        }
        let sides = memory.sides_of_copy(dst, src, size_bytes, kind);
        misuse::used(memory, point::hipMemcpyWithStream, &ranges, sides)?;
        let work = Work::Copy { dst, src, len: size_bytes, kind };
        streams.submit(&stream, work, false, Vec::new())?.wait();
        stream.take_error()
    })
}

/// Fills bytes in the order of a stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemsetAsync(
    dst: *mut c_void,
    value: c_int,
    size_bytes: usize,
    stream: hipStream_t,
) -> hipError_t {
    call(point::hipMemsetAsync, size_bytes, || {
        submit_fill(point::hipMemsetAsync, dst, value as u8, size_bytes, stream)
    })
}

/// Fills bytes in the order of a stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemsetD8Async(
    dest: hipDeviceptr_t,
    value: c_uchar,
    count: usize,
    stream: hipStream_t,
) -> hipError_t {
    call(point::hipMemsetD8Async, count, || submit_fill(point::hipMemsetD8Async, dest, value, count, stream))
}

/// Fills elements of 2 bytes in the order of a stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemsetD16Async(
    dest: hipDeviceptr_t,
    value: c_ushort,
    count: usize,
    stream: hipStream_t,
) -> hipError_t {
    let dst = dest.cast::<u8>();
    call(point::hipMemsetD16Async, count.saturating_mul(2), || {
        submit(stream, |memory| {
            let range = [(dest.cast_const(), count.saturating_mul(2))];
            misuse::used(memory, point::hipMemsetD16Async, &range, memory.elements::<u16>(dst, count))?;
            Ok(Some(Work::FillHalves { dst, value, count }))
        })
    })
}

/// Fills words in the order of a stream.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMemsetD32Async(
    dst: hipDeviceptr_t,
    value: c_int,
    count: usize,
    stream: hipStream_t,
) -> hipError_t {
    let dst = dst.cast::<u8>();
    call(point::hipMemsetD32Async, count.saturating_mul(4), || {
        submit(stream, |memory| {
            let range = [(dst.cast_const().cast(), count.saturating_mul(4))];
            misuse::used(memory, point::hipMemsetD32Async, &range, memory.elements::<u32>(dst, count))?;
            Ok(Some(Work::FillWords { dst, value: value as u32, count }))
        })
    })
}

/// Allocates memory of a stream's device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipMallocAsync(
    dev_ptr: *mut *mut c_void,
    size: usize,
    stream: hipStream_t,
) -> hipError_t {
    call(point::hipMallocAsync, size, || {
        let stream = streams()?.find(stream.addr())?;
        // SAFETY: requires NULL or a writable place; holds by the header.
        unsafe { put(dev_ptr, ptr::null_mut()) }?;
        if size == 0 {
            return Ok(());
        }
        let address = memory()?.allocate(stream.settings().device, size)?;
        // SAFETY: as above.
        unsafe { put(dev_ptr, address.cast()) }
    })
}

/// Frees memory in the order of a stream.
#[unsafe(no_mangle)]
pub extern "C" fn hipFreeAsync(dev_ptr: *mut c_void, stream: hipStream_t) -> hipError_t {
    call(point::hipFreeAsync, 0, || {
        submit(stream, |memory| {
            let address = dev_ptr.addr();
            if address == 0 {
                return Ok(None);
            }
            let found = memory.find(address).filter(|found| found.kind.is_freed_as_device());
            let is_start = found.is_some_and(|found| found.base == address);
            let checked = if is_start { Ok(()) } else { Err(hipErrorInvalidValue) };
            misuse::ended(memory, point::hipFreeAsync, dev_ptr, checked)?;
            Ok(Some(Work::Free(address)))
        })
    })
}

/// Has a stream wait for 4 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamWaitValue32(
    stream: hipStream_t,
    ptr: *mut c_void,
    value: u32,
    flags: c_uint,
    mask: u32,
) -> hipError_t {
    call(point::hipStreamWaitValue32, 0, || wait(stream, ptr, Width::Four, value.into(), flags, mask.into()))
}

/// Has a stream wait for 8 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamWaitValue64(
    stream: hipStream_t,
    ptr: *mut c_void,
    value: u64,
    flags: c_uint,
    mask: u64,
) -> hipError_t {
    call(point::hipStreamWaitValue64, 0, || wait(stream, ptr, Width::Eight, value, flags, mask))
}

/// Has a stream store 4 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamWriteValue32(
    stream: hipStream_t,
    ptr: *mut c_void,
    value: u32,
    flags: c_uint,
) -> hipError_t {
    call(point::hipStreamWriteValue32, 0, || write(stream, ptr, Width::Four, value.into(), flags))
}

/// Has a stream store 8 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipStreamWriteValue64(
    stream: hipStream_t,
    ptr: *mut c_void,
    value: u64,
    flags: c_uint,
) -> hipError_t {
    call(point::hipStreamWriteValue64, 0, || write(stream, ptr, Width::Eight, value, flags))
}

fn wait(
    stream: hipStream_t,
    address: *mut c_void,
    width: Width,
    value: u64,
    condition: u32,
    mask: u64,
) -> Result<(), hipError_t> {
    submit(stream, |memory| {
        if !Wait::is_known(condition) {
            return Err(hipErrorInvalidValue);
        }
        let signal = Signal::new(memory, address.cast(), width)?;
        Ok(Some(Work::Wait(Wait { signal, value, mask, condition })))
    })
}

fn write(
    stream: hipStream_t,
    address: *mut c_void,
    width: Width,
    value: u64,
    flags: u32,
) -> Result<(), hipError_t> {
    submit(stream, |memory| {
        if flags != 0 {
            return Err(hipErrorInvalidValue);
        }
        Ok(Some(Work::Write(Signal::new(memory, address.cast(), width)?, value)))
    })
}

fn ranges_of_copy(dst: *mut u8, src: *const u8, len: usize) -> [(*const c_void, usize); 2] {
    [(dst.cast_const().cast(), len), (src.cast(), len)]
}

/// Gives a stream a copy, if it could be made now.
pub(super) fn submit_copy(
    point: Point,
    dst: *mut c_void,
    src: *const c_void,
    len: usize,
    kind: hipMemcpyKind,
    stream: hipStream_t,
) -> Result<(), hipError_t> {
    let (dst, src) = (dst.cast(), src.cast());
    submit(stream, |memory| {
        let sides = memory.sides_of_copy(dst, src, len, kind);
        misuse::used(memory, point, &ranges_of_copy(dst, src, len), sides)?;
        Ok(Some(Work::Copy { dst, src, len, kind }))
    })
}

/// Gives a stream a fill of bytes, if it could be made now.
fn submit_fill(
    point: Point,
    dst: *mut c_void,
    value: u8,
    len: usize,
    stream: hipStream_t,
) -> Result<(), hipError_t> {
    let range = [(dst.cast_const(), len)];
    let dst = dst.cast();
    submit(stream, |memory| {
        if len > 0 {
            misuse::used(memory, point, &range, memory.reach(dst, len))?;
        }
        Ok(Some(Work::Fill { dst, value, len }))
    })
}

/// Gives a stream what `work` makes of the arguments, if that is anything.
fn submit(
    stream: hipStream_t,
    work: impl FnOnce(&Memory) -> Result<Option<Work>, hipError_t>,
) -> Result<(), hipError_t> {
    let (streams, memory) = (streams()?, memory()?);
    let stream = streams.find(stream.addr())?;
    match work(memory)? {
        Some(work) => streams.submit(&stream, work, false, Vec::new()).map(|_| ()),
        None => Ok(()),
    }
}
