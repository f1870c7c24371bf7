//! What the run shows of each row of docs/src/contract.md, counted for each of its sections and tags.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::case::Case;
use crate::facts::Lack;
use crate::page::{self, Row, Tag};

/// What became of the cases of a row.
#[derive(Debug, Default)]
struct Outcome {
    cases: usize,
    passed: usize,
    failed: usize,
    /// Why its last skipped case was skipped.
    skipped: Option<Lack>,
}

/// What a row comes to.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    Passed,
    Failed,
    /// Left out by the arguments of the run.
    NotAsked,
    /// Tests of another suite show it.
    Elsewhere(String),
    /// It is about another release.
    OtherRelease(String),
    /// Not shown, and why.
    Skipped(String),
    /// No case names it, and the page does not say why.
    Missing,
}

/// The rows, and what became of them.
#[derive(Debug)]
pub struct Report {
    rows: Vec<Row>,
    outcomes: BTreeMap<String, Outcome>,
    /// Ids of cases that the page does not have.
    unknown: BTreeSet<String>,
    /// Rows without a case, and the test elsewhere that names them.
    elsewhere: BTreeMap<&'static str, String>,
}

impl Report {
    /// Nothing has run yet.
    pub fn new(cases: &[Case]) -> Self {
        let rows = page::rows();
        let mut outcomes: BTreeMap<String, Outcome> = BTreeMap::new();
        for id in cases.iter().flat_map(Case::ids) {
            outcomes.entry(id.to_owned()).or_default().cases += 1;
        }
        let known = |id: &&String| rows.iter().any(|row| row.id == *id);
        let unknown = outcomes.keys().filter(|id| !known(id)).cloned().collect();
        let without = rows.iter().map(|row| row.id).filter(|id| !outcomes.contains_key(*id)).collect();
        Self { rows, outcomes, unknown, elsewhere: page::named_elsewhere(without) }
    }

    /// A case was left out.
    pub fn skipped(&mut self, case: &Case, lack: Lack) {
        for id in case.ids() {
            self.outcomes.entry(id.to_owned()).or_default().skipped = Some(lack.clone());
        }
    }

    /// A case ran.
    pub fn ran(&mut self, case: &Case, passed: bool) {
        for id in case.ids() {
            let outcome = self.outcomes.entry(id.to_owned()).or_default();
            outcome.passed += usize::from(passed);
            outcome.failed += usize::from(!passed);
        }
    }

    /// Whether each row of the page has a case or a reason, and each case rows of the page.
    pub fn is_complete(&self) -> bool {
        self.unknown.is_empty() && self.rows.iter().all(|row| self.verdict(row) != Verdict::Missing)
    }

    fn verdict(&self, row: &Row) -> Verdict {
        let Some(outcome) = self.outcomes.get(row.id) else {
            return match (self.elsewhere.get(row.id), row.reason) {
                (Some(test), "") => Verdict::Elsewhere(test.clone()),
                (None, "") => Verdict::Missing,
                (_, reason) => Verdict::Skipped(reason.to_owned()),
            };
        };
        match outcome {
            Outcome { failed: 1.., .. } => Verdict::Failed,
            Outcome { passed: 1.., .. } => Verdict::Passed,
            Outcome { skipped: Some(Lack::Release(reason)), .. } => Verdict::OtherRelease(reason.clone()),
            Outcome { skipped: Some(Lack::Thing(reason)), .. } => Verdict::Skipped(reason.clone()),
            _ => Verdict::NotAsked,
        }
    }

    /// How many of these rows passed, of how many.
    fn tally<'a>(&self, rows: impl Iterator<Item = &'a Row>) -> (usize, usize) {
        rows.fold((0, 0), |(passed, all), row| {
            (passed + usize::from(self.verdict(row) == Verdict::Passed), all + 1)
        })
    }

    fn line(&self, f: &mut fmt::Formatter<'_>, name: &str, rows: &[&Row]) -> fmt::Result {
        let cell = |(passed, all): (usize, usize)| match all {
            0 => String::new(),
            _ => format!("{passed}/{all}"),
        };
        write!(f, "{name:<45} {:>8}", cell(self.tally(rows.iter().copied())))?;
        let kinds: [fn(&Verdict) -> bool; 3] = [
            |verdict| matches!(verdict, Verdict::Elsewhere(_)),
            |verdict| matches!(verdict, Verdict::OtherRelease(_)),
            |verdict| matches!(verdict, Verdict::Skipped(_)),
        ];
        for kind in kinds {
            let count = rows.iter().filter(|row| kind(&self.verdict(row))).count();
            write!(f, " {:>9}", if count == 0 { String::new() } else { count.to_string() })?;
        }
        for tag in Tag::ALL {
            write!(f, " {:>8}", cell(self.tally(rows.iter().copied().filter(|row| row.tag == tag))))?;
        }
        writeln!(f)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n{:<45} {:>8}", "section of docs/src/contract.md", "passed")?;
        ["elsewhere", "release", "no test"].iter().try_for_each(|kind| write!(f, " {kind:>9}"))?;
        Tag::ALL.iter().try_for_each(|tag| write!(f, " {tag:>8}"))?;
        writeln!(f)?;
        for section in self.rows.chunk_by(|left, right| left.section == right.section) {
            self.line(f, section[0].section, &section.iter().collect::<Vec<_>>())?;
        }
        self.line(f, "all", &self.rows.iter().collect::<Vec<_>>())?;
        let mut others: BTreeMap<Verdict, Vec<&str>> = BTreeMap::new();
        self.rows.iter().for_each(|row| others.entry(self.verdict(row)).or_default().push(row.id));
        for (verdict, ids) in others {
            let (count, ids) = (ids.len(), ids.join(" "));
            match verdict {
                Verdict::Passed => {}
                Verdict::Failed => writeln!(f, "failed ({count}): {ids}")?,
                Verdict::NotAsked => writeln!(f, "not asked for: {count} rows")?,
                Verdict::Elsewhere(test) => writeln!(f, "elsewhere ({count}), {test}: {ids}")?,
                Verdict::OtherRelease(reason) => writeln!(f, "release ({count}), {reason}: {ids}")?,
                Verdict::Skipped(reason) => writeln!(f, "no test ({count}), {reason}: {ids}")?,
                Verdict::Missing => writeln!(f, "MISSING ({count}), no case and no reason: {ids}")?,
            }
        }
        let cases: usize = self.outcomes.values().map(|outcome| outcome.cases).sum();
        if !self.unknown.is_empty() {
            writeln!(f, "UNKNOWN, in a case and not on the page: {:?}", self.unknown)?;
        }
        write!(f, "{} rows, shown {cases} times", self.rows.len())
    }
}
