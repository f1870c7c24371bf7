//! Which path transfers took, as the shim sees it: who was asked to move the bytes.

use hipfile_tests::shim;

/// Calls by direction and path. The fallback may need several system calls for one transfer; they count as one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Paths {
    pub fast_reads: u64,
    pub fast_writes: u64,
    pub fallback_reads: u64,
    pub fallback_writes: u64,
}

/// What happened while `body` ran.
pub fn paths_of(body: impl FnOnce()) -> Paths {
    let counts = || ["hipAmdFileRead", "hipAmdFileWrite", "pread", "pwrite"].map(shim::outer_calls);
    let before = counts();
    body();
    let mut since = counts();
    since.iter_mut().zip(before).for_each(|(after, before)| *after -= before);
    let [fast_reads, fast_writes, preads, pwrites] = since;
    Paths { fast_reads, fast_writes, fallback_reads: preads.min(1), fallback_writes: pwrites.min(1) }
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
