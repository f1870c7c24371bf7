//! Counters of what was done, read without a lock and shared with whoever asks.
//!
//! ```text
//!  transfers ── Stats ── memory    a sealed memory file, mapped: layout says what lies where
//!                 │        │
//!              report    server    hands the file to other processes, on a thread of its own
//!                          ┊
//!                        client    in the other process: maps it and makes a text of it
//! ```

mod client;
mod layout;
mod memory;
#[cfg(feature = "v0_5")]
mod report;
mod server;
mod text;

use std::ffi::c_int;
use std::os::fd::OwnedFd;
use std::sync::OnceLock;
use std::time::Instant;

pub(crate) use client::Remote;
#[cfg(feature = "v0_5")]
pub(crate) use report::{level_1, level_2, level_3};

use crate::behaviour::{self, Version};
use crate::config;
pub(crate) use layout::Shared;
use layout::{Early, Layout, add, of, of_size};
use memory::Memory;

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
    level: u32,
    counters: Counters,
}

/// Where it is counted.
#[derive(Debug)]
enum Counters {
    Shared(&'static Shared),
    Early(&'static Early),
    /// There is no memory that could be shared.
    Missing,
}

/// A transfer that has begun.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Begun(Option<Instant>);

impl Begun {
    /// What each of several transfers done in one go has taken: its part of the time so far.
    pub(crate) fn shared_by(self, count: u32) -> Self {
        let share = |since: Instant| {
            let now = Instant::now();
            now.checked_sub((now - since) / count.max(1)).unwrap_or(since)
        };
        Self(self.0.map(share))
    }
}

/// A transfer that has ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ended {
    /// The device it is counted for.
    pub(crate) device: c_int,
    pub(crate) path: Path,
    pub(crate) direction: Direction,
    /// Bytes asked for.
    pub(crate) size: usize,
    /// Bytes moved; `None` if it failed.
    pub(crate) moved: Option<usize>,
    pub(crate) unaligned: bool,
}

impl Stats {
    /// Counters that start at 0, and the file that their memory is.
    pub(crate) fn new(version: Version, level: u32) -> (Self, Option<OwnedFd>) {
        fn memory<T: Layout>(
            level: u32,
            counters: fn(&'static T) -> Counters,
        ) -> (Counters, Option<OwnedFd>) {
            match Memory::<T>::new(level) {
                Ok(memory) => (counters(memory.counters), Some(memory.fd)),
                Err(_) => (Counters::Missing, None),
            }
        }
        let (counters, file) = match version {
            Version::V0_2 => memory(level, Counters::Early),
            Version::V0_4 | Version::V0_5 => memory(level, Counters::Shared),
        };
        (Self { level, counters }, file)
    }

    /// The counters of this process. The first call makes their memory and starts the thread that hands it out.
    #[inline]
    pub(crate) fn get() -> &'static Self {
        static STATS: OnceLock<Stats> = OnceLock::new();
        STATS.get_or_init(|| {
            let (stats, file) = Self::new(behaviour::get().version, config::stats_level());
            if let Some(file) = file {
                // Without the thread the statistics are this process's alone.
                let _ = server::start(file);
            }
            stats
        })
    }

    /// The counters in the layout that reports are made from.
    pub(crate) fn shared(&self) -> Option<&Shared> {
        match self.counters {
            Counters::Shared(shared) => Some(shared),
            Counters::Early(_) | Counters::Missing => None,
        }
    }

    /// The same, if anything is counted.
    fn counted(&self) -> Option<&Shared> {
        self.shared().filter(|_| self.level > 0)
    }

    /// Counts a file registration.
    pub(crate) fn file_registered(&self) {
        if let Some(shared) = self.counted() {
            add(&shared.files, 1);
        }
    }

    /// Counts a buffer registration.
    pub(crate) fn buffer_registered(&self) {
        if let Some(shared) = self.counted() {
            add(&shared.buffers, 1);
        }
    }

    /// Counts a request that the fast path declined, for whatever reason.
    #[inline]
    pub(crate) fn fast_path_declined(&self) {
        if let Some(shared) = self.counted() {
            add(&shared.rejections, 1);
        }
    }

    /// Starts the clock of a transfer.
    #[inline]
    pub(crate) fn begin(&self) -> Begun {
        Begun((self.level > 0).then(Instant::now))
    }

    /// Counts a transfer.
    #[inline]
    pub(crate) fn end(&self, begun: Begun, ended: Ended) {
        let Some(since) = begun.0 else { return };
        let microseconds = u64::try_from(since.elapsed().as_micros()).unwrap_or(u64::MAX);
        let Ended { device, path, direction, size, moved, unaligned } = ended;
        let shared = match (&self.counters, moved) {
            (Counters::Shared(shared), _) => shared,
            (Counters::Early(early), Some(bytes)) => return add(early.bytes(path, direction), bytes as u64),
            (Counters::Early(_) | Counters::Missing, _) => return,
        };
        let Some(counters) = usize::try_from(device).ok().and_then(|device| shared.counters(device, path))
        else {
            return;
        };
        counters.use_it();
        match moved {
            Some(bytes) => {
                add(of_size(&counters.completed, direction, bytes), 1);
                add(of_size(&counters.bytes, direction, bytes), bytes as u64);
                add(of_size(&counters.microseconds, direction, bytes), microseconds);
            }
            None => add(of_size(&counters.failed, direction, size), 1),
        }
        if unaligned {
            add(of(&counters.unaligned, direction), 1);
        }
    }
}
