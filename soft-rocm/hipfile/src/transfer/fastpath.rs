//! The fast path: one call of HIP moves the whole request on the descriptor with O_DIRECT.

use std::cell::Cell;

use hipfile_sys::hipSuccess;

use super::{Request, max_size};
use crate::failure::Failure;
use crate::hip::{FileHandle, Hip};
use crate::stats::Direction;

/// Moves the bytes and returns how many, also if fewer than asked for.
///
/// # Errors
///
/// The system error that HIP reports, whatever else it says; else HIP's own.
pub(crate) fn run(hip: &Hip, request: &Request<'_>) -> Result<usize, Failure> {
    // Neither can be missing once the request was accepted.
    let ais = hip.ais().ok_or(Failure::INTERNAL)?;
    let fd = request.file.direct.ok_or(Failure::INTERNAL)?;
    initialize_thread(hip)?;

    let call = match request.direction {
        Direction::Read => ais.read,
        Direction::Write => ais.write,
    };
    let size = request.size.min(max_size()) as u64;
    let (mut moved, mut status) = (0, 0);
    // SAFETY: requires an open descriptor and two writable values; holds as far as the caller has not closed the
    // descriptor, which the system would notice. HIP checks the device range.
    let code = unsafe {
        call(FileHandle::new(fd), request.address(), size, request.file_offset, &mut moved, &mut status)
    };
    if status != 0 {
        return Err(Failure::Os(status.wrapping_abs()));
    }
    if code != hipSuccess {
        return Err(Failure::Hip(code));
    }
    Ok(moved as usize)
}

/// HIP wants to be initialised on each thread before its first transfer.
fn initialize_thread(hip: &Hip) -> Result<(), Failure> {
    thread_local! {
        static INITIALIZED: Cell<bool> = const { Cell::new(false) };
    }
    if !INITIALIZED.get() {
        hip.initialize().map_err(Failure::Hip)?;
        INITIALIZED.set(true);
    }
    Ok(())
}
