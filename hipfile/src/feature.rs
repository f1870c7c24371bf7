//! What the libhipfile in use can do.

mod host_memory;

use crate::error::{Cause, Error, Result};
use crate::ffi;
use crate::version::Version;

/// Something that not every libhipfile can do.
///
/// ```
/// use hipfile::Feature;
///
/// # fn main() -> hipfile::Result<()> {
/// if hipfile::supports(Feature::Stats)? {
///     println!("{} reads so far", hipfile::stats()?.reads.operations);
/// }
/// # Ok(())
/// # }
/// ```
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Feature {
    /// Transfers on streams, as [`Request::submit`](crate::Request::submit). hipFile 0.2, so every library has it.
    Async,
    /// Transfers on streams that can take the fast path. hipFile 0.5; before, all go through host memory.
    AsyncFastPath,
    /// Batches that really run. Libraries before 0.5 accept them and do nothing.
    Batch,
    /// Operation counters: level 3, [`stats`](crate::stats) and [`device_stats`](crate::device_stats). hipFile 0.5.
    Stats,
    /// Operations counted by size: level 2, [`size_histograms`](crate::size_histograms). hipFile 0.5.
    SizeHistograms,
    /// [`Driver::properties`](crate::Driver::properties) and what sets them. No release of AMD's library.
    Properties,
    /// [`Parameter`](crate::Parameter). No release of AMD's library.
    Parameters,
    /// Pinned host memory as a buffer of the library's. No release of AMD's library; the transfers of host memory that
    /// [`FileHandle`](crate::FileHandle::read_host_at) has need nothing of it.
    HostMemory,
}

/// Whether the libhipfile in use has `feature`. It asks the running library: all releases before 1.0 share one file name.
///
/// Asking changes nothing, except that for [`Feature::HostMemory`] a page of pinned memory is registered and removed again.
///
/// # Errors
///
/// As for [`version`](crate::version()); for [`Feature::HostMemory`] also what keeps a page from being allocated,
/// [`ErrorKind::NoDevice`](crate::ErrorKind::NoDevice) for one.
pub fn supports(feature: Feature) -> Result<bool> {
    let ask = || {
        let api = ffi::api()?;
        let since = |version| Ok(ffi::version(api)? >= version);
        match feature {
            Feature::Async => Ok(true),
            Feature::AsyncFastPath => since(Version::ASYNC_FAST_PATH),
            Feature::Batch => since(Version::BATCH),
            // A build of 0.5 may lack the functions.
            Feature::Stats => Ok(since(Version::STATS)? && ffi::stats::by_device_exist(api)),
            Feature::SizeHistograms => Ok(since(Version::STATS)? && ffi::stats::histograms_exist(api)),
            Feature::Properties => Ok(implemented(&ffi::settings::properties(api))),
            Feature::Parameters => Ok(implemented(&ffi::settings::flag(api, 0))),
            Feature::HostMemory => host_memory::supported(api),
        }
    };
    ask().map_err(|cause| Error::new("ask for a feature", cause))
}

/// Whether an answer, good or bad, is one of a library that does what it was asked for.
fn implemented<T>(answer: &std::result::Result<T, Cause>) -> bool {
    !matches!(answer, Err(Cause::Unimplemented(_)))
}
