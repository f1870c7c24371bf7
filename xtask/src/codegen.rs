//! `cargo xtask codegen`: the bindings of hipfile-sys, made from the headers, and the tables that are made of the sources.

use std::process::Command;

use crate::Result;
use crate::cargo::{cargo, exit_code, status};
use crate::tidy;

/// Generate hipfile-sys's bindings from the headers (needs libclang), and the tables in the README and the pages
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Compare instead of writing: fail at the first line that differs
    #[arg(long)]
    check: bool,
}

/// The command.
pub fn run(args: &Args) -> Result {
    if args.check {
        tidy::check_tables()?;
    } else {
        tidy::write_tables()?;
    }
    Ok(exit_code(status(&mut command(args.check))?))
}

/// The program that generates, or compares. It is a package of its own, since building it takes a minute.
pub fn command(check: bool) -> Command {
    let mut command = cargo();
    command.args(["run", "--quiet", "--locked", "--package", "xtask-codegen", "--"]);
    if check {
        command.arg("--check");
    }
    command
}
