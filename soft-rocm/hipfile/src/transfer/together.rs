//! Several small reads in one system call.
//!
//! What the system gives in full is done; everything else, the end of the file and errors above all, is left to the
//! ordinary way, so that each read ends as it would have alone.

use std::ffi::c_int;

use soft_rocm_faults as faults;

use super::Request;
use super::device::DeviceGuard;
use super::select::{is_aligned, takes_fast_path};
use crate::config::Config;
use crate::file::Kind;
use crate::hip::Hip;
use crate::stats::{Direction, Path, Stats};

/// The most reads in one call.
const MOST: usize = 16;

/// The largest read for which a call of its own costs more than is good.
const SMALL: usize = 16 << 10;

impl Request<'_> {
    /// Whether a read may be one of several: small, by the host, straight into device memory.
    pub(crate) fn is_small_read(&self, hip: &Hip, config: &Config) -> bool {
        self.direction == Direction::Read
            && (1..=SMALL).contains(&self.size)
            && self.file.kind == Kind::Regular
            && hip.host_address.is_some()
            && config.fallback
            && !config.behaviour.amd_quirks
            && !takes_fast_path(hip, config, self)
    }

    /// Whether a read can be done in one go with `next`. With a plan of faults each has its own system call, which the
    /// plan can name.
    pub(crate) fn joins(&self, next: &Request<'_>) -> bool {
        std::ptr::eq(self.file, next.file)
            && self.file_offset.checked_add(self.size as i64) == Some(next.file_offset)
            && self.buffer.device == next.buffer.device
            && faults::idle()
    }
}

/// Does small reads that join one another, and returns how many of them, from the first on, were done in full.
pub(crate) fn read_together<'a>(
    hip: &Hip,
    stats: &Stats,
    requests: impl Iterator<Item = Request<'a>> + Clone,
) -> usize {
    let mut vectors = [const { libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 } }; MOST];
    let mut count = 0;
    for (vector, request) in vectors.iter_mut().zip(requests.clone()) {
        let Some(alias) = hip.host_address(request.address(), request.size) else { return 0 };
        *vector = libc::iovec { iov_base: alias.as_ptr().cast(), iov_len: request.size };
        count += 1;
    }
    let Some(first) = requests.clone().next() else { return 0 };
    let Ok(_current) = DeviceGuard::enter(hip, first.buffer.device) else { return 0 };
    if hip.synchronize().is_err() {
        return 0;
    }
    let begun = stats.begin();
    // SAFETY: requires writable memory; holds because HIP gave each range, and keeps it mapped even if another thread
    // frees it. That no host code uses it meanwhile is the caller's promise about the device.
    let moved =
        unsafe { libc::preadv(first.file.buffered, vectors.as_ptr(), count as c_int, first.file_offset) };
    let Ok(mut moved) = usize::try_from(moved) else { return 0 };
    let begun = begun.shared_by(count as u32);
    let mut done = 0;
    for request in requests.take(count) {
        let Some(rest) = moved.checked_sub(request.size) else { break };
        moved = rest;
        done += 1;
        stats.fast_path_declined();
        let ended =
            request.ended(request.buffer.device, Path::Fallback, Some(request.size), !is_aligned(&request));
        stats.end(begun, ended);
    }
    done
}
