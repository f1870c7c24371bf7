//! The counters in the forms that `hipFileGetStatsL1` to `L3` give out.

use hipfile_sys::{
    hipFileOpCounter_t, hipFilePerGpuStats_t, hipFileStatsLevel1_t, hipFileStatsLevel2_t,
    hipFileStatsLevel3_t,
};

use super::Direction;
use super::layout::{Counters, Histograms, Shared, of, read};

/// The sum of some counters, as they were at about the same time.
#[derive(Clone, Copy, Default)]
struct Sum {
    completed: u64,
    failed: u64,
    bytes: u64,
    microseconds: u64,
    unaligned: u64,
}

impl Sum {
    fn of<'a>(counters: impl IntoIterator<Item = &'a Counters>, direction: Direction) -> Self {
        counters.into_iter().fold(Self::default(), |sum, counters| {
            let all = |histograms: &Histograms| of(histograms, direction).iter().map(read).sum::<u64>();
            Self {
                completed: sum.completed + all(&counters.completed),
                failed: sum.failed + all(&counters.failed),
                bytes: sum.bytes + all(&counters.bytes),
                microseconds: sum.microseconds + all(&counters.microseconds),
                unaligned: sum.unaligned + read(of(&counters.unaligned, direction)),
            }
        })
    }

    fn bytes_per_second(&self) -> u64 {
        let per_second = u128::from(self.bytes) * 1_000_000;
        match per_second.checked_div(u128::from(self.microseconds)) {
            Some(rate) => u64::try_from(rate).unwrap_or(u64::MAX),
            None => 0,
        }
    }

    fn average_microseconds(&self) -> u64 {
        self.microseconds.checked_div(self.completed).unwrap_or(0)
    }

    fn operations(&self) -> hipFileOpCounter_t {
        hipFileOpCounter_t { ok: self.completed, err: self.failed }
    }
}

/// Level 1: the whole process.
pub(crate) fn level_1(shared: &Shared) -> hipFileStatsLevel1_t {
    let all = |direction| Sum::of(shared.gpus.iter().flatten(), direction);
    let (reads, writes) = (all(Direction::Read), all(Direction::Write));
    hipFileStatsLevel1_t {
        read_ops: reads.operations(),
        write_ops: writes.operations(),
        hdl_register_ops: hipFileOpCounter_t { ok: read(&shared.files), ..Default::default() },
        buf_register_ops: hipFileOpCounter_t { ok: read(&shared.buffers), ..Default::default() },
        read_bytes: reads.bytes,
        write_bytes: writes.bytes,
        read_bw_bytes_per_sec: reads.bytes_per_second(),
        write_bw_bytes_per_sec: writes.bytes_per_second(),
        read_lat_avg_us: reads.average_microseconds(),
        write_lat_avg_us: writes.average_microseconds(),
        read_lat_sum_us: reads.microseconds,
        write_lat_sum_us: writes.microseconds,
        ..Default::default()
    }
}

/// Level 2: level 1 and histograms, which AMD's library leaves empty as well.
pub(crate) fn level_2(shared: &Shared) -> hipFileStatsLevel2_t {
    hipFileStatsLevel2_t { basic: level_1(shared), ..Default::default() }
}

/// Level 3: level 2 and each device, at the index of its ordinal.
pub(crate) fn level_3(shared: &Shared) -> hipFileStatsLevel3_t {
    let mut report = hipFileStatsLevel3_t { detailed: level_2(shared), ..Default::default() };
    let buffers = read(&shared.buffers);
    for (paths, place) in shared.gpus.iter().zip(&mut report.per_gpu_stats) {
        if paths.iter().any(Counters::in_use) {
            *place = per_gpu(paths, buffers);
            report.num_gpus += 1;
        }
    }
    report
}

fn per_gpu(paths: &[Counters; 2], buffers: u64) -> hipFilePerGpuStats_t {
    let [fast, fallback] = paths;
    let one = |path, direction| Sum::of([path], direction);
    let (reads, writes) = (Sum::of(paths, Direction::Read), Sum::of(paths, Direction::Write));
    hipFilePerGpuStats_t {
        read_bytes: reads.bytes,
        read_bw_bytes_per_sec: reads.bytes_per_second(),
        read_duration_us: reads.microseconds,
        n_total_reads: reads.completed,
        n_nvfs_reads: one(fast, Direction::Read).completed,
        n_posix_reads: one(fallback, Direction::Read).completed,
        n_unaligned_reads: reads.unaligned,
        n_reads_err: reads.failed,
        write_bytes: writes.bytes,
        write_bw_bytes_per_sec: writes.bytes_per_second(),
        write_duration_us: writes.microseconds,
        n_total_writes: writes.completed,
        n_nvfs_writes: one(fast, Direction::Write).completed,
        n_posix_writes: one(fallback, Direction::Write).completed,
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
    use crate::behaviour::Version;
    use crate::stats::{Begun, Ended, Path, Stats};
    use std::time::{Duration, Instant};

    /// A transfer that began a while ago.
    fn begun(ago: Duration) -> Begun {
        Begun(Instant::now().checked_sub(ago))
    }

    fn ended(device: i32, path: Path, direction: Direction, moved: Option<usize>) -> Ended {
        Ended { device, path, direction, size: 10_000, moved, unaligned: false }
    }

    #[test]
    fn derived_values() {
        let sum = Sum { completed: 4, failed: 9, bytes: 8192, microseconds: 2000, unaligned: 0 };
        assert_eq!(sum.average_microseconds(), 500);
        assert_eq!(sum.bytes_per_second(), 8192 * 1_000_000 / 2000);
        let nothing = Sum::default();
        assert_eq!((nothing.average_microseconds(), nothing.bytes_per_second()), (0, 0));
        let large = Sum { bytes: u64::MAX, microseconds: 2_000_000, ..Sum::default() };
        assert_eq!(large.bytes_per_second(), u64::MAX / 2);
    }

    #[test]
    fn levels_of_a_few_transfers() {
        let (stats, _file) = Stats::new(Version::V0_5, 1);
        stats.file_registered();
        stats.buffer_registered();
        stats.buffer_registered();
        stats.fast_path_declined();
        let ago = begun(Duration::from_millis(5));
        let end = |ended| stats.end(ago, ended);
        end(ended(0, Path::Fast, Direction::Read, Some(4096)));
        end(Ended { unaligned: true, ..ended(2, Path::Fallback, Direction::Read, Some(100)) });
        end(ended(2, Path::Fallback, Direction::Write, Some(7)));
        end(ended(2, Path::Fast, Direction::Write, None));
        end(ended(16, Path::Fast, Direction::Write, Some(1)));
        end(ended(-1, Path::Fast, Direction::Write, Some(1)));

        let shared = stats.shared().unwrap();
        let report = level_3(shared);
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

        let [fast, fallback] = &shared.gpus[2];
        let place = |histogram: &[_; 16]| histogram.iter().position(|counter| read(counter) != 0);
        assert_eq!(place(&fast.failed[1]), Some(2), "by the size asked for");
        assert_eq!((place(&fallback.bytes[0]), place(&fallback.completed[1])), (Some(0), Some(0)));
        assert_eq!(place(&shared.gpus[0][0].microseconds[0]), Some(1));
        assert_eq!((read(&shared.rejections), read(&fallback.unaligned[0])), (1, 1));
    }

    #[test]
    fn level_0_counts_nothing() {
        let (stats, _file) = Stats::new(Version::V0_5, 0);
        stats.file_registered();
        stats.buffer_registered();
        stats.fast_path_declined();
        stats.end(stats.begin(), ended(0, Path::Fast, Direction::Read, Some(4096)));
        let shared = stats.shared().unwrap();
        assert_eq!(read(&shared.rejections), 0);
        let report = level_3(shared);
        assert_eq!((report.num_gpus, report.detailed.basic.read_ops.ok), (0, 0));
        assert_eq!(
            (report.detailed.basic.hdl_register_ops.ok, report.detailed.basic.buf_register_ops.ok),
            (0, 0)
        );
    }
}
