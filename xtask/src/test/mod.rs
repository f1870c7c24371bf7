//! `cargo xtask test`: every test of the workspace, suite by suite, with one summary.

mod build;
mod suite;

use std::ffi::OsString;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{ExitCode, Stdio};
use std::time::{Duration, Instant};

use clap::ValueEnum;

use crate::cargo::{programs, status};
use crate::rocm::{self, Rocm};
use crate::{Result, faulty_copy, needed, soft_rocm};

pub use build::{Sanitizer, target};

use build::Build;
use suite::Suite;

/// Run the tests and print a summary
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Run this suite alone; may be repeated [default: all]
    #[arg(long, value_name = "S")]
    suite: Vec<Suite>,
    /// Have a sanitizer watch the tests, on the software ROCm; give the suites that it is for, such as stress
    #[arg(long, value_name = "SANITIZER", requires = "suite")]
    sanitize: Option<Sanitizer>,
    /// Passed to the test programs: a filter, --nocapture and so on
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGS")]
    arguments: Vec<OsString>,
}

/// What a run of tests came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Count {
    passed: u64,
    failed: u64,
    ignored: u64,
}

impl Count {
    fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.ignored += other.ignored;
    }

    /// Counts an example and says how it went.
    fn note(&mut self, name: &str, outcome: Result<()>) {
        let verdict = if outcome.is_ok() { "ok" } else { "FAILED" };
        println!("example {name} ... {verdict}");
        match outcome {
            Ok(()) => self.passed += 1,
            Err(error) => {
                eprintln!("error: {error}");
                self.failed += 1;
            }
        }
    }

    /// What one line of a test program's output reports, if it is its closing line.
    fn of_line(line: &str) -> Option<Self> {
        let (_, numbers) = line.trim().strip_prefix("test result: ")?.split_once(". ")?;
        let mut count = Self::default();
        for part in numbers.split(';') {
            match part.trim().split_once(' ') {
                Some((number, "passed")) => count.passed = number.parse().ok()?,
                Some((number, "failed")) => count.failed = number.parse().ok()?,
                Some((number, "ignored")) => count.ignored = number.parse().ok()?,
                _ => {}
            }
        }
        Some(count)
    }
}

/// The command.
pub fn run(args: &Args, choice: &rocm::Choice) -> Result {
    let rocm = match args.sanitize {
        Some(sanitizer) => Rocm::choose(&rocm::Choice::Prefix(soft_rocm::sanitized(sanitizer)?))?,
        None => Rocm::choose(choice)?,
    };
    let suites = if args.suite.is_empty() { Suite::value_variants() } else { &args.suite };
    let mut rows = Vec::new();
    for suite in suites {
        let started = Instant::now();
        let mut count = Count::default();
        if *suite == Suite::Examples {
            count.add(examples(&rocm)?);
        }
        let build = Build::of(&rocm, *suite, args.sanitize);
        for command in suite.commands() {
            count.add(cargo_test(&build, command, &args.arguments)?);
        }
        rows.push((suite.name(), count, started.elapsed()));
    }
    Ok(summary(&rows))
}

/// 64 threads on instrumented libraries.
pub fn stress_under_address_sanitizer() -> Result<()> {
    let args = Args {
        suite: vec![Suite::Stress],
        sanitize: Some(Sanitizer::Address),
        arguments: vec!["--nocapture".into()],
    };
    let code = run(&args, &rocm::Choice::Soft)?;
    if code == ExitCode::SUCCESS { Ok(()) } else { Err("the stress suite failed".into()) }
}

/// Builds and runs one `cargo test`. What does not build, or ends badly without saying why, is one failure.
fn cargo_test(build: &Build, selection: &[&str], arguments: &[OsString]) -> Result<Count> {
    eprintln!("\nxtask: cargo test {}", selection.join(" "));
    if !selection.contains(&"--doc") {
        let checked = programs(build.cargo_test(selection).arg("--no-run"))
            .and_then(|programs| programs.iter().try_for_each(|program| needed::check(program, build.rocm)));
        if let Err(error) = checked {
            eprintln!("error: {error}");
            return Ok(Count { failed: 1, ..Count::default() });
        }
    }
    let mut child = build
        .cargo_test(selection)
        .arg("--")
        .args(build.filter())
        .args(arguments.iter().filter(|argument| *argument != "--"))
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cannot start cargo: {error}"))?;
    let mut count = Count::default();
    if let Some(output) = child.stdout.take() {
        let mut terminal = std::io::stdout().lock();
        for line in BufReader::new(output).split(b'\n') {
            let line = line?;
            terminal.write_all(&line)?;
            terminal.write_all(b"\n")?;
            if let Some(result) = Count::of_line(&String::from_utf8_lossy(&line)) {
                count.add(result);
            }
        }
    }
    if !child.wait()?.success() && count.failed == 0 {
        count.failed = 1;
    }
    Ok(count)
}

/// Runs every example program of the library packages.
fn examples(rocm: &Rocm) -> Result<Count> {
    eprintln!("\nxtask: the example programs");
    let mut build = rocm.cargo();
    build.args(["build", "--locked", "--examples", "-p", "hip-alloc", "-p", "hipfile"]);
    let programs = match programs(&mut build) {
        Ok(programs) => programs,
        Err(error) => {
            eprintln!("error: {error}");
            return Ok(Count { failed: 1, ..Count::default() });
        }
    };
    let dir = rocm.target_dir().join("examples");
    fs::create_dir_all(&dir).map_err(|error| format!("cannot create {}: {error}", dir.display()))?;
    let mut count = Count::default();
    for program in &programs {
        let name = program.file_stem().unwrap_or_default().to_string_lossy();
        count.note(&name, needed::check(program, rocm).and_then(|()| example(program, &dir, rocm)));
        if name == "copy" {
            count.note("copy under scripted faults", faulty_copy::run(program, &dir, rocm));
        }
    }
    Ok(count)
}

/// Runs an example. Each takes a file; `copy` also takes where the copy goes.
fn example(program: &Path, dir: &Path, rocm: &Rocm) -> Result<()> {
    fs::write(dir.join("source"), (0..10_007_u32).map(|i| (i % 251) as u8).collect::<Vec<_>>())?;
    let mut command = rocm.command(program);
    command.current_dir(dir).arg("source");
    if program.file_stem().is_some_and(|name| name == "copy") {
        command.arg("copy-of-source");
    }
    let status = status(&mut command)?;
    if status.success() { Ok(()) } else { Err(format!("{} ended with {status}", program.display()).into()) }
}

fn summary(rows: &[(String, Count, Duration)]) -> ExitCode {
    let mut total = Count::default();
    println!(
        "\n{:<12} {:<7} {:>7} {:>7} {:>8} {:>9}",
        "suite", "result", "passed", "failed", "ignored", "seconds"
    );
    for (name, count, time) in rows {
        let result = if count.failed == 0 { "ok" } else { "FAILED" };
        let Count { passed, failed, ignored } = count;
        println!("{name:<12} {result:<7} {passed:>7} {failed:>7} {ignored:>8} {:>9.1}", time.as_secs_f64());
        total.add(*count);
    }
    println!("\n{} passed, {} failed", total.passed, total.failed);
    if total.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closing_line_of_a_test_program_is_counted() {
        let line = "test result: FAILED. 12 passed; 3 failed; 1 ignored; 0 measured; 4 filtered out; finished in 0.01s";
        assert_eq!(Count::of_line(line), Some(Count { passed: 12, failed: 3, ignored: 1 }));
        let line = "test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out";
        assert_eq!(Count::of_line(line), Some(Count::default()));
        for other in ["test a ... ok", "running 3 tests", "test result: ok", "3 passed; 1 failed"] {
            assert_eq!(Count::of_line(other), None, "{other}");
        }
    }
}
