//! `cargo xtask bench io`: what a read costs beside the system call it makes.

use std::path::Path;

use super::{build, build_with, count, measured};
use crate::Result;
use crate::cargo::status;
use crate::rocm::Rocm;

/// How many instructions `read_at` may take beyond the C function it calls.
const INSTRUCTIONS: f64 = 150.0;

/// How many more it may take with feature `tracing` where nobody listens.
const SILENT_SPAN: f64 = 20.0;

/// Measures, prints, and says whether every limit holds.
pub fn run(rocm: &Rocm) -> Result<bool> {
    let program = build(rocm, "io")?;
    let timing = status(&mut measured(&program, rocm))?;
    let counting = instructions(&program, rocm)?;
    Ok(timing.success() && counting)
}

/// Counts the instructions of `read_at` and of hipFileRead, and says whether the difference is within the limit.
fn instructions(program: &Path, rocm: &Rocm) -> Result<bool> {
    if let Some(reason) = count::lacking("valgrind") {
        println!("instructions of read_at: {reason}");
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
    let traced = per_call(&build_with(rocm, "io", &["--features", "tracing"])?, rocm, "safe")?;
    let span = traced - safe;
    let silent = if span > SILENT_SPAN { "  over" } else { "" };
    println!(
        "  with feature tracing, nobody listening: {span:.0} more than read_at, limit {SILENT_SPAN:.0}{silent}"
    );
    Ok(more <= INSTRUCTIONS && span <= SILENT_SPAN)
}

/// Instructions a call: what 1,000 calls more add to the whole program, so that starting it does not count.
fn per_call(program: &Path, rocm: &Rocm, kind: &str) -> Result<f64> {
    let few = count::instructions(program, rocm, &["calls", kind, "500"])?;
    let many = count::instructions(program, rocm, &["calls", kind, "1500"])?;
    Ok(many.total.saturating_sub(few.total) as f64 / 1000.0)
}
