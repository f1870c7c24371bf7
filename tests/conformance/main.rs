//! The contract of libhipfile (docs/src/contract.md), row by row, on the raw C ABI of whichever library the
//! environment points to.
//!
//! Each case runs in a process of its own: the library reads its environment once and keeps its state for the life
//! of the process. Names carry the ids of the rows. At the end the rows that passed are counted for each area, and
//! what was left out is listed with the reason.

mod case;
mod facts;
mod file;
mod hip;
mod raw;
mod runner;
mod witness;

mod buffer;
mod driver;

use std::process::ExitCode;

fn main() -> ExitCode {
    let cases: Vec<case::Case> = [driver::cases(), buffer::cases()].into_iter().flatten().collect();
    match runner::case_of_this_process(&cases) {
        Some(code) => code,
        None => runner::run_all(cases),
    }
}
