//! `cargo xtask bench io`: what a read costs beside the system call it makes, with limits.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, ExitCode};

use crate::cargo::{programs, status};
use crate::rocm::{self, Rocm};
use crate::{Result, needed};

/// Measure, print a table and fail if a limit is exceeded
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to measure
    #[arg(default_value = "io", value_parser = ["io"])]
    name: String,
}

/// How many instructions `read_at` may take beyond the C function it calls.
const INSTRUCTIONS: f64 = 150.0;

/// The command.
pub fn run(args: &Args, choice: &rocm::Choice) -> Result {
    let rocm = Rocm::choose(choice)?;
    let mut build = rocm.cargo();
    build.args(["bench", "--locked", "--no-run", "-p", "hipfile-tests", "--bench", &args.name]);
    let built = programs(&mut build)?;
    let program =
        built.first().ok_or_else(|| format!("cargo reported no program for the benchmark {}", args.name))?;
    needed::check(program, &rocm)?;

    let timing = status(&mut measured(program, &rocm))?;
    let counting = count(program, &rocm)?;
    Ok(if timing.success() && counting { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A command that always takes the path which is compared.
fn measured(program: impl AsRef<OsStr>, rocm: &Rocm) -> Command {
    let mut command = rocm.command(program);
    command.env("HIPFILE_FORCE_COMPAT_MODE", "true");
    command
}

/// Counts the instructions of `read_at` and of hipFileRead, and says whether the difference is within the limit.
fn count(program: &Path, rocm: &Rocm) -> Result<bool> {
    if Command::new("valgrind").arg("--version").output().is_err() {
        println!("instructions of read_at: not counted, valgrind is missing (package valgrind)");
        return Ok(true);
    }
    let raw = per_call(program, rocm, "raw")?;
    let safe = per_call(program, rocm, "safe")?;
    let sliced = per_call(program, rocm, "sliced")?;
    let more = safe - raw;
    let verdict = if more > INSTRUCTIONS { "  over" } else { "" };
    println!("instructions of a 4 KiB read: {raw:.0} by hipFileRead");
    println!("  by read_at into a slice:            {more:.0} more, limit {INSTRUCTIONS:.0}{verdict}");
    println!("  by slice_mut and read_at together:  {:.0} more", sliced - raw);
    Ok(more <= INSTRUCTIONS)
}

/// Instructions a call: what 1,000 calls more add to the whole program, so that starting it does not count.
fn per_call(program: &Path, rocm: &Rocm, kind: &str) -> Result<f64> {
    let few = instructions(program, rocm, kind, 500)?;
    let many = instructions(program, rocm, kind, 1500)?;
    Ok(many.saturating_sub(few) as f64 / 1000.0)
}

fn instructions(program: &Path, rocm: &Rocm, kind: &str, calls: u64) -> Result<u64> {
    let output = measured("valgrind", rocm)
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args(["calls", kind, &calls.to_string()])
        .output()
        .map_err(|error| format!("cannot start valgrind: {error}"))?;
    let text = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("counting the calls failed:\n{text}").into());
    }
    collected(&text).ok_or_else(|| format!("callgrind printed no count:\n{text}").into())
}

/// The count in callgrind's closing lines.
fn collected(text: &str) -> Option<u64> {
    text.lines().find_map(|line| line.split_once("Collected : ")?.1.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_is_found() {
        let text = "==7== Events    : Ir\n==7== Collected : 479842\n==7== \n==7== I   refs:      479,842\n";
        assert_eq!(collected(text), Some(479_842));
        assert_eq!(collected("==7== I refs: 1\n"), None);
    }
}
