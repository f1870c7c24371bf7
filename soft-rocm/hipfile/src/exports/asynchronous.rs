//! `hipFileReadAsync`, `hipFileWriteAsync`: the checks of a submission. There is no engine yet to submit to, so a
//! request that passes them all is refused with 5030.

use std::ffi::c_void;

use hipfile_sys::{hipFileError_t, hipFileHandle_t, hipStream_t, hoff_t};

use crate::config::Config;
use crate::driver::Driver;
use crate::failure::Failure;
use crate::hip::Hip;
use crate::stats::Direction;
use crate::stream::Stream;
use crate::transfer::{Request, max_size, select};
use crate::{abi, hip};

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
    let values = Values { size_p, file_offset_p, buffer_offset_p, bytes_p: bytes_read_p };
    abi::status(|| submit(Driver::get(), hip::get, Direction::Read, fh, buffer_base, values, stream))
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
    let values = Values { size_p, file_offset_p, buffer_offset_p, bytes_p: bytes_written_p };
    abi::status(|| submit(Driver::get(), hip::get, Direction::Write, fh, buffer_base, values, stream))
}

/// The pointers of a submission.
#[derive(Clone, Copy)]
struct Values {
    size_p: *mut usize,
    file_offset_p: *mut hoff_t,
    buffer_offset_p: *mut hoff_t,
    bytes_p: *mut isize,
}

impl Values {
    fn any_null(&self) -> bool {
        self.size_p.is_null()
            || self.file_offset_p.is_null()
            || self.buffer_offset_p.is_null()
            || self.bytes_p.is_null()
    }
}

fn submit(
    driver: &Driver,
    hip: fn() -> Result<&'static Hip, Failure>,
    direction: Direction,
    fh: hipFileHandle_t,
    buffer_base: *mut c_void,
    values: Values,
    stream: hipStream_t,
) -> Result<(), Failure> {
    if driver.open_if_closed() || buffer_base.is_null() || values.any_null() {
        return Err(Failure::INVALID_VALUE);
    }
    let (file, buffer) = driver.resolve(hip, fh, buffer_base).map_err(|failure| match failure {
        Failure::MEMORY_TYPE => Failure::INTERNAL,
        // Another thread closed the driver just now.
        Failure::Os(_) => Failure::INVALID_VALUE,
        other => other,
    })?;
    let hip = hip()?;
    let stream = match driver.stream(stream) {
        Some(registered) => registered,
        None => Stream::new(hip, stream)?,
    };
    let request = Request {
        direction,
        file: &file,
        buffer: &buffer,
        // SAFETY: requires a readable value; the C interface demands one, and it is not null.
        size: unsafe { values.size_p.read() },
        // SAFETY: as above.
        file_offset: unsafe { values.file_offset_p.read() },
        // SAFETY: as above.
        buffer_offset: unsafe { values.buffer_offset_p.read() },
    };
    select(hip, Config::get(), &request).ok_or(Failure::INTERNAL)?;
    request.check_offsets().map_err(|_| Failure::INVALID_VALUE)?;
    buffer.check_range(request.buffer_offset, request.size.min(max_size()))?;
    if buffer.device != stream.device {
        return Err(Failure::INVALID_VALUE);
    }
    Err(Failure::INTERNAL)
}

#[cfg(test)]
mod tests;
