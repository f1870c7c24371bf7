//! What stands on the command line, other than what belongs to one subcommand.

use std::ffi::OsString;
use std::process::exit;

use clap::error::ErrorKind;
use clap::{Parser, Subcommand};

use crate::failure::{Failure, USAGE};
use crate::{bench, check, completions, cp, explain, info, output, runtime};

/// Direct file I/O to AMD GPUs: look at a machine, a file or a transfer, and move data
#[derive(Debug, Parser)]
#[command(name = "hipfile", version)]
#[command(after_help = "\
Exit status:
  0  done, and all is well
  1  it failed, or a check did
  2  the command line is wrong
  3  no ROCm with libhipfile was found

Sizes are bytes, or have a suffix: 4K, 16M, 1G are powers of 1024.
")]
pub struct Cli {
    #[command(flatten)]
    pub common: Common,
    #[command(subcommand)]
    pub command: Command,
}

/// Options of every subcommand.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Common options")]
pub struct Common {
    /// Which ROCm: the first found (auto), the software one (soft), or a folder's
    #[arg(
        long,
        global = true,
        env = "HIPFILE_RUNTIME",
        hide_env_values = true,
        default_value = "auto",
        value_name = "auto|soft|DIR"
    )]
    pub rocm: runtime::Choice,
    /// Print JSON
    #[arg(long, global = true)]
    pub json: bool,
    /// Print errors only
    #[arg(short, long, global = true, conflicts_with_all = ["verbose", "json"])]
    pub quiet: bool,
    /// Say more
    #[arg(short, long, global = true)]
    pub verbose: bool,
    /// Colours; auto: on a terminal unless NO_COLOR is set
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t)]
    pub color: Colour,
}

/// When output has colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Colour {
    #[default]
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    Check(check::Args),
    Cp(cp::Args),
    Bench(bench::Args),
    Explain(explain::Args),
    Info(info::Args),
    Completions(completions::Args),
}

/// Ends the program over its command line: as clap does, and under `--json` with a document too.
pub fn refuse(error: &clap::Error) -> ! {
    let arguments: Vec<_> = std::env::args_os().take_while(|argument| argument != "--").collect();
    if error.use_stderr() && wants_json(&arguments) {
        output::error_document(&Failure::new(message(error)).advice("see `hipfile help`").code(USAGE));
    }
    match error.print() {
        // Help and versions are results.
        Err(full) if !error.use_stderr() => {
            let failure = Failure::from(full);
            if !failure.is_silent() {
                output::error_line(&failure);
            }
            exit(failure.exit_code().into())
        }
        _ => exit(error.exit_code()),
    }
}

/// Whether a command line that makes no sense asks for JSON.
fn wants_json(arguments: &[OsString]) -> bool {
    arguments.iter().any(|argument| argument == "--json" || argument == "--format=json")
        || arguments.windows(2).any(|pair| pair == ["--format", "json"])
}

/// What is wrong, in one line: the first paragraph of what clap prints.
fn message(error: &clap::Error) -> String {
    if matches!(
        error.kind(),
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand
    ) {
        return "a subcommand is missing".to_owned();
    }
    let text = error.to_string();
    let first = text.split("\n\n").next().unwrap_or_default();
    let words: Vec<_> = first.strip_prefix("error: ").unwrap_or(first).split_whitespace().collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn no_options_clash() {
        Cli::command().debug_assert();
    }
}
