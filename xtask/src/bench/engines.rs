//! `cargo xtask bench async|batch|threads`: many reads that are submitted together, against plain pread; and what each
//! costs in instructions and system calls.

use std::path::Path;

use super::{build, count, measured};
use crate::Result;
use crate::cargo::status;
use crate::rocm::Rocm;

/// How often a row's reads are all made in the two runs whose difference is counted. The engines' threads poll and
/// sleep as it happens, so more rounds give steadier numbers.
const FEW: usize = 2;
const MANY: usize = 12;

/// The rows of each group, as tests/benches/engines/rows.rs names them.
fn rows(group: &str) -> &'static [&'static str] {
    match group {
        "async" => &["async"],
        "batch" => &["batch-4k", "batch-1m"],
        _ => &["threads"],
    }
}

/// Measures, prints, and says whether every goal is reached.
pub fn run(rocm: &Rocm, group: &str) -> Result<bool> {
    let program = build(rocm, "engines")?;
    let reached = status(measured(&program, rocm).arg(group))?.success();
    println!("for each submitted operation, all threads together:");
    for row in rows(group) {
        println!("  {row:<9} instructions  {}", instructions(&program, rocm, row)?);
        println!("  {row:<9} system calls  {}", system_calls(&program, rocm, row)?);
    }
    println!();
    Ok(reached)
}

fn instructions(program: &Path, rocm: &Rocm, row: &str) -> Result<String> {
    match count::lacking("valgrind") {
        Some(reason) => Ok(reason),
        None => Ok(format!("{:.0} outside the kernel (callgrind)", per_operation(program, rocm, row)?)),
    }
}

/// The instructions of an operation of a row, on all threads.
pub fn per_operation(program: &Path, rocm: &Rocm, row: &str) -> Result<f64> {
    let [few, many] =
        [FEW, MANY].map(|rounds| count::instructions(program, rocm, &["calls", row, &rounds.to_string()]));
    let (few, many) = (few?, many?);
    let more = many.total.saturating_sub(few.total) as f64;
    let operations = many.operations.saturating_sub(few.operations).max(1);
    Ok(more / operations as f64)
}

fn system_calls(program: &Path, rocm: &Rocm, row: &str) -> Result<String> {
    if let Some(reason) = count::lacking("strace") {
        return Ok(reason);
    }
    let [few, many] =
        [FEW, MANY].map(|rounds| count::system_calls(program, rocm, &["calls", row, &rounds.to_string()]));
    let (few, many) = (few?, many?);
    let operations = many.operations.saturating_sub(few.operations).max(1) as f64;
    let mut shares: Vec<(String, f64)> = many
        .by_name
        .into_iter()
        .map(|(name, calls)| {
            let before = few.by_name.get(&name).copied().unwrap_or(0);
            (name, calls.saturating_sub(before) as f64 / operations)
        })
        .collect();
    shares.sort_by(|a, b| b.1.total_cmp(&a.1));
    let total: f64 = shares.iter().map(|(_, share)| share).sum();
    let named: Vec<String> = shares
        .iter()
        .filter(|(_, share)| *share >= 0.005)
        .map(|(name, share)| format!("{name} {share:.2}"))
        .collect();
    Ok(format!("{total:.2}: {} (strace)", named.join(", ")))
}
