//! `cargo xtask test`: every test of the workspace, suite by suite, with one summary.

mod build;
mod examples;
mod outcome;
pub mod releases;
mod rules;
mod suite;

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use clap::ValueEnum;

use crate::cargo::programs;
use crate::rocm::{self, Rocm};
use crate::{Result, needed, soft_rocm};

pub use build::{Sanitizer, target};
pub use examples::example;

use build::Build;
use outcome::Outcome;
use rules::Covered;
pub use suite::{FEATURES, Suite};

/// Run the tests and print a summary
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Run this suite alone; may be repeated [default: all]
    #[arg(long, value_name = "S")]
    suite: Vec<Suite>,
    /// Have a sanitizer watch the tests, on the software ROCm; give the suites that it is for: soundness, failures,
    /// stress
    #[arg(long, value_name = "SANITIZER", requires = "suite")]
    sanitize: Option<Sanitizer>,
    /// Passed to the test programs: a filter, --nocapture and so on
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGS")]
    arguments: Vec<OsString>,
}

/// The command.
pub fn run(args: &Args, choice: &rocm::Choice) -> Result {
    let rocm = match args.sanitize {
        Some(sanitizer) => sanitized(sanitizer)?,
        None => Rocm::choose(choice)?,
    };
    run_on(args, &rocm)
}

/// One suite, which must pass; with a sanitizer on the software ROCm.
pub fn must_pass(suite: Suite, sanitize: Option<Sanitizer>, rocm: &Rocm) -> Result<()> {
    let args = Args { suite: vec![suite], sanitize, arguments: Vec::new() };
    let code = match sanitize {
        Some(sanitizer) => run_on(&args, &sanitized(sanitizer)?)?,
        None => run_on(&args, rocm)?,
    };
    if code == ExitCode::SUCCESS { Ok(()) } else { Err(format!("the {} suite failed", suite.name()).into()) }
}

/// The software ROCm whose libraries a sanitizer watches.
fn sanitized(sanitizer: Sanitizer) -> Result<Rocm> {
    Rocm::choose(&rocm::Choice::Prefix(soft_rocm::sanitized(sanitizer)?))
}

fn run_on(args: &Args, rocm: &Rocm) -> Result {
    let suites = if args.suite.is_empty() { Suite::value_variants() } else { &args.suite };
    let mut rows = Vec::new();
    let mut covered = None;
    for suite in suites {
        let started = Instant::now();
        let mut outcome = Outcome::default();
        if *suite == Suite::Examples {
            outcome.add(examples::run(rocm)?);
        }
        if *suite == Suite::Cli {
            // On whichever ROCm the other tests run, these know what the software one prints.
            soft_rocm::ensure()?;
        }
        let build = Build::of(rocm, *suite, args.sanitize)?;
        for command in suite.commands() {
            outcome.add(cargo_test(&build, command, &args.arguments)?);
        }
        if *suite == Suite::Soundness {
            covered = Some(Covered::of_soundness(&outcome)?);
        }
        rows.push((suite.name(), outcome, started.elapsed()));
    }
    let code = summary(rows);
    if let Some(covered) = covered {
        covered.print();
    }
    Ok(code)
}

/// Builds and runs one `cargo test`. What does not build, or ends badly without saying why, is one failure.
fn cargo_test(build: &Build, selection: &[&str], arguments: &[OsString]) -> Result<Outcome> {
    eprintln!("\nxtask: cargo test {}", selection.join(" "));
    let mut built = Vec::new();
    if !selection.contains(&"--doc") {
        let checked = programs(build.cargo_test(selection)?.arg("--no-run")).and_then(|programs| {
            programs.iter().try_for_each(|program| needed::check(program, &build.rocm))?;
            Ok(programs)
        });
        match checked {
            Ok(programs) => built = programs,
            Err(error) => {
                eprintln!("error: {error}");
                return Ok(Outcome::failure());
            }
        }
    }
    let mut outcome = Outcome::default();
    for mut command in build.runs(selection, &built)? {
        command.args(build.filter()).args(arguments.iter().filter(|argument| *argument != "--"));
        outcome.add(read(&mut command)?);
    }
    Ok(outcome)
}

/// Runs tests, showing what they say.
fn read(command: &mut Command) -> Result<Outcome> {
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cannot start {}: {error}", Path::new(command.get_program()).display()))?;
    let mut outcome = Outcome::default();
    if let Some(output) = child.stdout.take() {
        let mut terminal = std::io::stdout().lock();
        for line in BufReader::new(output).split(b'\n') {
            let line = line?;
            terminal.write_all(&line)?;
            terminal.write_all(b"\n")?;
            outcome.read(&String::from_utf8_lossy(&line));
        }
    }
    if !child.wait()?.success() && outcome.failed == 0 {
        outcome.failed = 1;
    }
    Ok(outcome)
}

fn summary(rows: Vec<(String, Outcome, Duration)>) -> ExitCode {
    let mut total = Outcome::default();
    println!(
        "\n{:<12} {:<7} {:>7} {:>7} {:>8} {:>9}",
        "suite", "result", "passed", "failed", "ignored", "seconds"
    );
    for (name, outcome, time) in rows {
        let result = if outcome.failed == 0 { "ok" } else { "FAILED" };
        let Outcome { passed, failed, ignored, .. } = outcome;
        println!("{name:<12} {result:<7} {passed:>7} {failed:>7} {ignored:>8} {:>9.1}", time.as_secs_f64());
        total.add(outcome);
    }
    println!("\n{} passed, {} failed", total.passed, total.failed);
    if total.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
