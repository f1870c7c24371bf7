//! The memory that counters are kept in, laid out as AMD's tool reads it.

use std::sync::atomic::{AtomicU64, Ordering};

use super::{Direction, GPUS, Path};

/// What both layouts call their version, although they differ.
const VERSION: u64 = 1;

/// Classes of transfers by size: below 4 KiB, then powers of two, 64 MiB and above the last.
pub(crate) const CLASSES: usize = 16;

/// Values by direction (read, write) and class of size.
pub(super) type Histograms = [[AtomicU64; CLASSES]; 2];

/// One path of one device.
#[repr(C)]
#[derive(Debug)]
pub(super) struct Counters {
    in_use: AtomicU64,
    /// Bytes moved.
    pub(super) bytes: Histograms,
    /// Transfers that ended well.
    pub(super) completed: Histograms,
    /// What they took in microseconds.
    pub(super) microseconds: Histograms,
    /// Transfers that failed, by the size asked for.
    pub(super) failed: Histograms,
    pub(super) unaligned: [AtomicU64; 2],
}

/// The layout since 0.3.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Shared {
    version: AtomicU64,
    level: AtomicU64,
    pub(super) files: AtomicU64,
    pub(super) buffers: AtomicU64,
    /// Requests that the fast path declined.
    pub(super) rejections: AtomicU64,
    /// By device, then fast path and fallback.
    pub(super) gpus: [[Counters; 2]; GPUS],
}

/// The layout of 0.2: bytes read and written on the fast path, then on the fallback; the rest is unused.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Early {
    level: AtomicU64,
    version: AtomicU64,
    counters: [AtomicU64; 64],
}

const _: () = {
    assert!(size_of::<Counters>() == 1048);
    assert!(size_of::<Shared>() == 33_576);
    assert!(size_of::<Early>() == 528);
};

/// A layout, for which zero bytes are a valid value as it consists of integers.
pub(crate) trait Layout: Sync {
    /// Fills in what never changes.
    fn label(&self, level: u32);
}

impl Layout for Shared {
    fn label(&self, level: u32) {
        self.version.store(VERSION, Ordering::Relaxed);
        self.level.store(level.into(), Ordering::Relaxed);
    }
}

impl Layout for Early {
    fn label(&self, level: u32) {
        self.version.store(VERSION, Ordering::Relaxed);
        self.level.store(level.into(), Ordering::Relaxed);
    }
}

impl Shared {
    pub(super) fn level(&self) -> u64 {
        read(&self.level)
    }

    pub(super) fn counters(&self, device: usize, path: Path) -> Option<&Counters> {
        let [fast, fallback] = self.gpus.get(device)?;
        Some(match path {
            Path::Fast => fast,
            Path::Fallback => fallback,
        })
    }
}

impl Early {
    pub(super) fn level(&self) -> u64 {
        read(&self.level)
    }

    /// Bytes moved that way.
    pub(super) fn bytes(&self, path: Path, direction: Direction) -> &AtomicU64 {
        let [fast_read, fast_write, fallback_read, fallback_write, ..] = &self.counters;
        match (path, direction) {
            (Path::Fast, Direction::Read) => fast_read,
            (Path::Fast, Direction::Write) => fast_write,
            (Path::Fallback, Direction::Read) => fallback_read,
            (Path::Fallback, Direction::Write) => fallback_write,
        }
    }
}

impl Counters {
    pub(super) fn in_use(&self) -> bool {
        read(&self.in_use) != 0
    }

    pub(super) fn use_it(&self) {
        if !self.in_use() {
            self.in_use.store(1, Ordering::Relaxed);
        }
    }
}

/// The values of one direction.
pub(super) fn of<T>(both: &[T; 2], direction: Direction) -> &T {
    let [read, write] = both;
    match direction {
        Direction::Read => read,
        Direction::Write => write,
    }
}

/// The value of a transfer's direction and class of size.
pub(super) fn of_size(histograms: &Histograms, direction: Direction, size: usize) -> &AtomicU64 {
    let classes = of(histograms, direction);
    let [first, .., last] = classes;
    match size >> 12 {
        0 => first,
        pages => classes.get(pages.ilog2() as usize + 1).unwrap_or(last),
    }
}

pub(super) fn read(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

pub(super) fn add(counter: &AtomicU64, value: u64) {
    counter.fetch_add(value, Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_of_sizes() {
        let histograms: Histograms = Default::default();
        let index = |size| {
            let counter = of_size(&histograms, Direction::Write, size);
            histograms[1].iter().position(|other| std::ptr::eq(other, counter)).unwrap()
        };
        assert_eq!([index(0), index(1), index(4095)], [0, 0, 0]);
        assert_eq!([index(4096), index(8191), index(8192), index(16383)], [1, 1, 2, 2]);
        assert_eq!(
            [index((64 << 20) - 1), index(64 << 20), index(128 << 20), index(usize::MAX)],
            [14, 15, 15, 15]
        );
    }
}
