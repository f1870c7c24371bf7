//! Counters by size.

use crate::error::Result;
use crate::ffi;

/// Transfers by size: see [`size_histograms`].
///
/// ```
/// # fn main() -> hipfile::Result<()> {
/// use hipfile::SizeHistograms;
///
/// let sizes: SizeHistograms = hipfile::size_histograms()?;
/// if sizes == SizeHistograms::default() {
///     println!("nothing was transferred, or this library does not sort by size");
/// }
/// # Ok(())
/// # }
/// ```
#[doc(alias = "hipFileStatsLevel2_t")]
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SizeHistograms {
    /// Reads, in classes of size that grow from the first to the last.
    pub reads: [u64; 32],
    /// Writes, in the same classes.
    pub writes: [u64; 32],
}

/// How many transfers were of which size, for all users of the library in this process together. hipFile 0.5.
///
/// AMD's library has the function and leaves all classes at zero; where they begin and end is not laid down.
///
/// # Errors
///
/// As for [`stats`](crate::stats).
///
/// ```
/// # fn main() -> hipfile::Result<()> {
/// let sizes = hipfile::size_histograms()?;
/// assert!(sizes.reads.iter().sum::<u64>() <= hipfile::stats()?.reads.operations);
/// # Ok(())
/// # }
/// ```
#[doc(alias = "hipFileGetStatsL2")]
pub fn size_histograms() -> Result<SizeHistograms> {
    super::read("histograms of sizes", ffi::stats::histograms)
        .map(|all| SizeHistograms { reads: all.read_size_kb_hist, writes: all.write_size_kb_hist })
}
