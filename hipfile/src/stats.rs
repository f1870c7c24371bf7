//! What the library counted.

mod devices;
mod histograms;
mod io_stats;

pub use devices::{DeviceStats, device_stats};
pub use histograms::{SizeHistograms, size_histograms};
pub use io_stats::{IoStats, Observed};

use hipfile_sys as sys;

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
#[doc(alias = "hipFileStatsLevel1_t")]
#[doc(alias = "hipFileStatsLevel3_t")]
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stats {
    /// From files into device memory.
    pub reads: IoStats,
    /// From device memory into files.
    pub writes: IoStats,
    /// Registrations of files that succeeded.
    pub files_registered: u64,
    /// Registrations of memory that succeeded.
    pub memory_registered: u64,
}

impl Stats {
    /// What was counted after `earlier` was.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            reads: self.reads.since(earlier.reads),
            writes: self.writes.since(earlier.writes),
            files_registered: self.files_registered.saturating_sub(earlier.files_registered),
            memory_registered: self.memory_registered.saturating_sub(earlier.memory_registered),
        }
    }

    /// The path that reads and writes took.
    ///
    /// ```
    /// # fn main() -> hipfile::Result<()> {
    /// let before = hipfile::stats()?;
    /// // transfers
    /// println!("took the {}", hipfile::stats()?.since(before).observed());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn observed(self) -> Observed {
        self.reads.plus(self.writes).observed()
    }

    fn of(all: &sys::hipFileStatsLevel3_t) -> Self {
        let basic = &all.detailed.basic;
        let sum = |direction: fn(&sys::hipFilePerGpuStats_t) -> IoStats| {
            all.per_gpu_stats.iter().map(direction).fold(IoStats::default(), IoStats::plus)
        };
        Self {
            reads: IoStats {
                operations: basic.read_ops.ok,
                errors: basic.read_ops.err,
                bytes: basic.read_bytes,
                ..sum(devices::reads)
            },
            writes: IoStats {
                operations: basic.write_ops.ok,
                errors: basic.write_ops.err,
                bytes: basic.write_bytes,
                ..sum(devices::writes)
            },
            files_registered: basic.hdl_register_ops.ok,
            memory_registered: basic.buf_register_ops.ok,
        }
    }
}

/// What the library counted, for all its users in this process together. hipFile 0.5.
///
/// The counters only grow. They are read one after the other, so while transfers run they may not fit together. All are
/// zero if the environment says `HIPFILE_STATS_LEVEL=0`, and hipFile 0.5 counts no transfers on streams.
///
/// Level 3 of the library's statistics, which this reads, contains level 1. Fields that no release of AMD's library fills
/// are not here: zeros that look like facts. [`sys::Api`] has the functions as they are in C.
///
/// # Errors
///
/// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) if the library has no statistics,
/// [`ErrorKind::Internal`](crate::ErrorKind::Internal) if it has no memory to keep them in,
/// [`ErrorKind::NotLoaded`](crate::ErrorKind::NotLoaded) and [`ErrorKind::Forked`](crate::ErrorKind::Forked).
#[doc(alias = "hipFileGetStatsL1")]
#[doc(alias = "hipFileGetStatsL3")]
pub fn stats() -> Result<Stats> {
    read("statistics", ffi::stats::by_device).map(|all| Stats::of(&all))
}

/// What one of the library's functions for statistics answers, where there is such a function.
fn read<T>(
    feature: &'static str,
    get: impl FnOnce(&sys::Api) -> Option<std::result::Result<T, Cause>>,
) -> Result<T> {
    let answer = || {
        let api = ffi::api()?;
        let found = ffi::version(api)?;
        let answer = if found >= Version::STATS { get(api) } else { None };
        answer.unwrap_or(Err(Cause::Unsupported { feature, since: Version::STATS, found }))
    };
    answer().map_err(|cause| Error::new("read statistics", cause))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// A structure each of whose fields has another value.
    fn all() -> sys::hipFileStatsLevel3_t {
        let mut all = sys::hipFileStatsLevel3_t::default();
        let basic = &mut all.detailed.basic;
        basic.read_ops = sys::hipFileOpCounter_t { ok: 11, err: 3 };
        basic.write_ops = sys::hipFileOpCounter_t { ok: 12, err: 4 };
        basic.hdl_register_ops = sys::hipFileOpCounter_t { ok: 5, err: 99 };
        basic.buf_register_ops = sys::hipFileOpCounter_t { ok: 6, err: 99 };
        (basic.read_bytes, basic.write_bytes) = (1100, 1200);
        for (index, slot) in [(2, 1_u64), (15, 10)] {
            let gpu = all.per_gpu_stats.get_mut(index).unwrap();
            *gpu = sys::hipFilePerGpuStats_t {
                read_bytes: 100 * slot,
                read_duration_us: 7 * slot,
                n_total_reads: slot,
                n_nvfs_reads: 21 * slot,
                n_posix_reads: 22 * slot,
                n_unaligned_reads: 23 * slot,
                n_reads_err: 24 * slot,
                write_bytes: 200 * slot,
                write_duration_us: 8 * slot,
                n_total_writes: 2 * slot,
                n_nvfs_writes: 31 * slot,
                n_posix_writes: 32 * slot,
                n_unaligned_writes: 33 * slot,
                n_writes_err: 34 * slot,
                ..sys::hipFilePerGpuStats_t::default()
            };
        }
        all
    }

    #[test]
    fn each_field_has_its_source() {
        let expected = Stats {
            reads: IoStats {
                operations: 11,
                errors: 3,
                bytes: 1100,
                time: Duration::from_micros(77),
                fast_path: 231,
                fallback: 242,
                unaligned: 253,
            },
            writes: IoStats {
                operations: 12,
                errors: 4,
                bytes: 1200,
                time: Duration::from_micros(88),
                fast_path: 341,
                fallback: 352,
                unaligned: 363,
            },
            files_registered: 5,
            memory_registered: 6,
        };
        assert_eq!(Stats::of(&all()), expected);
    }

    #[test]
    fn both_directions_are_one_observation() {
        let (fast, slow) = (IoStats { fast_path: 1, ..none() }, IoStats { fallback: 1, ..none() });
        let observed = |reads, writes| Stats { reads, writes, ..Stats::default() }.observed();
        assert_eq!([observed(fast, fast), observed(slow, none())], [Observed::FastPath, Observed::Fallback]);
        assert_eq!([observed(fast, slow), observed(none(), none())], [Observed::Both, Observed::Nothing]);
    }

    fn none() -> IoStats {
        IoStats::default()
    }

    #[test]
    fn devices_are_those_that_were_active() {
        let mut all = all();
        all.per_gpu_stats.get_mut(15).unwrap().uuid[3] = !0;
        let devices: Vec<DeviceStats> = devices::active(&all).collect();
        assert_eq!(devices.iter().map(|device| device.ordinal).collect::<Vec<_>>(), [2, 15]);
        let [second, fifteenth] = devices.as_slice() else { unreachable!() };
        let reads = IoStats {
            operations: 1,
            errors: 24,
            bytes: 100,
            time: Duration::from_micros(7),
            fast_path: 21,
            fallback: 22,
            unaligned: 23,
        };
        assert_eq!((second.reads, second.uuid), (reads, None));
        assert_eq!((fifteenth.writes.operations, fifteenth.writes.bytes), (20, 2000));
        assert_eq!(fifteenth.uuid, Some([0, 0, 0, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]));
    }

    #[test]
    fn differences_are_taken_field_by_field() {
        let (now, nothing) = (Stats::of(&all()), Stats::default());
        assert_eq!(now.since(nothing), now);
        assert_eq!(now.since(now), nothing);
        assert_eq!(nothing.since(now), nothing, "no counter goes below 0");
    }
}
