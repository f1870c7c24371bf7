//! What the library counted.

use crate::error::{Cause, Error, Result};
use crate::ffi;
use crate::version::Version;

/// Counters of this process since the library was first used: see [`stats`].
///
/// ```
/// # fn main() -> hipfile::Result<()> {
/// let before = hipfile::stats()?;
/// // transfers
/// let since = hipfile::stats()?.since(before);
/// assert_eq!(since.reads.bytes, 0);
/// # Ok(())
/// # }
/// ```
#[doc(alias = "hipFileStatsLevel3_t")]
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stats {
    /// From files into device memory.
    pub reads: Transfers,
    /// From device memory into files.
    pub writes: Transfers,
}

/// Counters of one direction.
///
/// ```
/// # fn main() -> hipfile::Result<()> {
/// let reads: hipfile::Transfers = hipfile::stats()?.reads;
/// if reads.fallback > 0 {
///     println!("{} of {} reads went through host memory", reads.fallback, reads.operations);
/// }
/// # Ok(())
/// # }
/// ```
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Transfers {
    /// Operations that completed.
    pub operations: u64,
    /// Operations that failed. An operation that failed on the fast path and was done again is in both.
    pub errors: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Operations on the fast path, between storage and GPU directly.
    pub fast_path: u64,
    /// Operations that went through host memory.
    pub fallback: u64,
}

impl Stats {
    /// What was counted after `earlier` was.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self { reads: self.reads.since(earlier.reads), writes: self.writes.since(earlier.writes) }
    }
}

impl Transfers {
    fn since(self, earlier: Self) -> Self {
        Self {
            operations: self.operations.saturating_sub(earlier.operations),
            errors: self.errors.saturating_sub(earlier.errors),
            bytes: self.bytes.saturating_sub(earlier.bytes),
            fast_path: self.fast_path.saturating_sub(earlier.fast_path),
            fallback: self.fallback.saturating_sub(earlier.fallback),
        }
    }
}

/// What the library counted, for all its users in this process together. hipFile 0.5.
///
/// The counters only grow. They are read one after the other, so while transfers run they may not fit together. All are
/// zero if the environment says `HIPFILE_STATS_LEVEL=0`.
///
/// # Errors
///
/// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) if the library has no statistics,
/// [`ErrorKind::Internal`](crate::ErrorKind::Internal) if it has no memory to keep them in,
/// [`ErrorKind::NotLoaded`](crate::ErrorKind::NotLoaded) and [`ErrorKind::Forked`](crate::ErrorKind::Forked).
#[doc(alias = "hipFileGetStatsL1")]
#[doc(alias = "hipFileGetStatsL3")]
pub fn stats() -> Result<Stats> {
    let failed = |cause| Error::new("read statistics", cause);
    let api = ffi::api().map_err(failed)?;
    let found = ffi::version(api).map_err(failed)?;
    let answer = if found >= Version::STATS { ffi::stats(api) } else { None };
    let Some(answer) = answer else {
        return Err(failed(Cause::Unsupported { feature: "statistics", since: Version::STATS, found }));
    };
    let all = answer.map_err(failed)?;
    let sum = |field: fn(&hipfile_sys::hipFilePerGpuStats_t) -> u64| {
        all.per_gpu_stats.iter().map(field).fold(0, u64::saturating_add)
    };
    let basic = &all.detailed.basic;
    Ok(Stats {
        reads: Transfers {
            operations: basic.read_ops.ok,
            errors: basic.read_ops.err,
            bytes: basic.read_bytes,
            fast_path: sum(|gpu| gpu.n_nvfs_reads),
            fallback: sum(|gpu| gpu.n_posix_reads),
        },
        writes: Transfers {
            operations: basic.write_ops.ok,
            errors: basic.write_ops.err,
            bytes: basic.write_bytes,
            fast_path: sum(|gpu| gpu.n_nvfs_writes),
            fallback: sum(|gpu| gpu.n_posix_writes),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_taken_field_by_field() {
        let count = |base| Transfers {
            operations: base,
            errors: base + 1,
            bytes: base + 2,
            fast_path: base + 3,
            fallback: base + 4,
        };
        let stats = |reads, writes| Stats { reads: count(reads), writes: count(writes) };
        let one = |n| Transfers { operations: n, errors: n, bytes: n, fast_path: n, fallback: n };
        assert_eq!(stats(50, 70).since(stats(10, 20)), Stats { reads: one(40), writes: one(50) });
    }
}
