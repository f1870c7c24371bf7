//! `cargo xtask bench`: what calls cost beside the system calls they make, with limits and goals.

mod count;
mod cp;
mod engines;
mod io;
mod owned;
mod transfer;

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use clap::ValueEnum;

use crate::cargo::programs;
use crate::rocm::{self, Rocm};
use crate::{Result, needed};

/// Measure, print a table and fail if a limit or goal is missed
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to measure
    #[arg(default_value = "io", value_name = "NAME")]
    names: Vec<Name>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Name {
    /// hipFileRead and `read_at` against pread, call by call
    Io,
    /// Many asynchronous reads on one stream against pread
    Async,
    /// Instructions of owned reads by the safe interface against hipFileReadAsync's
    Owned,
    /// Batches of reads against pread
    Batch,
    /// hipFileRead by many threads against pread
    Threads,
    /// Large reads by hipfile::transfer against one call, and against chunks by hand
    Transfer,
    /// `hipfile cp` of 1 GiB against `cp` and against a loop of direct reads and writes
    Cp,
}

/// The command.
pub fn run(args: &Args, choice: &rocm::Choice) -> Result {
    let rocm = Rocm::choose(choice)?;
    let mut reached = true;
    for name in &args.names {
        reached &= match name {
            Name::Io => io::run(&rocm)?,
            Name::Async => engines::run(&rocm, "async")?,
            Name::Owned => owned::run(&rocm)?,
            Name::Batch => engines::run(&rocm, "batch")?,
            Name::Threads => engines::run(&rocm, "threads")?,
            Name::Transfer => transfer::run(&rocm)?,
            Name::Cp => cp::run(&rocm)?,
        };
    }
    Ok(if reached { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Builds a benchmark and returns its program.
fn build(rocm: &Rocm, name: &str) -> Result<PathBuf> {
    build_with(rocm, name, &[])
}

/// Builds a benchmark with further arguments for cargo.
fn build_with(rocm: &Rocm, name: &str, arguments: &[&str]) -> Result<PathBuf> {
    let mut build = rocm.cargo();
    build.args(["bench", "--locked", "--no-run", "-p", "hipfile-tests", "--bench", name]).args(arguments);
    let built = programs(&mut build)?;
    let program = built
        .into_iter()
        .next()
        .ok_or_else(|| format!("cargo reported no program for the benchmark {name}"))?;
    needed::check(&program, rocm)?;
    Ok(program)
}

/// A command that always takes the path which is compared.
fn measured(program: impl AsRef<OsStr>, rocm: &Rocm) -> Command {
    let mut command = rocm.command(program);
    command.env("HIPFILE_FORCE_COMPAT_MODE", "true");
    command
}
