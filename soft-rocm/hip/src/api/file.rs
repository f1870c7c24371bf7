//! Files straight into and out of device memory: what AMD's kernel driver does between storage and GPU, done with calls of the
//! operating system.

use std::ffi::{c_int, c_void};

use soft_rocm_faults::{Fault, Point, Subject, point};

use super::{host_address, put};
use crate::bindings::{
    hipAmdFileHandle_t, hipError_t, hipErrorInvalidDevice, hipErrorInvalidValue, hipErrorUnknown,
};
use crate::file::Direction;
use crate::runtime::runtime;
use crate::{entry, file, last_error, misuse};

/// Reads from a file into device memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipAmdFileRead(
    handle: hipAmdFileHandle_t,
    device_ptr: *mut c_void,
    size: u64,
    file_offset: i64,
    size_copied: *mut u64,
    status: *mut i32,
) -> hipError_t {
    // SAFETY: requires that any 4 bytes are an int; holds for all values.
    let fd = unsafe { handle.fd };
    let direction = Direction::Read;
    let request = Request { point: point::hipAmdFileRead, fd, device_ptr, size, file_offset, direction };
    // SAFETY: requires NULL or writable places; holds by the header.
    last_error::answer(unsafe { transfer(request, size_copied, status) })
}

/// Writes device memory to a file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hipAmdFileWrite(
    handle: hipAmdFileHandle_t,
    device_ptr: *mut c_void,
    size: u64,
    file_offset: i64,
    size_copied: *mut u64,
    status: *mut i32,
) -> hipError_t {
    // SAFETY: requires that any 4 bytes are an int; holds for all values.
    let fd = unsafe { handle.fd };
    let direction = Direction::Write;
    let request = Request { point: point::hipAmdFileWrite, fd, device_ptr, size, file_offset, direction };
    // SAFETY: requires NULL or writable places; holds by the header.
    last_error::answer(unsafe { transfer(request, size_copied, status) })
}

/// What is to be transferred.
struct Request {
    point: Point,
    fd: c_int,
    device_ptr: *mut c_void,
    size: u64,
    file_offset: i64,
    direction: Direction,
}

impl Request {
    /// Whether all numbers are multiples of what the driver asks for; a power of two.
    fn is_aligned(&self, to: u64) -> bool {
        let numbers = self.size | self.file_offset as u64 | self.device_ptr.addr() as u64;
        numbers & (to - 1) == 0
    }
}

/// One transfer, unless a plan says otherwise.
///
/// # Safety
///
/// `size_copied` and `status` are NULL or writable.
unsafe fn transfer(request: Request, size_copied: *mut u64, status: *mut i32) -> Result<(), hipError_t> {
    let runtime = runtime()?;
    let memory = runtime.memory().ok_or(hipErrorInvalidDevice)?;
    let fault = entry::fault(request.point, request.size, Subject::Descriptor(request.fd))?;
    // SAFETY: requires NULL or a writable place; holds by contract.
    unsafe { put(size_copied, 0) }?;
    // SAFETY: as above.
    unsafe { put(status, 0) }?;
    let size = request.size;
    let Some(len) = usize::try_from(size).ok().filter(|len| *len > 0) else { return Ok(()) };
    let found = host_address::in_one_allocation(request.device_ptr, len).ok_or(hipErrorInvalidValue);
    let found = misuse::used(memory, request.point, &[(request.device_ptr, len)], found);
    let count = match (fault, found) {
        (Some(Fault::Errno(errno)), _) => Err(errno),
        (_, Ok(_)) if !request.is_aligned(runtime.file_alignment()) => Err(libc::EINVAL),
        (_, Err(_)) => Err(libc::EINVAL),
        (fault, Ok(place)) => {
            let most = if let Some(Fault::Short(most)) = fault { most.min(size) as usize } else { len };
            file::transfer(request.fd, request.file_offset, place, most, request.direction)
        }
    };
    match count {
        // SAFETY: as above.
        Ok(count) => unsafe { put(size_copied, count as u64) },
        Err(errno) => {
            // SAFETY: as above.
            unsafe { put(status, errno) }?;
            Err(hipErrorUnknown)
        }
    }
}
