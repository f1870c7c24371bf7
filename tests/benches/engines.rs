//! How fast many reads go that are submitted together: asynchronously, as a batch, or by many threads.
//! `cargo xtask bench async|batch|threads` runs this, and counts what `owned` does.
//!
//! - `async`, `owned`, `batch`, `threads`: throughput against plain pread by the best of 1, 2 and 4 threads, with a goal;
//! - `calls ROW ROUNDS`: so many rounds of one row (named by [`rows::names`]) without the comparison, for counting
//!   instructions and system calls; prints how many operations that were.

#[path = "engines/asynchronous.rs"]
mod asynchronous;
#[path = "engines/batch.rs"]
mod batch;
#[path = "engines/compare.rs"]
mod compare;
#[path = "engines/owned.rs"]
mod owned;
#[path = "engines/plain.rs"]
mod plain;
#[path = "engines/rows.rs"]
mod rows;
#[path = "scene.rs"]
mod scene;
#[path = "engines/stage.rs"]
mod stage;
#[path = "engines/team.rs"]
mod team;
#[path = "engines/threads.rs"]
mod threads;

use std::process::ExitCode;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    // cargo adds `--bench`.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match arguments.as_slice() {
        [group] => compare::run(group),
        ["calls", row, rounds] => calls(row, rounds).map(|()| ExitCode::SUCCESS),
        other => Err(format!("arguments {other:?}: expected a group of rows, or `calls ROW ROUNDS`").into()),
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("engines: {error}");
        ExitCode::FAILURE
    })
}

fn calls(name: &str, rounds: &str) -> Result<()> {
    let rounds: usize = rounds.parse()?;
    let row = rows::named(name)?;
    let stage = row.stage()?;
    let mut engine = row.engine(&stage)?;
    for _ in 0..rounds {
        engine.round()?;
    }
    drop(engine);
    stage.verify()?;
    println!("operations {}", rounds * row.count);
    Ok(())
}
