//! Counters of what was done, kept in the process and read without a lock.

#[cfg(feature = "v0_5")]
mod report;

use std::ffi::c_int;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

#[cfg(feature = "v0_5")]
pub(crate) use report::{level_1, level_2, level_3};

use crate::config;

/// Devices that are counted; higher ordinals are not.
pub(crate) const GPUS: usize = hipfile_sys::HIPFILE_MAX_GPUS as usize;

/// Which way bytes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// File to device.
    Read,
    /// Device to file.
    Write,
}

/// Which way they take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Path {
    /// HIP moves the data.
    Fast,
    /// The host moves the data.
    Fallback,
}

/// Everything counted since the library was first used.
#[derive(Debug)]
pub(crate) struct Stats {
    level: OnceLock<u32>,
    files: AtomicU64,
    buffers: AtomicU64,
    gpus: [Gpu; GPUS],
}

/// One device's counters.
#[derive(Debug)]
struct Gpu {
    active: AtomicBool,
    fast: [Counters; 2],
    fallback: [Counters; 2],
}

/// Counters of one device, path and direction, on a cache line of their own.
#[repr(align(64))]
#[derive(Debug)]
struct Counters {
    completed: AtomicU64,
    failed: AtomicU64,
    bytes: AtomicU64,
    nanoseconds: AtomicU64,
    unaligned: AtomicU64,
}

impl Counters {
    const fn new() -> Self {
        Self {
            completed: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            nanoseconds: AtomicU64::new(0),
            unaligned: AtomicU64::new(0),
        }
    }
}

impl Gpu {
    const fn new() -> Self {
        Self {
            active: AtomicBool::new(false),
            fast: [const { Counters::new() }; 2],
            fallback: [const { Counters::new() }; 2],
        }
    }

    fn counters(&self, path: Path, direction: Direction) -> &Counters {
        let [read, write] = match path {
            Path::Fast => &self.fast,
            Path::Fallback => &self.fallback,
        };
        match direction {
            Direction::Read => read,
            Direction::Write => write,
        }
    }
}

/// A transfer that has begun.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Begun(Option<Instant>);

impl Stats {
    pub(crate) const fn new() -> Self {
        Self {
            level: OnceLock::new(),
            files: AtomicU64::new(0),
            buffers: AtomicU64::new(0),
            gpus: [const { Gpu::new() }; GPUS],
        }
    }

    /// The counters of this process.
    pub(crate) fn get() -> &'static Self {
        static STATS: Stats = Stats::new();
        &STATS
    }

    fn counts(&self) -> bool {
        *self.level.get_or_init(config::stats_level) > 0
    }

    /// Counts a file registration.
    pub(crate) fn file_registered(&self) {
        if self.counts() {
            self.files.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Counts a buffer registration.
    pub(crate) fn buffer_registered(&self) {
        if self.counts() {
            self.buffers.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Starts the clock of a transfer.
    #[inline]
    pub(crate) fn begin(&self) -> Begun {
        Begun(self.counts().then(Instant::now))
    }

    /// Counts a transfer on a path: the bytes it moved, `None` if it failed.
    #[inline]
    pub(crate) fn end(
        &self,
        begun: Begun,
        device: c_int,
        path: Path,
        direction: Direction,
        moved: Option<usize>,
        unaligned: bool,
    ) {
        let Some(since) = begun.0 else { return };
        let nanoseconds = u64::try_from(since.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let Some(gpu) = usize::try_from(device).ok().and_then(|device| self.gpus.get(device)) else { return };
        if !gpu.active.load(Ordering::Relaxed) {
            gpu.active.store(true, Ordering::Relaxed);
        }
        let counters = gpu.counters(path, direction);
        match moved {
            Some(bytes) => {
                counters.completed.fetch_add(1, Ordering::Relaxed);
                counters.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
                counters.nanoseconds.fetch_add(nanoseconds, Ordering::Relaxed);
            }
            None => {
                counters.failed.fetch_add(1, Ordering::Relaxed);
            }
        }
        if unaligned {
            counters.unaligned.fetch_add(1, Ordering::Relaxed);
        }
    }
}
