//! What is found, as `--json` prints it.

use serde::Serialize;

use super::place::Place;
use super::system::System;
use super::volume::Volume;

/// The version of the document: counted up when a field goes or changes its meaning, not when one comes.
const SCHEMA: u32 = 1;

#[derive(Debug, Serialize)]
pub struct Report {
    pub schema: u32,
    /// The worst of all rows.
    pub verdict: Verdict,
    pub kernel: Option<String>,
    pub checks: Vec<Row>,
    pub volumes: Vec<Volume>,
    pub paths: Vec<Place>,
}

/// From good to bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    Pass,
    /// Worth knowing; does not count for the exit status.
    Warn,
    Fail,
}

/// One check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    /// A name that stays.
    pub id: &'static str,
    pub name: &'static str,
    pub verdict: Verdict,
    /// What was found.
    pub detail: String,
    /// What to do about it; none if it passes.
    pub advice: Option<String>,
}

impl Row {
    pub fn pass(id: &'static str, name: &'static str, detail: impl Into<String>) -> Self {
        Self { id, name, verdict: Verdict::Pass, detail: detail.into(), advice: None }
    }

    pub fn warn(
        id: &'static str,
        name: &'static str,
        detail: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Self { verdict: Verdict::Warn, advice: Some(advice.into()), ..Self::pass(id, name, detail) }
    }

    pub fn fail(
        id: &'static str,
        name: &'static str,
        detail: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        Self { verdict: Verdict::Fail, ..Self::warn(id, name, detail, advice) }
    }

    /// Whether it keeps every transfer on this machine off the fast path. That no volume qualifies does not: each place is
    /// looked at by itself.
    pub fn keeps_off(&self) -> bool {
        self.verdict == Verdict::Fail && self.id != super::volume::ID
    }
}

/// Something about a place that matters for the fast path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub text: String,
    pub advice: String,
    /// Whether it keeps transfers off the fast path; else it is worth knowing.
    pub broken: bool,
}

impl Finding {
    /// It keeps transfers off the fast path.
    pub fn broken(text: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { text: text.into(), advice: advice.into(), broken: true }
    }

    /// It is worth knowing.
    pub fn note(text: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { broken: false, ..Self::broken(text, advice) }
    }
}

impl Report {
    pub fn new(system: &System, checks: Vec<Row>, volumes: Vec<Volume>, paths: Vec<Place>) -> Self {
        let verdicts = checks.iter().map(|row| row.verdict).chain(paths.iter().map(|place| place.verdict));
        let verdict = verdicts.max().unwrap_or(Verdict::Pass);
        Self { schema: SCHEMA, verdict, kernel: system.release(), checks, volumes, paths }
    }

    /// Whether no row is [`Verdict::Fail`].
    pub fn passes(&self) -> bool {
        self.verdict != Verdict::Fail
    }
}
