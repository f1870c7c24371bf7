//! `cargo xtask bench owned`: what an owned read of the safe interface costs beside the C function it calls.

use super::{build, count, engines};
use crate::Result;
use crate::rocm::Rocm;

/// How many instructions an owned read may take beyond hipFileReadAsync: of its submission, of the host function that is
/// on the stream behind it, and of taking its result.
const INSTRUCTIONS: f64 = 5000.0;

/// Counts, prints, and says whether the limit holds.
pub fn run(rocm: &Rocm) -> Result<bool> {
    if let Some(reason) = count::lacking("valgrind") {
        println!("instructions of an owned read: {reason}");
        return Ok(true);
    }
    let program = build(rocm, "engines")?;
    let raw = engines::per_operation(&program, rocm, "async")?;
    let safe = engines::per_operation(&program, rocm, "owned")?;
    let more = safe - raw;
    let verdict = if more > INSTRUCTIONS { "  over" } else { "" };
    println!(
        "instructions of a 64 KiB read on a registered stream, all threads: {raw:.0} by hipFileReadAsync"
    );
    println!("  by Request::submit and Operation::wait: {more:.0} more, limit {INSTRUCTIONS:.0}{verdict}\n");
    Ok(more <= INSTRUCTIONS)
}
