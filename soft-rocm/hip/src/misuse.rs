//! Illegal use of memory: reported and stopped where the environment asks for it, else just refused.

use std::ffi::c_void;
use std::fmt;

use soft_rocm_faults::Point;

use crate::bindings::hipError_t;
use crate::memory::{Memory, Verdict};
use crate::report::report;

/// Hands the result of a use of ranges on. Does not return if it is an error, one of the ranges is the reason, and
/// `SOFT_ROCM_STRICT=abort` is set.
#[inline]
pub(crate) fn used<T>(
    memory: &Memory,
    point: Point,
    ranges: &[(*const c_void, usize)],
    result: Result<T, hipError_t>,
) -> Result<T, hipError_t> {
    if result.is_err() {
        explain(
            memory,
            point,
            ranges.iter().map(|(start, len)| Wrong {
                start: start.addr(),
                len: Some(*len),
                verdict: memory.judge_use(start.addr(), *len),
            }),
        );
    }
    result
}

/// As [`used`], for a call that was to end an allocation.
#[inline]
pub(crate) fn ended(
    memory: &Memory,
    point: Point,
    start: *const c_void,
    result: Result<(), hipError_t>,
) -> Result<(), hipError_t> {
    if result.is_err() {
        let verdict = memory.judge_end(start.addr());
        explain(memory, point, std::iter::once(Wrong { start: start.addr(), len: None, verdict }));
    }
    result
}

#[cold]
fn explain(memory: &Memory, point: Point, mut all: impl Iterator<Item = Wrong>) {
    if !memory.explains() {
        return;
    }
    if let Some(wrong) = all.find(|wrong| !matches!(wrong.verdict, Verdict::Fine)) {
        report(format_args!("{}: {wrong}; aborting (SOFT_ROCM_STRICT=abort)", point.name()));
        std::process::abort();
    }
}

/// What is wrong with which memory.
#[derive(Debug)]
pub(crate) struct Wrong {
    /// Where it starts.
    pub(crate) start: usize,
    /// How long it is, if it has a length.
    pub(crate) len: Option<usize>,
    /// What is wrong.
    pub(crate) verdict: Verdict,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.start)?;
        if let Some(len) = self.len {
            write!(f, " + {len}")?;
        }
        match self.verdict {
            Verdict::Fine => write!(f, " is usable"),
            Verdict::Leaves(found) => {
                let behind =
                    self.start.saturating_add(self.len.unwrap_or(1)).saturating_sub(found.base + found.len);
                write!(f, " ends {behind} bytes behind {found}")
            }
            Verdict::Ended(freed) => {
                let ago = freed.at.elapsed();
                write!(f, " is in {}, which thread {} freed {ago:.1?} ago", freed.allocation, freed.thread)
            }
            Verdict::Nowhere if self.len.is_none() => write!(f, " is no allocation of this library"),
            Verdict::Nowhere => write!(f, " is device memory that is not allocated"),
            Verdict::OtherFunction(found) => write!(f, " is {found}; use {}", found.kind.ended_by()),
            Verdict::Inside(found) => write!(f, " is inside {found}, not its start"),
        }
    }
}
