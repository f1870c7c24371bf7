//! Every entry point of a list × every failure, and the table of what came of it.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::path::Path;
use std::process::ExitCode;
use std::thread;

use hipfile::alloc::Device;
use hipfile_tests::soft;

use crate::entry::{Entry, Failure, Outcome};
use crate::expected::{self, Rule};
use crate::part::aborts;
use crate::script::{Calls, Code, Point, called};
use crate::stage::{CURRENT, Holdings, Stage};
use crate::system;

/// What came of the failures of one point in one entry point.
#[derive(Default)]
struct Cell {
    /// Failures scripted.
    tried: usize,
    /// Errors with the code that was scripted.
    told: usize,
    /// Errors with another code, for a reason in the list.
    translated: usize,
    /// No error, for a reason in the list.
    made_good: usize,
    /// Allocations leaked and counted.
    leaks: usize,
    /// The process ended, as it must when a scope can't wait.
    aborts: usize,
    /// Why what is in the two columns of reasons is right.
    reasons: BTreeSet<&'static str>,
}

/// The heads of the columns.
const HEAD: [&str; 8] =
    ["entry point", "failing", "failures", "told", "translated", "made good", "leaked", "aborted"];

fn print(row: [&dyn Display; 8]) {
    let [entry, point, tried, told, translated, made_good, leaks, aborts] = row;
    println!(
        "{entry:<36} {point:<34} {tried:>8} {told:>8} {translated:>10} {made_good:>9} {leaks:>6} {aborts:>7}"
    );
}

/// Runs a list, prints its table, and says what was wrong.
pub fn run(entries: &[Entry]) -> ExitCode {
    let points = Point::all();
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    // What starts once in a process starts before anything is counted.
    drop(Stage::new(folder));
    let filters = system::is_here();
    if !filters {
        println!("system calls of the crates are left alone: no thread may have a filter of seccomp here");
    }
    let mut wrong = Vec::new();
    let (mut all, mut unreached) = (0, 0);
    let mut reasons: BTreeSet<&str> = BTreeSet::new();
    print(HEAD.each_ref().map(|head| head as &dyn Display));
    for entry in entries {
        let reached = match reached(entry, &points, folder) {
            Ok(reached) => reached,
            Err(failure) => {
                wrong.push(format!("{}: fails without a failure: {}", entry.name, failure.text()));
                continue;
            }
        };
        unreached += points.len() - reached.len();
        let ours = if filters { system::calls(entry.name) } else { Vec::new() };
        if reached.is_empty() && ours.is_empty() {
            print([&entry.name, &"nothing that can fail", &0, &0, &0, &0, &0, &0]);
        }
        for point in reached.iter().chain(&ours) {
            let mut cell = Cell::default();
            for (code, calls) in point.failures() {
                cell.tried += 1;
                let judged = if expected::aborts(entry, *point) {
                    cell.aborts += 1;
                    aborts(entry, *point, code, calls)
                } else {
                    fail(entry, *point, code, calls, folder, &mut cell)
                };
                if let Err(reason) = judged {
                    wrong.push(format!("{} × {}: {reason}", entry.name, point.plan(code, calls)));
                    break;
                }
            }
            all += cell.tried;
            let Cell { tried, told, translated, made_good, leaks, aborts, reasons: why } = &cell;
            print([&entry.name, &point.name, tried, told, translated, made_good, leaks, aborts]);
            reasons.extend(why);
        }
    }
    println!(
        "{} entry points × {} calls that can fail: {all} failures tried; {unreached} pairs never meet",
        entries.len(),
        points.len()
    );
    if soft::is_watched() {
        println!(
            "under AddressSanitizer: of HIP's and hipFile's codes one for each way in which they are taken"
        );
    }
    println!("translated or made good:");
    for why in reasons {
        println!("- {why}");
    }
    for line in &wrong {
        eprintln!("wrong: {line}");
    }
    if wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The points that the entry point calls.
fn reached(entry: &Entry, points: &[Point], folder: &Path) -> Result<Vec<Point>, Failure> {
    // Under a plan that names a copy, libhipfile has HIP copy where it would do so by itself.
    let (mut copies, mut reached): (Vec<Point>, Vec<Point>) =
        points.iter().partition(|point| point.name.starts_with("hipMemcpy"));
    for points in [&mut copies, &mut reached] {
        // Threads of the libraries make calls too, now and then.
        for _ in 0..2 {
            let mut stage = Stage::new(folder);
            (entry.prepare)(&mut stage);
            let (called, outcome) = called(points, || on_a_new_thread(entry, &mut stage));
            outcome.expect("no panic")?;
            *points = called;
        }
    }
    reached.extend(copies);
    Ok(reached)
}

/// Calls it where nobody has called anything: libhipfile asks some things once in each thread.
fn on_a_new_thread(entry: &Entry, stage: &mut Stage) -> thread::Result<Outcome> {
    thread::scope(|scope| scope.spawn(|| (entry.call)(stage)).join())
}

/// Calls an entry point under a failure and judges what comes of it.
fn fail(
    entry: &Entry,
    point: Point,
    code: Code,
    calls: Calls,
    folder: &Path,
    cell: &mut Cell,
) -> Result<(), String> {
    let before = Holdings::now(folder);
    let mut stage = Stage::new(folder);
    (entry.prepare)(&mut stage);
    let (outcome, current) = thread::scope(|scope| {
        let call = scope.spawn(|| {
            point.begin(code, calls);
            let outcome = (entry.call)(&mut stage);
            point.end();
            (outcome, Device::current())
        });
        call.join()
    })
    .map_err(|_| {
        point.end();
        "it panicked".to_owned()
    })?;
    let current = current.map(Device::ordinal).map_err(|error| error.to_string())?;
    if current != CURRENT {
        return Err(format!("device {current} is current"));
    }
    drop(stage);
    let leaks = Holdings::lost_since(before, folder, point.name == "hipFileDriverClose")?.leaks_since(before);
    cell.leaks += leaks;
    if leaks > 0 && !expected::LEAKING.contains(&point.name) {
        return Err(format!("{leaks} allocations leaked"));
    }
    judge(entry, point, code, &outcome, cell)
}

fn judge(entry: &Entry, point: Point, code: Code, outcome: &Outcome, cell: &mut Cell) -> Result<(), String> {
    let Err(failure) = outcome else {
        cell.made_good += 1;
        return match Rule::find(expected::MADE_GOOD, entry, point, code) {
            Some(rule) => {
                cell.reasons.insert(rule.why);
                Ok(())
            }
            None => Err("no error".to_owned()),
        };
    };
    let text = failure.text();
    if expected::has(failure, code) {
        cell.told += 1;
    } else {
        cell.translated += 1;
        match Rule::find(expected::TRANSLATED, entry, point, code) {
            Some(rule) => cell.reasons.insert(rule.why),
            None => return Err(format!("another code: {text}")),
        };
    }
    let kind = expected::kind(failure, point);
    if failure.kind() != kind {
        return Err(format!("kind {} and not {kind}: {text}", failure.kind()));
    }
    // Of a HIP call that failed below libhipfile the text has HIP's code.
    let number = failure.hip().map(i64::from).or_else(|| failure.raw());
    let number = number.map(|number| number.to_string()).unwrap_or_default();
    if !text.starts_with(failure.operation()) || text.contains('\n') || !text.contains(&number) {
        return Err(format!("the text is not operation, cause and code {number}: {text}"));
    }
    if !failure.names(entry.about) {
        return Err(format!("the error does not say what it is about: {text}"));
    }
    Ok(())
}
