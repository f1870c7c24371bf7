//! Synchronous transfers: which path, its result, and the second try.

mod bounce;
mod device;
mod fallback;
mod fastpath;
mod select;
mod together;

use std::ffi::{c_int, c_void};
use std::sync::LazyLock;

use crate::behaviour::Version;
use crate::buffer::Buffer;
use crate::config::Config;
use crate::failure::Failure;
use crate::file::File;
use crate::hip::Hip;
use crate::stats::{Direction, Ended, Path, Stats};

pub(crate) use bounce::Bounce;
pub(crate) use fallback::{Manner, through_alias, through_bounce, through_hip};
pub(crate) use fastpath::run as run_fast;
pub(crate) use select::{is_direct, select};
pub(crate) use together::read_together;

/// What is to be moved, as the caller asked for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request<'a> {
    pub(crate) direction: Direction,
    pub(crate) file: &'a File,
    pub(crate) buffer: &'a Buffer,
    pub(crate) size: usize,
    pub(crate) file_offset: i64,
    pub(crate) buffer_offset: i64,
}

/// The most that one call moves: the system's own limit for one read or write.
pub(crate) fn max_size() -> usize {
    static MAX: LazyLock<usize> = LazyLock::new(|| {
        // SAFETY: requires nothing.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        let page = usize::try_from(page).ok().filter(|page| page.is_power_of_two()).unwrap_or(4096);
        0x7fff_ffff & !(page - 1)
    });
    *MAX
}

impl Request<'_> {
    /// Where in device memory the bytes are, for device code.
    pub(crate) fn address(&self) -> *mut c_void {
        self.buffer.address(self.buffer_offset)
    }

    /// Refuses negative offsets, as every release after 0.3 does at once.
    pub(crate) fn check_offsets(&self) -> Result<(), Failure> {
        if self.file_offset < 0 || self.buffer_offset < 0 {
            return Err(Failure::Os(libc::EINVAL));
        }
        Ok(())
    }

    /// Moves the bytes and returns how many.
    ///
    /// # Errors
    ///
    /// 5030 if no path takes the request, 5022 if it leaves the buffer, else what the path met.
    #[inline]
    pub(crate) fn run(&self, hip: &Hip, config: &Config, stats: &Stats) -> Result<usize, Failure> {
        if config.behaviour.version >= Version::V0_4 {
            self.check_offsets()?;
        }
        if self.buffer.host {
            stats.fast_path_declined();
            return self.run_host(stats);
        }
        match select(hip, config, stats, self).ok_or(Failure::INTERNAL)? {
            Path::Fast => self.run_fast(hip, config, stats),
            Path::Fallback => self.run_fallback(hip, config, stats),
        }
    }

    fn run_fast(&self, hip: &Hip, config: &Config, stats: &Stats) -> Result<usize, Failure> {
        self.buffer.check_range(self.buffer_offset, self.size)?;
        let begun = stats.begin();
        let result = fastpath::run(hip, self);
        let device = if config.behaviour.amd_quirks { current_device(hip) } else { self.buffer.device };
        stats.end(begun, self.ended(device, Path::Fast, result.ok(), false));
        match result {
            Err(Failure::Os(libc::ENODEV | libc::EREMOTEIO)) if config.fallback => {
                self.run_fallback(hip, config, stats)
            }
            other => other,
        }
    }

    /// Moves the bytes of host memory, for which there is one way, whatever the environment says. It is counted as the
    /// fallback.
    #[cold]
    fn run_host(&self, stats: &Stats) -> Result<usize, Failure> {
        let cut = self.cut()?;
        let begun = stats.begin();
        let result = fallback::run_host(&cut);
        stats.end(begun, cut.ended(self.buffer.device, Path::Fallback, result.ok(), false));
        result
    }

    /// The request with as many bytes as one call moves.
    ///
    /// # Errors
    ///
    /// 5022 if even these leave the buffer.
    #[inline]
    fn cut(&self) -> Result<Self, Failure> {
        let size = self.size.min(max_size());
        self.buffer.check_range(self.buffer_offset, size)?;
        if self.file_offset < 0 {
            return Err(Failure::INVALID_VALUE);
        }
        Ok(Self { size, ..*self })
    }

    fn ended(&self, device: c_int, path: Path, moved: Option<usize>, unaligned: bool) -> Ended {
        Ended { device, path, direction: self.direction, size: self.size, moved, unaligned }
    }

    #[inline]
    fn run_fallback(&self, hip: &Hip, config: &Config, stats: &Stats) -> Result<usize, Failure> {
        let cut = self.cut()?;
        let begun = stats.begin();
        let result = fallback::run(hip, &cut, &config.behaviour);
        let unaligned = !select::is_aligned(self);
        stats.end(begun, cut.ended(self.buffer.device, Path::Fallback, result.ok(), unaligned));
        result
    }
}

/// The device that AMD's library counts a transfer for: −1, which none is, where HIP can't tell.
fn current_device(hip: &Hip) -> c_int {
    hip.current_device().ok().flatten().unwrap_or(-1)
}

#[cfg(test)]
mod tests;
