//! The fallback: the host moves the data, through the page cache.
//!
//! Where HIP gives host code a way to the device memory, the system reads and writes there directly, in one call. Else
//! the data passes through a bounce buffer. Either way the transfer waits for the default stream, as a copy would.
//!
//! With AMD's quirks it is done AMD's way: always through a bounce buffer mapped for the call, each chunk made durable
//! by itself, and an error hides what had moved before it.

use std::ffi::{c_int, c_void};
use std::ptr::NonNull;

use super::Request;
use super::bounce::Bounce;
use super::device::DeviceGuard;
use crate::behaviour::{Behaviour, Version};
use crate::failure::Failure;
use crate::hip::Hip;
use crate::stats::Direction;

/// Moves the bytes, at most [`super::max_size`], and returns how many.
///
/// # Errors
///
/// What the system or HIP said, unless bytes had already moved: then their count is the result, and the next call
/// meets the error. A write that can't be made durable fails even so.
#[inline]
pub(super) fn run(hip: &Hip, request: &Request<'_>, behaviour: &Behaviour) -> Result<usize, Failure> {
    let device = request.buffer.address(request.buffer_offset);
    let _current = match behaviour.version {
        Version::V0_2 | Version::V0_4 => None,
        Version::V0_5 => Some(DeviceGuard::enter(hip, request.buffer.device)?),
    };
    if behaviour.amd_quirks {
        return through_bounce(hip, request, device, Manner::Amd);
    }
    // The offset lies inside the buffer, so one byte there has an address even if none is to be moved.
    let moved = match hip.host_address(device, request.size.max(1)) {
        Some(alias) => {
            hip.synchronize().map_err(Failure::Hip)?;
            through_alias(request, alias)?
        }
        None => through_bounce(hip, request, device, Manner::Mended)?,
    };
    if request.direction == Direction::Write {
        sync(request.file.buffered)?;
    }
    Ok(moved)
}

/// Whose way of doing it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    /// Ours.
    Mended,
    /// AMD's, defects and all.
    Amd,
}

fn through_alias(request: &Request<'_>, alias: NonNull<u8>) -> Result<usize, Failure> {
    let fd = request.file.buffered;
    repeat(request.size, Manner::Mended, |done| {
        let memory = alias.as_ptr().wrapping_add(done).cast::<c_void>();
        let rest = request.size - done;
        let offset = request.file_offset.wrapping_add(done as i64);
        let moved = match request.direction {
            // SAFETY: requires writable memory; holds because HIP gave the whole range, and keeps it mapped even if
            // another thread frees it. That no host code uses it meanwhile is the caller's promise about the device.
            Direction::Read => unsafe { libc::pread(fd, memory, rest, offset) },
            // SAFETY: as above.
            Direction::Write => unsafe { libc::pwrite(fd, memory, rest, offset) },
        };
        count(moved)
    })
}

fn through_bounce(
    hip: &Hip,
    request: &Request<'_>,
    device: *mut c_void,
    manner: Manner,
) -> Result<usize, Failure> {
    let mut bounce = match manner {
        Manner::Mended => Bounce::take()?,
        Manner::Amd => Bounce::fresh()?,
    };
    let bounce = bounce.bytes();
    let fd = request.file.buffered;
    repeat(request.size, manner, |done| {
        let device = device.wrapping_byte_add(done);
        let offset = request.file_offset.wrapping_add(done as i64);
        let size = bounce.len().min(request.size - done);
        let chunk = bounce.get_mut(..size).ok_or(Failure::INTERNAL)?;
        match request.direction {
            Direction::Read => {
                // SAFETY: requires writable memory; holds, it is a slice.
                let moved =
                    count(unsafe { libc::pread(fd, chunk.as_mut_ptr().cast(), chunk.len(), offset) })?;
                if moved > 0 {
                    let filled = chunk.get(..moved).ok_or(Failure::INTERNAL)?;
                    hip.copy_in(device, filled).map_err(Failure::Hip)?;
                }
                Ok(moved)
            }
            Direction::Write => {
                hip.copy_out(chunk, device).map_err(Failure::Hip)?;
                hip.synchronize().map_err(Failure::Hip)?;
                // SAFETY: requires readable memory; holds, it is a slice.
                let moved = count(unsafe { libc::pwrite(fd, chunk.as_ptr().cast(), chunk.len(), offset) })?;
                if manner == Manner::Amd {
                    // Interrupted, the whole chunk is written again.
                    sync_once(fd)?;
                }
                Ok(moved)
            }
        }
    })
}

/// Takes steps until `size` bytes have moved or a step moves none, and starts an interrupted step again. An error
/// after the first bytes ends the transfer without being one, except in AMD's manner.
fn repeat(
    size: usize,
    manner: Manner,
    mut step: impl FnMut(usize) -> Result<usize, Failure>,
) -> Result<usize, Failure> {
    let mut done = 0;
    loop {
        match step(done) {
            Ok(moved) => {
                done += moved;
                if moved == 0 || done >= size {
                    return Ok(done);
                }
            }
            Err(Failure::Os(libc::EINTR)) => {}
            Err(failure) if done == 0 || manner == Manner::Amd => return Err(failure),
            Err(_) => return Ok(done),
        }
    }
}

fn sync(fd: c_int) -> Result<(), Failure> {
    loop {
        match sync_once(fd) {
            Err(Failure::Os(libc::EINTR)) => {}
            result => return result,
        }
    }
}

fn sync_once(fd: c_int) -> Result<(), Failure> {
    // SAFETY: requires nothing: the system checks the descriptor.
    if unsafe { libc::fdatasync(fd) } == 0 { Ok(()) } else { Err(Failure::last_os()) }
}

fn count(result: isize) -> Result<usize, Failure> {
    usize::try_from(result).map_err(|_| Failure::last_os())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `repeat` makes of the results of its steps, and where each step started.
    fn steps(size: usize, results: &[Result<usize, Failure>]) -> (Result<usize, Failure>, Vec<usize>) {
        steps_of(Manner::Mended, size, results)
    }

    fn steps_of(
        manner: Manner,
        size: usize,
        results: &[Result<usize, Failure>],
    ) -> (Result<usize, Failure>, Vec<usize>) {
        let (mut results, mut starts) = (results.iter(), Vec::new());
        let result = repeat(size, manner, |done| {
            starts.push(done);
            *results.next().unwrap()
        });
        assert!(results.next().is_none(), "a step is missing");
        (result, starts)
    }

    #[test]
    fn steps_are_repeated_until_all_is_done() {
        let interrupted = Err(Failure::Os(libc::EINTR));
        let full = Err(Failure::Os(libc::ENOSPC));
        assert_eq!(steps(10, &[Ok(10)]), (Ok(10), vec![0]));
        assert_eq!(steps(10, &[Ok(4), Ok(6)]), (Ok(10), vec![0, 4]));
        assert_eq!(steps(10, &[Ok(4), Ok(0)]), (Ok(4), vec![0, 4]));
        assert_eq!(steps(0, &[Ok(0)]), (Ok(0), vec![0]));
        assert_eq!(steps(10, &[interrupted, Ok(4), interrupted, Ok(6)]), (Ok(10), vec![0, 0, 4, 4]));
        assert_eq!(steps(10, &[full]), (full, vec![0]));
        assert_eq!(steps(10, &[Ok(4), full]), (Ok(4), vec![0, 4]));
        assert_eq!(steps_of(Manner::Amd, 10, &[Ok(4), full]), (full, vec![0, 4]), "the count is lost");
    }
}
