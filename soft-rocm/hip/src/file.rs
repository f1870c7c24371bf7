//! Moves bytes between a file and device memory.

use std::ffi::{c_int, c_void};
use std::io;

use soft_rocm_faults::sys;

use crate::cuda;
use crate::place::Place;

/// Which way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// From the file.
    Read,
    /// To the file.
    Write,
}

/// Moves `len` bytes that start at an offset of the file; how many were moved.
///
/// # Errors
///
/// The system's, if no byte was moved; EIO where the driver of a GPU fails.
pub(crate) fn transfer(
    fd: c_int,
    offset: i64,
    place: Place<'_>,
    len: usize,
    direction: Direction,
) -> Result<usize, c_int> {
    let io = |memory: *mut c_void, len, skipped: usize| {
        let offset = offset.wrapping_add(skipped as i64);
        uninterrupted(|| match direction {
            // SAFETY: requires `len` writable bytes; holds for what is handed to it below.
            Direction::Read => unsafe { sys::pread(fd, memory, len, offset) },
            // SAFETY: requires `len` readable bytes; holds as above.
            Direction::Write => unsafe { sys::pwrite(fd, memory, len, offset) },
        })
    };
    match place {
        Place::Host(memory) => io(memory.cast(), len, 0),
        Place::Gpu { gpus, device, address } => {
            let in_order = direction == Direction::Write && is_appended_to(fd);
            cuda::Transfer { gpus, device, address, len, direction, in_order, io: &io }.run()
        }
    }
}

/// Whether writes go to the file's end, whatever their offset.
fn is_appended_to(fd: c_int) -> bool {
    // SAFETY: requires nothing; the system knows which descriptors are open.
    let flags = unsafe { sys::fcntl(fd, libc::F_GETFL, 0) };
    flags >= 0 && flags & libc::O_APPEND != 0
}

/// What a call answers that is made again while signals interrupt it: AMD's library asks its driver again, too.
#[inline]
fn uninterrupted(io: impl Fn() -> isize) -> Result<usize, c_int> {
    loop {
        if let Ok(count) = usize::try_from(io()) {
            return Ok(count);
        }
        match last_errno() {
            libc::EINTR => {}
            errno => return Err(errno),
        }
    }
}

#[cold]
fn last_errno() -> c_int {
    io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO)
}
