//! What a process may do here.
#![allow(unsafe_code, reason = "asks the system for limits")]

use serde::Serialize;

use crate::size::{ONE_CALL, Size};

/// Limits of the process and of one call.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Limits {
    /// File descriptors; none: no limit. libhipfile keeps a second one for each file.
    pub open_files: Option<u64>,
    /// Memory that may be locked; none: no limit.
    pub locked_memory: Option<Size>,
    /// The longest file that may be written; none: no limit.
    pub file_size: Option<Size>,
    /// The most that one call of the library transfers.
    pub one_call: Size,
    /// The most transfers in one batch.
    pub one_batch: u32,
}

impl Limits {
    /// Those of this process.
    pub fn read() -> Self {
        Self {
            open_files: soft_limit(libc::RLIMIT_NOFILE),
            locked_memory: soft_limit(libc::RLIMIT_MEMLOCK).map(Size),
            file_size: soft_limit(libc::RLIMIT_FSIZE).map(Size),
            one_call: Size(ONE_CALL),
            one_batch: 128,
        }
    }
}

/// The limit in force, none if there is none.
fn soft_limit(resource: libc::__rlimit_resource_t) -> Option<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: requires a pointer to a rlimit for the answer; holds because `limit` is one.
    let status = unsafe { libc::getrlimit(resource, &raw mut limit) };
    (status == 0 && limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur)
}
