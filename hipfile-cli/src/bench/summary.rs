//! Measurements of the same kind, and how they compare.

use serde::Serialize;

use super::measurement::{Measurement, ratio};
use super::mode::Mode;
use super::operation::Operation;
use super::plan::{Case, Settings};
use crate::size::Size;

/// Everything that `--json` prints.
#[derive(Debug, Serialize)]
pub struct Document<'a> {
    pub version: &'static str,
    /// The ROCm in use; none if nothing needed one.
    pub rocm: Option<String>,
    /// The GPU; none likewise.
    pub device: Option<u32>,
    pub files: Vec<String>,
    pub offset: Size,
    pub seed: u64,
    pub registered: bool,
    pub depth: usize,
    pub direct: bool,
    /// Whether spans of writes end when the data is on the disk.
    pub sync: bool,
    pub results: &'a [Summary],
}

/// The rounds of one case.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    pub mode: Mode,
    pub operation: Operation,
    pub threads: usize,
    pub block: Size,
    /// Of the round in the middle.
    pub gib_per_second: f64,
    pub least_gib_per_second: f64,
    pub most_gib_per_second: f64,
    /// To the first mode with the same number of threads and block size; none if there is one mode.
    pub ratio: Option<f64>,
    pub rounds: Vec<Measurement>,
}

impl Summary {
    fn of(case: Case, operation: Operation, rounds: Vec<Measurement>) -> Self {
        let mut summary = Self {
            mode: case.mode,
            operation,
            threads: case.threads,
            block: Size(case.block),
            gib_per_second: 0.0,
            least_gib_per_second: 0.0,
            most_gib_per_second: 0.0,
            ratio: None,
            rounds,
        };
        let ordered = summary.ordered();
        let speed = |round: Option<&&Measurement>| round.map_or(0.0, |round| round.gib_per_second);
        let (least, most) = (speed(ordered.first()), speed(ordered.last()));
        summary.gib_per_second = summary.middle().map_or(0.0, |round| round.gib_per_second);
        summary.least_gib_per_second = least;
        summary.most_gib_per_second = most;
        summary
    }

    fn ordered(&self) -> Vec<&Measurement> {
        let mut ordered: Vec<_> = self.rounds.iter().collect();
        ordered.sort_by(|one, other| one.gib_per_second.total_cmp(&other.gib_per_second));
        ordered
    }

    /// The round that is neither among the faster nor among the slower half; of two, the slower.
    pub fn middle(&self) -> Option<&Measurement> {
        let ordered = self.ordered();
        ordered.get(ordered.len().saturating_sub(1) / 2).copied()
    }
}

/// Sums up rounds, each of which has the cases in order.
pub fn summarize(cases: &[Case], settings: &Settings, rounds: &[Vec<Measurement>]) -> Vec<Summary> {
    let mut summaries: Vec<Summary> = Vec::new();
    for (index, case) in cases.iter().enumerate() {
        let mine = rounds.iter().filter_map(|round| round.get(index).cloned()).collect();
        let mut summary = Summary::of(*case, settings.operation, mine);
        let same = |other: &&Case| other.threads == case.threads && other.block == case.block;
        let peers = cases.iter().filter(same).count();
        let first = cases.iter().position(|other| same(&other));
        if peers > 1 {
            let base = match first {
                Some(first) if first < index => summaries.get(first).map(|first| first.gib_per_second),
                _ => Some(summary.gib_per_second),
            };
            summary.ratio = base.map(|base| ratio(summary.gib_per_second, base));
        }
        summaries.push(summary);
    }
    summaries
}
