//! Counters of each device.

use std::time::Duration;

use hipfile_sys as sys;

use super::IoStats;
use crate::error::Result;
use crate::ffi;

/// Counters of one device since the library was first used: see [`device_stats`].
///
/// ```
/// # fn main() -> hipfile::Result<()> {
/// use hipfile::DeviceStats;
///
/// let devices: Vec<DeviceStats> = hipfile::device_stats()?;
/// for device in devices {
///     println!("device {}: {} reads by {}", device.ordinal, device.reads.operations, device.reads.observed());
/// }
/// # Ok(())
/// # }
/// ```
#[doc(alias = "hipFilePerGpuStats_t")]
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceStats {
    /// The device, as HIP numbers it.
    pub ordinal: u32,
    /// What HIP calls the device for good. `None` with hipFile 0.5, which does not fill it in.
    pub uuid: Option<[u8; 16]>,
    /// From files into memory of the device.
    pub reads: IoStats,
    /// From memory of the device into files.
    pub writes: IoStats,
}

/// What the library counted, device by device; those that nothing was counted for are left out. hipFile 0.5.
///
/// The rules are those of [`stats`](crate::stats). Devices from the seventeenth on are not counted. Transfers on the fast
/// path count for the device that was current in their thread.
///
/// # Errors
///
/// As for [`stats`](crate::stats).
///
/// ```
/// # fn main() -> hipfile::Result<()> {
/// let bytes: u64 = hipfile::device_stats()?.iter().map(|device| device.reads.bytes).sum();
/// assert_eq!(bytes, hipfile::stats()?.reads.bytes);
/// # Ok(())
/// # }
/// ```
#[doc(alias = "hipFileGetStatsL3")]
pub fn device_stats() -> Result<Vec<DeviceStats>> {
    super::read("statistics of devices", ffi::stats::by_device).map(|all| active(&all).collect())
}

/// The devices that something was counted for.
pub(super) fn active(all: &sys::hipFileStatsLevel3_t) -> impl Iterator<Item = DeviceStats> {
    let none = IoStats::default();
    (0..)
        .zip(&all.per_gpu_stats)
        .map(|(ordinal, gpu)| DeviceStats {
            ordinal,
            uuid: gpu
                .uuid
                .iter()
                .any(|byte| *byte != 0)
                .then(|| gpu.uuid.map(|byte| u8::from_ne_bytes(byte.to_ne_bytes()))),
            reads: reads(gpu),
            writes: writes(gpu),
        })
        .filter(move |device| (device.reads, device.writes) != (none, none))
}

pub(super) fn reads(gpu: &sys::hipFilePerGpuStats_t) -> IoStats {
    IoStats {
        operations: gpu.n_total_reads,
        errors: gpu.n_reads_err,
        bytes: gpu.read_bytes,
        time: Duration::from_micros(gpu.read_duration_us),
        fast_path: gpu.n_nvfs_reads,
        fallback: gpu.n_posix_reads,
        unaligned: gpu.n_unaligned_reads,
    }
}

pub(super) fn writes(gpu: &sys::hipFilePerGpuStats_t) -> IoStats {
    IoStats {
        operations: gpu.n_total_writes,
        errors: gpu.n_writes_err,
        bytes: gpu.write_bytes,
        time: Duration::from_micros(gpu.write_duration_us),
        fast_path: gpu.n_nvfs_writes,
        fallback: gpu.n_posix_writes,
        unaligned: gpu.n_unaligned_writes,
    }
}
