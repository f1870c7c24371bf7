//! `hipfile explain`: which path a transfer would take, and why.

mod prediction;
mod text;

use std::path::PathBuf;
use std::process::ExitCode;

use crate::Outcome;
use crate::output::Output;
use crate::runtime::Choice;
use crate::size::Size;
use prediction::Prediction;

/// Say which path a transfer of a file would take, and why
#[derive(Debug, clap::Args)]
#[command(override_usage = "hipfile explain [OPTIONS] <FILE>")]
pub struct Args {
    /// The file, or a block device
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Where in the file the transfer begins
    #[arg(long, value_name = "SIZE", default_value = "0", allow_hyphen_values = true)]
    offset: Size,
    /// How many bytes it has [default: those up to the end of the file]
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    len: Option<Size>,
    /// A write, from a GPU to the file, instead of a read
    #[arg(long)]
    write: bool,
}

/// The subcommand.
pub fn run(args: &Args, rocm: &Choice, output: &Output) -> Outcome {
    rocm.load(output)?;
    let prediction = Prediction::of(args)?;
    if output.is_json() {
        output.document(&prediction)?
    } else {
        text::print(&prediction, output)?
    }
    Ok(ExitCode::SUCCESS)
}
