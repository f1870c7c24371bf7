//! `hipFileRead`, `hipFileWrite`.

use std::ffi::c_void;

use hipfile_sys::{hipFileHandle_t, hoff_t};
use soft_rocm_faults::{Point, point};

use crate::config::Config;
use crate::driver::Driver;
use crate::stats::{Direction, Stats};
use crate::transfer::Request;
use crate::{abi, hip};

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn hipFileRead(
    fh: hipFileHandle_t,
    buffer_base: *mut c_void,
    size: usize,
    file_offset: hoff_t,
    buffer_offset: hoff_t,
) -> isize {
    transfer(point::hipFileRead, Direction::Read, fh, buffer_base, size, file_offset, buffer_offset)
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn hipFileWrite(
    fh: hipFileHandle_t,
    buffer_base: *const c_void,
    size: usize,
    file_offset: hoff_t,
    buffer_offset: hoff_t,
) -> isize {
    transfer(point::hipFileWrite, Direction::Write, fh, buffer_base, size, file_offset, buffer_offset)
}

#[inline]
fn transfer(
    point: Point,
    direction: Direction,
    fh: hipFileHandle_t,
    buffer_base: *const c_void,
    size: usize,
    file_offset: hoff_t,
    buffer_offset: hoff_t,
) -> isize {
    abi::count(
        point,
        size,
        || Driver::get().descriptor(fh),
        |size| {
            let (file, buffer) = Driver::get().resolve(hip::get, fh, buffer_base)?;
            let request =
                Request { direction, file: &file, buffer: &buffer, size, file_offset, buffer_offset };
            request.run(hip::get()?, Config::get(), Stats::get())
        },
    )
}
