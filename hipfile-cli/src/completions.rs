//! `hipfile completions`: what a shell needs to complete command lines.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::Outcome;
use crate::args::Cli;

/// Print completions for a shell
#[derive(Debug, clap::Args)]
#[command(override_usage = "hipfile completions <SHELL>")]
pub struct Args {
    shell: Shell,
}

/// The subcommand.
pub fn run(args: &Args) -> Outcome {
    // By way of memory: written directly, a pipe whose reader has gone would be a panic.
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "hipfile", &mut text);
    io::stdout().write_all(&text)?;
    Ok(ExitCode::SUCCESS)
}
