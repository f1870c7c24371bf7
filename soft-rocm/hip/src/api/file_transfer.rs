//! An addition of ours: between files and device memory that host code can't reach. libhipfile of the software ROCm has it for its
//! fallback; it looks the symbol up with dlsym and does without on other runtimes.

use std::ffi::{c_int, c_longlong, c_void};

use super::host_address;
use crate::file::{self, Direction};
use crate::place::Place;

/// Moves bytes between a file and device memory that host code can't reach; what it answers is said in `softrocm.h`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn softrocm_file_transfer(
    fd: c_int,
    file_offset: c_longlong,
    device_ptr: *mut c_void,
    size: usize,
    is_write: c_int,
    moved: *mut usize,
) -> c_int {
    const NOT_HERE: c_int = -1;
    if host_address::is_planned() {
        return NOT_HERE;
    }
    let Some(place @ Place::Gpu { .. }) = host_address::in_one_allocation(device_ptr, size) else {
        return NOT_HERE;
    };
    let direction = if is_write == 0 { Direction::Read } else { Direction::Write };
    match file::transfer(fd, file_offset, place, size, direction) {
        Ok(count) => {
            // SAFETY: requires a writable place; holds by the header.
            unsafe { moved.write(count) };
            0
        }
        Err(errno) => errno,
    }
}
