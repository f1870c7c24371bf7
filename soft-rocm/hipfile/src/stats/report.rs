//! The counters in the forms that `hipFileGetStatsL1` to `L3` give out.

use std::sync::atomic::{AtomicU64, Ordering};

use hipfile_sys::{
    hipFileOpCounter_t, hipFilePerGpuStats_t, hipFileStatsLevel1_t, hipFileStatsLevel2_t,
    hipFileStatsLevel3_t,
};

use super::{Counters, Direction, Gpu, Path, Stats};

/// The sum of some counters, as they were at about the same time.
#[derive(Clone, Copy, Default)]
struct Sum {
    completed: u64,
    failed: u64,
    bytes: u64,
    nanoseconds: u64,
    unaligned: u64,
}

impl Sum {
    fn of<'a>(counters: impl IntoIterator<Item = &'a Counters>) -> Self {
        counters.into_iter().fold(Self::default(), |sum, counters| Self {
            completed: sum.completed + read(&counters.completed),
            failed: sum.failed + read(&counters.failed),
            bytes: sum.bytes + read(&counters.bytes),
            nanoseconds: sum.nanoseconds + read(&counters.nanoseconds),
            unaligned: sum.unaligned + read(&counters.unaligned),
        })
    }

    fn microseconds(&self) -> u64 {
        self.nanoseconds / 1000
    }

    fn bytes_per_second(&self) -> u64 {
        let per_second = u128::from(self.bytes) * 1_000_000;
        match per_second.checked_div(u128::from(self.microseconds())) {
            Some(rate) => u64::try_from(rate).unwrap_or(u64::MAX),
            None => 0,
        }
    }

    fn average_microseconds(&self) -> u64 {
        self.microseconds().checked_div(self.completed).unwrap_or(0)
    }

    fn operations(&self) -> hipFileOpCounter_t {
        hipFileOpCounter_t { ok: self.completed, err: self.failed }
    }
}

fn read(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

/// Level 1: the whole process.
pub(crate) fn level_1(stats: &Stats) -> hipFileStatsLevel1_t {
    let all = |direction| {
        let both = |gpu| [Path::Fast, Path::Fallback].map(|path| Gpu::counters(gpu, path, direction));
        Sum::of(stats.gpus.iter().flat_map(both))
    };
    let (reads, writes) = (all(Direction::Read), all(Direction::Write));
    hipFileStatsLevel1_t {
        read_ops: reads.operations(),
        write_ops: writes.operations(),
        hdl_register_ops: hipFileOpCounter_t { ok: read(&stats.files), ..Default::default() },
        buf_register_ops: hipFileOpCounter_t { ok: read(&stats.buffers), ..Default::default() },
        read_bytes: reads.bytes,
        write_bytes: writes.bytes,
        read_bw_bytes_per_sec: reads.bytes_per_second(),
        write_bw_bytes_per_sec: writes.bytes_per_second(),
        read_lat_avg_us: reads.average_microseconds(),
        write_lat_avg_us: writes.average_microseconds(),
        read_lat_sum_us: reads.microseconds(),
        write_lat_sum_us: writes.microseconds(),
        ..Default::default()
    }
}

/// Level 2: level 1 and histograms, which AMD's library leaves empty as well.
pub(crate) fn level_2(stats: &Stats) -> hipFileStatsLevel2_t {
    hipFileStatsLevel2_t { basic: level_1(stats), ..Default::default() }
}

/// Level 3: level 2 and each device, at the index of its ordinal.
pub(crate) fn level_3(stats: &Stats) -> hipFileStatsLevel3_t {
    let mut report = hipFileStatsLevel3_t { detailed: level_2(stats), ..Default::default() };
    let buffers = read(&stats.buffers);
    for (gpu, place) in stats.gpus.iter().zip(&mut report.per_gpu_stats) {
        if gpu.active.load(Ordering::Relaxed) {
            *place = per_gpu(gpu, buffers);
            report.num_gpus += 1;
        }
    }
    report
}

fn per_gpu(gpu: &Gpu, buffers: u64) -> hipFilePerGpuStats_t {
    let one = |path, direction| Sum::of([gpu.counters(path, direction)]);
    let both = |direction| Sum::of([Path::Fast, Path::Fallback].map(|path| gpu.counters(path, direction)));
    let (reads, writes) = (both(Direction::Read), both(Direction::Write));
    hipFilePerGpuStats_t {
        read_bytes: reads.bytes,
        read_bw_bytes_per_sec: reads.bytes_per_second(),
        read_duration_us: reads.microseconds(),
        n_total_reads: reads.completed,
        n_nvfs_reads: one(Path::Fast, Direction::Read).completed,
        n_posix_reads: one(Path::Fallback, Direction::Read).completed,
        n_unaligned_reads: reads.unaligned,
        n_reads_err: reads.failed,
        write_bytes: writes.bytes,
        write_bw_bytes_per_sec: writes.bytes_per_second(),
        write_duration_us: writes.microseconds(),
        n_total_writes: writes.completed,
        n_nvfs_writes: one(Path::Fast, Direction::Write).completed,
        n_posix_writes: one(Path::Fallback, Direction::Write).completed,
        n_unaligned_writes: writes.unaligned,
        n_writes_err: writes.failed,
        n_mmap: buffers,
        n_mmap_ok: buffers,
        ..Default::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Begun;
    use std::time::{Duration, Instant};

    fn stats() -> Stats {
        let stats = Stats::new();
        stats.level.set(1).unwrap();
        stats
    }

    /// A transfer that began a while ago.
    fn begun(ago: Duration) -> Begun {
        Begun(Instant::now().checked_sub(ago))
    }

    #[test]
    fn derived_values() {
        let sum = Sum { completed: 4, failed: 9, bytes: 8192, nanoseconds: 2_000_999, unaligned: 0 };
        assert_eq!(sum.microseconds(), 2000);
        assert_eq!(sum.average_microseconds(), 500);
        assert_eq!(sum.bytes_per_second(), 8192 * 1_000_000 / 2000);
        let nothing = Sum::default();
        assert_eq!((nothing.average_microseconds(), nothing.bytes_per_second()), (0, 0));
        let large = Sum { bytes: u64::MAX, nanoseconds: 2_000_000_000, ..Sum::default() };
        assert_eq!(large.bytes_per_second(), u64::MAX / 2);
    }

    #[test]
    fn levels_of_a_few_transfers() {
        let stats = stats();
        stats.file_registered();
        stats.buffer_registered();
        stats.buffer_registered();
        let ago = begun(Duration::from_millis(5));
        stats.end(ago, 0, Path::Fast, Direction::Read, Some(4096), false);
        stats.end(ago, 2, Path::Fallback, Direction::Read, Some(100), true);
        stats.end(ago, 2, Path::Fallback, Direction::Write, Some(7), false);
        stats.end(ago, 2, Path::Fast, Direction::Write, None, false);
        stats.end(ago, 16, Path::Fast, Direction::Write, Some(1), false);
        stats.end(ago, -1, Path::Fast, Direction::Write, Some(1), false);

        let report = level_3(&stats);
        let basic = &report.detailed.basic;
        assert_eq!((basic.read_ops.ok, basic.read_ops.err), (2, 0));
        assert_eq!((basic.write_ops.ok, basic.write_ops.err), (1, 1));
        assert_eq!((basic.read_bytes, basic.write_bytes), (4196, 7));
        assert_eq!((basic.hdl_register_ops.ok, basic.buf_register_ops.ok), (1, 2));
        assert!(basic.read_lat_sum_us >= 10_000, "{}", basic.read_lat_sum_us);
        assert_eq!(basic.read_lat_avg_us, basic.read_lat_sum_us / 2);
        assert_eq!(basic.read_ops_per_sec, 0);

        assert_eq!(report.num_gpus, 2);
        let [first, unused, third, ..] = &report.per_gpu_stats;
        assert_eq!((first.n_total_reads, first.n_nvfs_reads, first.n_posix_reads), (1, 1, 0));
        assert_eq!((third.n_total_reads, third.n_nvfs_reads, third.n_posix_reads), (1, 0, 1));
        assert_eq!((third.n_total_writes, third.n_writes_err, third.n_unaligned_reads), (1, 1, 1));
        assert_eq!((third.n_mmap, third.n_mmap_ok, unused.n_mmap), (2, 2, 0));
    }

    #[test]
    fn level_0_counts_nothing() {
        let stats = Stats::new();
        stats.level.set(0).unwrap();
        stats.file_registered();
        stats.buffer_registered();
        stats.end(stats.begin(), 0, Path::Fast, Direction::Read, Some(4096), false);
        let report = level_3(&stats);
        assert_eq!((report.num_gpus, report.detailed.basic.read_ops.ok), (0, 0));
        assert_eq!(
            (report.detailed.basic.hdl_register_ops.ok, report.detailed.basic.buf_register_ops.ok),
            (0, 0)
        );
    }
}
