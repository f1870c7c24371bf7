//! The `hipfile` command.
//!
//! ```text
//!   args ──► runtime::Choice ──► a ROCm, loaded ──► info, explain, …  ──► Output   text, or JSON under --json
//!              auto, soft, a prefix                      │
//!                                                        └─► Failure   one line with what to do, and an exit status
//! ```
//!
//! A subcommand is a module with `Args` and `run`, which prints through [`output::Output`] and returns the exit status.
//! Built without feature `link` of the libraries: one program for any ROCm.
#![deny(unsafe_code)]

mod args;
mod bench;
mod check;
mod completions;
mod cp;
mod explain;
mod failure;
mod info;
mod memory;
mod name;
mod output;
mod progress;
mod runtime;
mod signals;
mod size;
mod usage;

use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command};
use failure::Failure;
use output::Output;

/// What a subcommand comes to: its exit status, or why it could not do what it was asked.
type Outcome = Result<ExitCode, Failure>;

fn main() -> ExitCode {
    let Cli { mut common, command } = Cli::try_parse().unwrap_or_else(|error| args::refuse(&error));
    common.json |= matches!(&command, Command::Bench(args) if args.wants_json());
    let output = Output::new(&common);
    let rocm = &common.rocm;
    let outcome = match command {
        Command::Check(args) => check::run(&args, rocm, &output),
        Command::Cp(args) => cp::run(&args, rocm, &output),
        Command::Explain(args) => explain::run(&args, rocm, &output),
        Command::Bench(args) => bench::run(&args, rocm, &output),
        Command::Info(args) => info::run(&args, rocm, &output),
        Command::Completions(args) => completions::run(&args),
    };
    outcome.unwrap_or_else(|failure| output.failure(&failure))
}
