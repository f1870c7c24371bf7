//! What is measured.

use crate::asynchronous::Asynchronous;
use crate::batch::Batch;
use crate::owned::Owned;
use crate::plain::Round;
use crate::stage::Stage;
use crate::threads::Threads;
use crate::{Result, compare, threads};

/// `count` reads of `len` bytes, one after the other in the file, submitted together.
#[derive(Debug)]
pub struct Row {
    /// As `calls` takes it.
    pub name: &'static str,
    /// As `cargo xtask bench` takes it.
    pub group: &'static str,
    pub title: &'static str,
    pub count: usize,
    pub len: usize,
    /// How often all reads are made, by each of the ways that are compared.
    pub rounds: usize,
    /// How many threads make the reads, where the program has a thread for each share of them.
    pub threads: Option<usize>,
}

pub const ROWS: &[Row] = &[
    Row {
        name: "async",
        group: "async",
        title: "1,000 x 64 KiB async, one registered stream",
        count: 1000,
        len: 64 << 10,
        rounds: 60,
        threads: None,
    },
    Row {
        name: "owned",
        group: "owned",
        title: "1,000 x 64 KiB owned, one registered stream",
        count: 1000,
        len: 64 << 10,
        rounds: 60,
        threads: None,
    },
    Row {
        name: "batch-4k",
        group: "batch",
        title: "batch of 128 x 4 KiB",
        count: 128,
        len: 4 << 10,
        rounds: 2000,
        threads: None,
    },
    Row {
        name: "batch-1m",
        group: "batch",
        title: "batch of 128 x 1 MiB",
        count: 128,
        len: 1 << 20,
        rounds: 40,
        threads: None,
    },
    Row {
        name: "threads",
        group: "threads",
        title: "1,024 x 64 KiB by 16 threads, hipFileRead",
        count: 1024,
        len: 64 << 10,
        rounds: 60,
        threads: Some(threads::THREADS),
    },
];

/// The row of that name.
pub fn named(name: &str) -> Result<&'static Row> {
    let found = ROWS.iter().find(|row| row.name == name);
    found.ok_or_else(|| format!("no row {name}: {}", names(|row| row.name)).into())
}

/// The rows of a group.
pub fn group(name: &str) -> Result<Vec<&'static Row>> {
    let rows: Vec<_> = ROWS.iter().filter(|row| row.group == name).collect();
    if rows.is_empty() {
        Err(format!("no group {name}: {}", names(|row| row.group)).into())
    } else {
        Ok(rows)
    }
}

fn names(of: impl Fn(&Row) -> &'static str) -> String {
    let mut names: Vec<_> = ROWS.iter().map(of).collect();
    names.dedup();
    format!("expected one of {}", names.join(", "))
}

impl Row {
    /// All bytes of a round.
    pub fn bytes(&self) -> usize {
        self.count * self.len
    }

    /// A file and device memory for this row.
    pub fn stage(&self) -> Result<Stage> {
        Stage::new(self.bytes())
    }

    /// The way under test.
    pub fn engine<'s>(&self, stage: &'s Stage) -> Result<Box<dyn Round + 's>> {
        Ok(match self.group {
            "async" => Box::new(Asynchronous::new(stage, self)?),
            "owned" => Box::new(Owned::new(stage, self)?),
            "batch" => Box::new(Batch::new(stage, self)?),
            _ => Box::new(Threads::new(stage, self)),
        })
    }

    /// The line of a measurement.
    pub fn line(&self, outcome: &compare::Outcome) -> String {
        let rate = |time: f64| self.bytes() as f64 / time / 1e9;
        let compare::Outcome { ours, theirs, threads, ratio, as_many } = *outcome;
        let verdict = if ratio >= compare::GOAL { "PASS" } else { "below" };
        let mut line = format!(
            "{:<45} {:>6.2} {:>8.2} ({threads}) {ratio:>8.3}  {verdict}",
            self.title,
            rate(ours),
            rate(theirs)
        );
        if let (Some(threads), Some((theirs, ratio))) = (self.threads, as_many) {
            let theirs = rate(theirs);
            line += &format!("\n  pread by {threads} threads: {theirs:.2} GB/s, ours is {ratio:.3} of it");
        }
        line
    }
}
