//! Which path transfers took, as the library's own statistics tell it.

use crate::raw;

/// Operations by direction and path, over all GPUs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Paths {
    pub fast_reads: u64,
    pub fast_writes: u64,
    pub fallback_reads: u64,
    pub fallback_writes: u64,
}

/// What was counted so far.
pub fn paths() -> Paths {
    raw::stats3().per_gpu_stats.iter().fold(Paths::default(), |sum, gpu| Paths {
        fast_reads: sum.fast_reads + gpu.n_nvfs_reads,
        fast_writes: sum.fast_writes + gpu.n_nvfs_writes,
        fallback_reads: sum.fallback_reads + gpu.n_posix_reads,
        fallback_writes: sum.fallback_writes + gpu.n_posix_writes,
    })
}

/// What was counted while `body` ran.
pub fn paths_of(body: impl FnOnce()) -> Paths {
    let before = paths();
    body();
    let after = paths();
    Paths {
        fast_reads: after.fast_reads - before.fast_reads,
        fast_writes: after.fast_writes - before.fast_writes,
        fallback_reads: after.fallback_reads - before.fallback_reads,
        fallback_writes: after.fallback_writes - before.fallback_writes,
    }
}

/// One read, on the fast path.
pub const FAST_READ: Paths = Paths { fast_reads: 1, fast_writes: 0, fallback_reads: 0, fallback_writes: 0 };
/// One write, on the fast path.
pub const FAST_WRITE: Paths = Paths { fast_reads: 0, fast_writes: 1, fallback_reads: 0, fallback_writes: 0 };
/// One read, on the fallback.
pub const FALLBACK_READ: Paths =
    Paths { fast_reads: 0, fast_writes: 0, fallback_reads: 1, fallback_writes: 0 };
/// One write, on the fallback.
pub const FALLBACK_WRITE: Paths =
    Paths { fast_reads: 0, fast_writes: 0, fallback_reads: 0, fallback_writes: 1 };
/// None at all.
pub const NEITHER: Paths = Paths { fast_reads: 0, fast_writes: 0, fallback_reads: 0, fallback_writes: 0 };
