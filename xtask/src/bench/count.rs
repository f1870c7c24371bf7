//! Counting what a program does: instructions by callgrind, system calls by strace.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

use super::measured;
use crate::Result;
use crate::rocm::Rocm;

/// Why nothing can be counted, if a tool is not there.
pub fn lacking(tool: &str) -> Option<String> {
    let there = Command::new(tool).arg("--version").output().is_ok();
    (!there).then(|| format!("not counted, {tool} is missing (package {tool})"))
}

/// What a run of a program executed.
pub struct Instructions {
    pub total: u64,
    /// How many operations the program says it made, 0 if it does not say.
    pub operations: u64,
}

/// Runs a program under callgrind. The kernel's instructions are not seen.
pub fn instructions(program: &Path, rocm: &Rocm, arguments: &[&str]) -> Result<Instructions> {
    let output = measured("valgrind", rocm)
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args(arguments)
        .output()
        .map_err(|error| format!("cannot start valgrind: {error}"))?;
    let text = String::from_utf8_lossy(&output.stderr);
    succeeded(&output)?;
    let total = collected(&text).ok_or_else(|| format!("callgrind printed no count:\n{text}"))?;
    Ok(Instructions { total, operations: operations(&output) })
}

/// What a run of a program asked of the kernel.
pub struct SystemCalls {
    pub by_name: BTreeMap<String, u64>,
    /// How many operations the program says it made, 0 if it does not say.
    pub operations: u64,
}

/// Runs a program under strace, all threads.
pub fn system_calls(program: &Path, rocm: &Rocm, arguments: &[&str]) -> Result<SystemCalls> {
    let output = measured("strace", rocm)
        .args(["-f", "-c"])
        .arg(program)
        .args(arguments)
        .output()
        .map_err(|error| format!("cannot start strace: {error}"))?;
    succeeded(&output)?;
    let text = String::from_utf8_lossy(&output.stderr);
    Ok(SystemCalls { by_name: text.lines().filter_map(row).collect(), operations: operations(&output) })
}

fn succeeded(output: &Output) -> Result<()> {
    if output.status.success() {
        return Ok(());
    }
    Err(format!("counting failed:\n{}", String::from_utf8_lossy(&output.stderr)).into())
}

/// The count in callgrind's closing lines.
fn collected(text: &str) -> Option<u64> {
    text.lines().find_map(|line| line.split_once("Collected : ")?.1.trim().parse().ok())
}

/// The system call of a line of strace's table: share, seconds, microseconds, calls, errors if any, name.
fn row(line: &str) -> Option<(String, u64)> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let (calls, name) = match fields.as_slice() {
        [share, _, _, calls, name] | [share, _, _, calls, _, name] if share.parse::<f64>().is_ok() => {
            (calls, name)
        }
        _ => return None,
    };
    if *name == "total" { None } else { Some(((*name).to_owned(), calls.parse().ok()?)) }
}

/// The program's line `operations N`.
fn operations(output: &Output) -> u64 {
    let text = String::from_utf8_lossy(&output.stdout);
    let number = text.lines().find_map(|line| line.strip_prefix("operations ")?.parse().ok());
    number.unwrap_or(0)
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

    #[test]
    fn rows_of_system_calls() {
        assert_eq!(
            row(" 92.31    0.000120           0      1000           pread64"),
            Some(("pread64".into(), 1000))
        );
        assert_eq!(
            row("  7.69    0.000010           1         7         2 futex"),
            Some(("futex".into(), 7))
        );
        for other in [
            "% time     seconds  usecs/call     calls    errors syscall",
            "------ ----------- ----------- --------- --------- ----------------",
            "100.00    0.000130           0      1007         2 total",
            "strace: Process 7 attached",
            "",
        ] {
            assert_eq!(row(other), None, "{other}");
        }
    }
}
