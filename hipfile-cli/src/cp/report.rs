//! What came of it, for people and as JSON.

use std::io;
use std::path::PathBuf;

use serde::Serialize;

use super::route::{Paths, Route};
use super::span::Span;
use crate::failure::Failure;
use crate::name::{self, Name};
use crate::output::{Output, Style};
use crate::size::{Size, in_bytes};

/// All of it, as `--json` prints it.
#[derive(Debug, Default, Serialize)]
pub struct Report {
    files: Vec<Copy>,
    total: Total,
}

/// A source, and what came of it.
#[derive(Debug, Serialize)]
pub struct Copy {
    #[serde(serialize_with = "name::in_json")]
    source: PathBuf,
    #[serde(serialize_with = "name::in_json")]
    destination: PathBuf,
    copied: Option<Copied>,
    error: Option<Failure>,
}

/// A copy that is complete.
#[derive(Debug, Serialize)]
pub struct Copied {
    #[serde(flatten)]
    counts: Counts,
    holes: Size,
    #[serde(flatten)]
    speed: Speed,
    #[serde(skip)]
    span: Span,
    verified: bool,
    route: &'static str,
    predicted: Option<Paths>,
    observed: Option<Paths>,
    reasons: Vec<String>,
}

/// Bytes of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// The length.
    pub bytes: u64,
    /// What was read and written: the rest are holes.
    pub moved: u64,
    /// What of it went through host memory beside a file that went through the GPU.
    pub odd: u64,
    /// What of it was in the page cache and was read there, beside a file that is read directly.
    pub cached: u64,
}

/// How long it took, until it was on the storage device.
#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Speed {
    seconds: f64,
    /// 10^9 bytes that moved, by the wall.
    gb_per_second: Option<f64>,
    cpu_seconds: f64,
    cpu_seconds_per_gb: Option<f64>,
}

#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Total {
    copied: usize,
    failed: usize,
    bytes: u64,
    moved: u64,
    #[serde(flatten)]
    speed: Speed,
    #[serde(skip)]
    span: Span,
}

impl Speed {
    fn of(moved: u64, span: Span) -> Self {
        let gigabytes = moved as f64 / 1e9;
        let (seconds, cpu_seconds) = (span.wall.as_secs_f64(), span.cpu.as_secs_f64());
        let over = |a: f64, b: f64| (moved > 0 && b > 0.0).then(|| rounded(a / b));
        Self {
            seconds: rounded(seconds),
            gb_per_second: over(gigabytes, seconds),
            cpu_seconds: rounded(cpu_seconds),
            cpu_seconds_per_gb: over(cpu_seconds, gigabytes),
        }
    }
}

/// Bytes from which on the time they took says something about speed.
const WORTH_A_RATE: u64 = 1 << 20;

/// To a millionth: what is below is noise.
fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

impl Copied {
    pub fn new(counts: Counts, span: Span, verified: bool, route: Route, observed: Option<Paths>) -> Self {
        let (route, predicted, reasons) = match route {
            Route::Gpu => ("gpu", Some(Paths::fast()), Vec::new()),
            Route::Host { reasons, predicted } => ("host", predicted, reasons),
        };
        let holes = Size(counts.bytes.saturating_sub(counts.moved));
        let speed = Speed::of(counts.moved, span);
        Self { counts, holes, speed, span, verified, route, predicted, observed, reasons }
    }

    /// As in `fast path, as predicted`.
    fn path(&self) -> String {
        match (&self.predicted, &self.observed) {
            (Some(predicted), Some(observed)) if observed.agree_with(predicted) => {
                format!("{}, as predicted", predicted.read)
            }
            (Some(predicted), Some(observed)) => format!(
                "{} predicted; observed: reads {}, writes {}",
                predicted.read, observed.read, observed.write
            ),
            (Some(predicted), None) if self.route == "gpu" => {
                format!("{} predicted, which this libhipfile does not count", predicted.read)
            }
            _ => format!("host memory: {}", self.reasons.join(", ")),
        }
    }
}

impl Copy {
    pub fn new(source: &std::path::Path, destination: PathBuf, result: Result<Copied, Failure>) -> Self {
        let (copied, error) = match result {
            Ok(copied) => (Some(copied), None),
            Err(failure) => (None, Some(failure)),
        };
        Self { source: source.to_owned(), destination, copied, error }
    }

    /// A line about a copy that is complete.
    pub fn print(&self, output: &Output) -> io::Result<()> {
        let Some(copied) = &self.copied else { return Ok(()) };
        let mut line =
            format!("{} -> {}: {}", Name(&self.source), Name(&self.destination), Size(copied.counts.bytes));
        if copied.holes.0 > 0 {
            line.push_str(&format!(", {} of it holes", copied.holes));
        }
        if copied.verified {
            line.push_str(", verified");
        }
        output.line(line)?;
        let good = match (&copied.predicted, &copied.observed) {
            (Some(predicted), Some(observed)) => observed.agree_with(predicted),
            _ => false,
        };
        let style = if good { Style::Good } else { Style::Warning };
        output.line(format!("  {}", output.paint(style, &copied.path())))?;
        if copied.counts.odd > 0 {
            output.line(format!("  {} at odd ends through host memory", in_bytes(copied.counts.odd)))?;
        }
        if copied.counts.cached > 0 {
            output.line(format!("  {} of it read from the page cache", Size(copied.counts.cached)))?;
        }
        Ok(())
    }
}

impl Report {
    pub fn add(&mut self, copy: Copy) {
        let total = &mut self.total;
        match &copy.copied {
            None => total.failed += 1,
            Some(done) => {
                total.copied += 1;
                total.bytes += done.counts.bytes;
                total.moved += done.counts.moved;
                total.span = total.span.with(done.span);
                total.speed = Speed::of(total.moved, total.span);
            }
        }
        self.files.push(copy);
    }

    /// How many files were not copied.
    pub fn failed(&self) -> usize {
        self.total.failed
    }

    /// A line about all copies.
    pub fn print(&self, output: &Output) -> io::Result<()> {
        let Total { copied, bytes, moved, speed, .. } = self.total;
        if copied == 0 {
            return Ok(());
        }
        let files = if copied == 1 { "1 file".to_owned() } else { format!("{copied} files") };
        let mut line = format!("{files}, {} in {:.2} s", Size(bytes), speed.seconds);
        if moved < bytes {
            line.push_str(&format!(", {} moved", Size(moved)));
        }
        // Of less it would be the rate of opening and naming.
        if let (Some(rate), Some(cpu), true) =
            (speed.gb_per_second, speed.cpu_seconds_per_gb, moved >= WORTH_A_RATE)
        {
            line.push_str(&format!(": {rate:.2} GB/s, {cpu:.2} CPU s/GB"));
        }
        output.line(line)
    }
}
