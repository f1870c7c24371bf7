//! `cargo xtask test`: every test of the workspace, suite by suite, with one summary.

use std::ffi::OsString;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{ExitCode, Stdio};
use std::time::{Duration, Instant};

use clap::ValueEnum;

use crate::cargo::{programs, status};
use crate::rocm::{self, Rocm};
use crate::{Result, faulty_copy, needed};

/// Run the tests and print a summary
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Run this suite alone; may be repeated [default: all]
    #[arg(long, value_name = "S")]
    suite: Vec<Suite>,
    /// Passed to the test programs: a filter, --nocapture and so on
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGS")]
    arguments: Vec<OsString>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Suite {
    /// Tests inside the packages, of the tools and of the software ROCm too
    Unit,
    /// The examples in the documentation
    Doc,
    /// Sizes, offsets, values and prototypes of the C interface
    Abi,
    /// Programs in C and C++
    Clients,
    /// What the C library promises, one process a case
    Conformance,
    /// Device memory through hip-alloc
    Alloc,
    /// Files and device memory through the safe interface
    System,
    /// Scripted faults, forks, signals, no more descriptors
    Faults,
    /// What must never happen, tried
    Soundness,
    /// What must not compile
    Ui,
    /// The example programs, run
    Examples,
}

impl Suite {
    /// The arguments of each `cargo test` that makes up the suite. Packages that are built alone must not share a
    /// command: cargo would give all of them the union of their features.
    fn commands(self) -> &'static [&'static [&'static str]] {
        match self {
            Self::Unit => &[
                &["--tests", "-p", "rocm-loader", "-p", "hipfile-sys", "-p", "hip-alloc", "-p", "hipfile"],
                &["--tests", "-p", "hip-alloc", "--no-default-features"],
                &["--tests", "-p", "soft-rocm-faults"],
                &["--tests", "-p", "soft-rocm-hip"],
                &["--tests", "-p", "soft-rocm-hipfile"],
                &["--tests", "-p", "xtask"],
            ],
            Self::Doc => {
                &[&["--doc", "-p", "rocm-loader", "-p", "hipfile-sys", "-p", "hip-alloc", "-p", "hipfile"]]
            }
            Self::Abi => &[&["-p", "hipfile-tests", "--test", "abi"]],
            Self::Clients => &[&["-p", "hipfile-tests", "--test", "clients"]],
            Self::Conformance => &[&["-p", "hipfile-tests", "--test", "conformance"]],
            Self::Alloc => &[&["-p", "hipfile-tests", "--test", "alloc"]],
            Self::System => &[&["-p", "hipfile-tests", "--test", "system"]],
            Self::Faults => &[&["-p", "hipfile-tests", "--test", "faults"]],
            Self::Soundness => &[&["-p", "hipfile-tests", "--test", "soundness"]],
            Self::Ui => &[&["-p", "hipfile-tests", "--test", "ui"]],
            Self::Examples => &[],
        }
    }
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
    let rocm = Rocm::choose(choice)?;
    let suites = if args.suite.is_empty() { Suite::value_variants() } else { &args.suite };
    let mut rows = Vec::new();
    for suite in suites {
        let started = Instant::now();
        let mut count = Count::default();
        if *suite == Suite::Examples {
            count.add(examples(&rocm)?);
        }
        for command in suite.commands() {
            count.add(cargo_test(&rocm, command, &args.arguments)?);
        }
        rows.push((name(*suite), count, started.elapsed()));
    }
    Ok(summary(&rows))
}

fn name(suite: Suite) -> String {
    suite.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

/// Builds and runs one `cargo test`. What does not build, or ends badly without saying why, is one failure.
fn cargo_test(rocm: &Rocm, selection: &[&str], arguments: &[OsString]) -> Result<Count> {
    let command = || {
        let mut command = rocm.cargo();
        command.args(["test", "--locked", "--no-fail-fast"]).args(selection);
        command
    };
    eprintln!("\nxtask: cargo test {}", selection.join(" "));
    if !selection.contains(&"--doc") {
        let checked = programs(command().arg("--no-run"))
            .and_then(|programs| programs.iter().try_for_each(|program| needed::check(program, rocm)));
        if let Err(error) = checked {
            eprintln!("error: {error}");
            return Ok(Count { failed: 1, ..Count::default() });
        }
    }
    let mut child = command()
        .arg("--")
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

    #[test]
    fn every_suite_but_the_examples_is_a_cargo_test() {
        for suite in Suite::value_variants() {
            assert_eq!(suite.commands().is_empty(), *suite == Suite::Examples, "{suite:?}");
        }
    }
}
