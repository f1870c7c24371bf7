//! The fallback: the host moves the data, through the page cache.
//!
//! Where HIP gives host code a way to the device memory, the system reads and writes there directly, in one call. Where it moves
//! data between files and device memory itself, it is asked to. Else the data passes through a bounce buffer. Either way the transfer waits for the default stream, as a copy would.
//!
//! With AMD's quirks it is done AMD's way: always through a bounce buffer mapped for the call, each chunk made durable
//! by itself, and an error hides what had moved before it.

use std::ffi::{c_int, c_void};
use std::ptr::NonNull;

use hipfile_sys::hipError_t;
use soft_rocm_faults::sys;

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
    let _current = match behaviour.version {
        Version::V0_2 | Version::V0_4 => None,
        Version::V0_5 => Some(DeviceGuard::enter(hip, request.buffer.device)?),
    };
    if behaviour.amd_quirks {
        return through_default_stream(hip, request, Bounce::fresh()?, Manner::Amd);
    }
    // The offset lies inside the buffer, so one byte there has an address even if none is to be moved.
    let moved = match hip.host_address(request.address(), request.size.max(1)) {
        Some(alias) => {
            hip.synchronize().map_err(Failure::Hip)?;
            through_alias(request, alias, Manner::Mended)?
        }
        None if hip.moves_files(request.address()) => {
            hip.synchronize().map_err(Failure::Hip)?;
            match through_hip(hip, request)? {
                Some(moved) => moved,
                None => through_default_stream(hip, request, Bounce::take()?, Manner::Mended)?,
            }
        }
        None => through_default_stream(hip, request, Bounce::take()?, Manner::Mended)?,
    };
    if request.direction == Direction::Write {
        sync(request.file.buffered)?;
    }
    Ok(moved)
}

/// The same for host memory, which needs no HIP.
pub(super) fn run_host(request: &Request<'_>) -> Result<usize, Failure> {
    let memory = NonNull::new(request.address().cast()).ok_or(Failure::INVALID_VALUE)?;
    let moved = through_alias(request, memory, Manner::Mended)?;
    if request.direction == Direction::Write {
        sync(request.file.buffered)?;
    }
    Ok(moved)
}

/// Whose way of doing it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// Ours.
    Mended,
    /// AMD's, defects and all.
    Amd,
    /// AMD's for asynchronous transfers, which makes nothing durable.
    AmdAsync,
}

/// Moves the bytes straight between file and device memory.
pub(crate) fn through_alias(
    request: &Request<'_>,
    alias: NonNull<u8>,
    manner: Manner,
) -> Result<usize, Failure> {
    let fd = request.file.buffered;
    repeat(request.size, manner, |done| {
        let memory = alias.as_ptr().wrapping_add(done).cast::<c_void>();
        let rest = request.size - done;
        let offset = request.file_offset.wrapping_add(done as i64);
        let moved = match request.direction {
            // SAFETY: requires writable memory; holds because HIP gave the whole range, and keeps it mapped even if
            // another thread frees it. That no host code uses it meanwhile is the caller's promise about the device.
            Direction::Read => unsafe { sys::pread(fd, memory, rest, offset) },
            // SAFETY: as above.
            Direction::Write => unsafe { sys::pwrite(fd, memory, rest, offset) },
        };
        count(moved)
    })
}

/// Has HIP move the bytes between file and device memory, if it does that. It waits for no stream.
pub(crate) fn through_hip(hip: &Hip, request: &Request<'_>) -> Result<Option<usize>, Failure> {
    let is_write = request.direction == Direction::Write;
    let (fd, offset) = (request.file.buffered, request.file_offset);
    hip.file_transfer(fd, offset, request.address(), request.size, is_write).transpose().map_err(Failure::Os)
}

/// Moves the bytes through a bounce buffer and copies that wait for the default stream.
fn through_default_stream(
    hip: &Hip,
    request: &Request<'_>,
    mut bounce: Bounce,
    manner: Manner,
) -> Result<usize, Failure> {
    let copy_in = |device, host: &[u8]| hip.copy_in(device, host);
    let copy_out = |host: &mut [u8], device| {
        hip.copy_out(host, device)?;
        hip.synchronize()
    };
    through_bounce(request, bounce.bytes(), manner, copy_in, copy_out)
}

/// Moves the bytes through host memory, as many at a time as it holds.
pub(crate) fn through_bounce(
    request: &Request<'_>,
    bounce: &mut [u8],
    manner: Manner,
    copy_in: impl Fn(*mut c_void, &[u8]) -> Result<(), hipError_t>,
    copy_out: impl Fn(&mut [u8], *const c_void) -> Result<(), hipError_t>,
) -> Result<usize, Failure> {
    let fd = request.file.buffered;
    repeat(request.size, manner, |done| {
        let device = request.address().wrapping_byte_add(done);
        let offset = request.file_offset.wrapping_add(done as i64);
        let size = bounce.len().min(request.size - done);
        let chunk = bounce.get_mut(..size).ok_or(Failure::INTERNAL)?;
        match request.direction {
            Direction::Read => {
                // SAFETY: requires writable memory; holds, it is a slice.
                let moved = count(unsafe { sys::pread(fd, chunk.as_mut_ptr().cast(), chunk.len(), offset) })?;
                if moved > 0 {
                    let filled = chunk.get(..moved).ok_or(Failure::INTERNAL)?;
                    copy_in(device, filled).map_err(Failure::Hip)?;
                }
                Ok(moved)
            }
            Direction::Write => {
                copy_out(chunk, device).map_err(Failure::Hip)?;
                // SAFETY: requires readable memory; holds, it is a slice.
                let moved = count(unsafe { sys::pwrite(fd, chunk.as_ptr().cast(), chunk.len(), offset) })?;
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
            Err(failure) if done == 0 || manner != Manner::Mended => return Err(failure),
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
    if sys::fdatasync(fd) == 0 { Ok(()) } else { Err(Failure::last_os()) }
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
