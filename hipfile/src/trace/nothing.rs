//! Nothing is told: feature `tracing` is off.

use super::Work;
use crate::error::{Cause, Error, Result};
use crate::explain::Explanation;

/// Stands where there is a span with the feature.
#[derive(Debug)]
pub(crate) struct Trace;

const _: () = assert!(size_of::<Trace>() == 0);

/// Calls `call`.
#[inline(always)]
pub(crate) fn moving(_: Work<'_>, call: impl FnOnce() -> Result<usize>) -> Result<usize> {
    call()
}

#[allow(clippy::unused_self, reason = "a span would be used")]
impl Trace {
    #[inline(always)]
    pub(crate) fn of(_: Work<'_>) -> Self {
        Self
    }

    #[inline(always)]
    pub(crate) fn is_heard(&self) -> bool {
        false
    }

    #[inline(always)]
    pub(crate) fn within<T>(&self, code: impl FnOnce() -> T) -> T {
        code()
    }

    #[inline(always)]
    pub(crate) fn around<T, E>(
        self,
        code: impl FnOnce() -> std::result::Result<T, E>,
        _: impl FnOnce(&E) -> &Error,
    ) -> std::result::Result<T, E> {
        code()
    }

    #[inline(always)]
    pub(crate) fn moved(&self, _: u64) {}

    #[inline(always)]
    pub(crate) fn failed(&self, _: &Error) {}

    #[inline(always)]
    pub(crate) fn failed_by(&self, _: &Cause) {}

    #[inline(always)]
    pub(crate) fn explained(&self, _: Option<&Explanation>) {}
}
