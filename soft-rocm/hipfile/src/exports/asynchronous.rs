//! `hipFileReadAsync`, `hipFileWriteAsync`.

use std::ffi::c_void;

use hipfile_sys::{hipFileError_t, hipFileHandle_t, hipStream_t, hoff_t};
use soft_rocm_faults::{Point, point};

use crate::abi::Called;
use crate::asynchronous::{Library, Pointers, Submission, submit};
use crate::config::Config;
use crate::driver::Driver;
use crate::stats::Direction;
use crate::{abi, behaviour, hip};

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn hipFileReadAsync(
    fh: hipFileHandle_t,
    buffer_base: *mut c_void,
    size_p: *mut usize,
    file_offset_p: *mut hoff_t,
    buffer_offset_p: *mut hoff_t,
    bytes_read_p: *mut isize,
    stream: hipStream_t,
) -> hipFileError_t {
    let pointers = Pointers {
        size: size_p,
        file_offset: file_offset_p,
        buffer_offset: buffer_offset_p,
        result: bytes_read_p,
    };
    // SAFETY: requires pointers as the C interface demands them; holds by contract.
    unsafe {
        transfer(
            point::hipFileReadAsync,
            Submission { direction: Direction::Read, file: fh, buffer: buffer_base, pointers, stream },
        )
    }
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn hipFileWriteAsync(
    fh: hipFileHandle_t,
    buffer_base: *mut c_void,
    size_p: *mut usize,
    file_offset_p: *mut hoff_t,
    buffer_offset_p: *mut hoff_t,
    bytes_written_p: *mut isize,
    stream: hipStream_t,
) -> hipFileError_t {
    let pointers = Pointers {
        size: size_p,
        file_offset: file_offset_p,
        buffer_offset: buffer_offset_p,
        result: bytes_written_p,
    };
    // SAFETY: requires pointers as the C interface demands them; holds by contract.
    unsafe {
        transfer(
            point::hipFileWriteAsync,
            Submission { direction: Direction::Write, file: fh, buffer: buffer_base, pointers, stream },
        )
    }
}

/// # Safety
///
/// As for [`submit`].
unsafe fn transfer(point: Point, submission: Submission) -> hipFileError_t {
    let file = || Driver::get().descriptor(submission.file);
    abi::status(Called::on(point, &file), || {
        let driver = Driver::get();
        let library = Library { driver, hip: hip::get, config: Config::get, behaviour: behaviour::get() };
        // SAFETY: requires pointers that are null or good until the operation has ended; holds by contract.
        unsafe { submit(&library, &submission) }
    })
}
