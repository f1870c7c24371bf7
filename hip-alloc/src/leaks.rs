//! Count of memory that could not be freed.

use core::sync::atomic::{AtomicU64, Ordering};

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0);

/// Device and pinned memory that this process could not free: see [`leaked`].
///
/// ```
/// assert_eq!(hip_alloc::leaked(), hip_alloc::Leaked::default());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Leaked {
    /// Number of allocations.
    pub allocations: u64,
    /// Their size in bytes.
    pub bytes: u64,
}

/// What dropped buffers left allocated because freeing would have been unsafe (a library still holds a registration of the
/// memory) or failed, and what operations own of which nobody knows any more whether a device uses it.
///
/// Values passed to [`core::mem::forget`] are not counted, nor what is dropped in a forked child. The two numbers are read
/// one after the other, so they may differ by leaks that happen meanwhile.
#[must_use]
pub fn leaked() -> Leaked {
    Leaked { allocations: ALLOCATIONS.load(Ordering::Relaxed), bytes: BYTES.load(Ordering::Relaxed) }
}

/// Counts one allocation of `bytes` bytes as leaked, and tells whoever listens through `tracing`.
pub fn record(bytes: usize) {
    count(bytes);
    tell(bytes);
}

/// Counts only. [`tell`] is for when no lock is held.
pub(crate) fn count(bytes: usize) {
    ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
    BYTES.fetch_add(bytes as u64, Ordering::Relaxed);
}

/// Tells only.
#[cfg(feature = "tracing")]
pub(crate) fn tell(bytes: usize) {
    crate::quietly::quietly(|| {
        let Leaked { allocations, bytes: together } = leaked();
        tracing::warn!(
            target: "hip_alloc", bytes, allocations, together,
            "memory is leaked, since a device or a library may still use it or it could not be freed",
        );
    });
}

#[cfg(not(feature = "tracing"))]
pub(crate) fn tell(_: usize) {}
