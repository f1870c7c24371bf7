//! What a measurement found.

use std::time::Duration;

use hipfile::{Observed, Predicted};
use serde::Serialize;

use super::cache::CacheReport;
use super::latency::{Histogram, Latency};
use super::mode::Mode;
use super::operation::Operation;
use super::plan::Case;
use crate::size::Size;
use crate::usage::Usage;

/// The numbers of one measurement, as `--json` prints them. A GiB is 2^30 bytes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measurement {
    #[serde(skip)]
    pub mode: Mode,
    #[serde(skip)]
    pub operation: Operation,
    #[serde(skip)]
    pub threads: usize,
    #[serde(skip)]
    pub block: Size,
    /// Transferred.
    pub bytes: u64,
    /// Those that there were to transfer.
    pub data_set: u64,
    pub operations: u64,
    /// From the moment when the first thread began to the one when the last had ended and what was written was on the disk.
    pub span_seconds: f64,
    /// `bytes` in `span_seconds`.
    pub gib_per_second: f64,
    pub latency_us: Latency,
    pub cpu: Cpu,
    pub page_cache: CacheReport,
    /// The path that libhipfile says it took; none where it does not tell, or has no part in it.
    pub path: Option<String>,
    /// The path that libhipfile's rules have the first transfer take; none if it has no part in it.
    pub predicted: Option<String>,
    /// The bytes checked; none if that was not asked for.
    pub verified: Option<u64>,
}

/// The processor's time, of all threads of the process.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Cpu {
    pub user_seconds: f64,
    pub system_seconds: f64,
    pub seconds_per_gib: f64,
}

/// What was counted and timed.
#[derive(Clone, Debug)]
pub struct Findings {
    pub bytes: u64,
    pub data_set: u64,
    pub span: Duration,
    pub times: Histogram,
    pub usage: Usage,
    pub page_cache: CacheReport,
    pub observed: Option<Observed>,
    pub predicted: Option<Predicted>,
    pub verified: Option<u64>,
}

/// Bytes of a GiB.
pub const GIB: f64 = (1u64 << 30) as f64;

impl Measurement {
    /// Of a case.
    pub fn of(case: Case, operation: Operation, found: Findings) -> Self {
        let Findings { bytes, data_set, span, times, usage, page_cache, observed, predicted, verified } =
            found;
        let (span_seconds, gib) = (span.as_secs_f64(), bytes as f64 / GIB);
        let (user_seconds, system_seconds) = (usage.user.as_secs_f64(), usage.system.as_secs_f64());
        Self {
            mode: case.mode,
            operation,
            threads: case.threads,
            block: Size(case.block),
            bytes,
            data_set,
            operations: times.total(),
            span_seconds,
            gib_per_second: ratio(gib, span_seconds),
            latency_us: times.latency(),
            cpu: Cpu {
                user_seconds,
                system_seconds,
                seconds_per_gib: ratio(user_seconds + system_seconds, gib),
            },
            page_cache,
            path: observed
                .filter(|observed| *observed != Observed::Nothing)
                .map(|observed| observed.to_string()),
            predicted: predicted.map(|predicted| predicted.to_string()),
            verified,
        }
    }

    /// The path taken as far as is known, in words; none if libhipfile has no part in it.
    pub fn path(&self) -> Option<String> {
        match (&self.path, &self.predicted) {
            (Some(path), _) => Some(path.clone()),
            (None, Some(path)) => Some(format!("{path} (predicted)")),
            (None, None) => self.mode.is_hipfile().then(|| "?".to_owned()),
        }
    }
}

/// A quotient; 0 where there is none.
pub fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}
