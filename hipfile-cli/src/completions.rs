//! `hipfile completions`: what a shell needs to complete command lines.

use std::io;
use std::process::ExitCode;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::Outcome;
use crate::args::Cli;

/// Print completions for a shell
#[derive(Debug, clap::Args)]
pub struct Args {
    shell: Shell,
}

/// The subcommand.
pub fn run(args: &Args) -> Outcome {
    clap_complete::generate(args.shell, &mut Cli::command(), "hipfile", &mut io::stdout());
    Ok(ExitCode::SUCCESS)
}
