//! Stopping a transfer from elsewhere.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Stops every transfer that it was given to. Clones are the same token; it can't be taken back.
///
/// Chunks that are under way are finished, and counted; no other begins.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use hipfile::alloc::DeviceBuffer;
/// use hipfile::transfer::{CancelToken, Options};
/// use hipfile::{Driver, ErrorKind, OpenOptions};
///
/// # let path = std::env::temp_dir().join(format!("hipfile-doc-cancel-{}", std::process::id()));
/// # std::fs::write(&path, vec![7; 1 << 20])?;
/// let file = OpenOptions::new().read(true).open(&Driver::open()?, &path)?;
/// let mut memory = DeviceBuffer::new(1 << 20)?;
/// let token = CancelToken::new();
/// let enough = token.clone(); // for another thread, or a signal handler
/// let stopped = Options::new()
///     .threads(1)
///     .chunk(256 << 10)
///     .cancel(&token)
///     .progress(|progress| {
///         if progress.bytes >= 512 << 10 {
///             enough.cancel();
///         }
///     })
///     .read_file_into(&file, memory.slice_mut(..)?, 0)
///     .unwrap_err();
/// assert!(token.is_cancelled());
/// assert_eq!((stopped.error().kind(), stopped.report().bytes), (ErrorKind::Cancelled, 512 << 10));
/// # std::fs::remove_file(&path)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
pub struct CancelToken(Arc<AtomicBool>);

impl CancelToken {
    /// A token that stops nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Stops the transfers.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Whether [`cancel`](Self::cancel) was called, on this token or a clone.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}
