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

/// How many more where somebody listens to the spans of others alone.
const UNHEARD_SPAN: f64 = 160.0;

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
    let traced = build_with(rocm, "io", &["--features", "tracing"])?;
    let mut within = more <= INSTRUCTIONS;
    println!("  by read_at with feature tracing, beside read_at without:");
    let listeners = [("nobody listens", "safe", SILENT_SPAN), ("to others' spans", "unheard", UNHEARD_SPAN)];
    for (who, kind, limit) in listeners {
        let span = per_call(&traced, rocm, kind)? - safe;
        let verdict = if span > limit { "  over" } else { "" };
        println!("    {who:<33} {span:.0} more, limit {limit:.0}{verdict}");
        within &= span <= limit;
    }
    Ok(within)
}

/// Instructions a call: what 1,000 calls more add to the whole program, so that starting it does not count.
fn per_call(program: &Path, rocm: &Rocm, kind: &str) -> Result<f64> {
    let few = count::instructions(program, rocm, &["calls", kind, "500"])?;
    let many = count::instructions(program, rocm, &["calls", kind, "1500"])?;
    Ok(many.total.saturating_sub(few.total) as f64 / 1000.0)
}
