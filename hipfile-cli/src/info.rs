//! `hipfile info`: the ROCm in use, its devices, what it can do, and what the environment says.

pub mod environment;
mod facts;
mod limits;
mod text;

use std::process::ExitCode;

use crate::Outcome;
use crate::output::Output;
use crate::runtime::Choice;
use facts::Info;

/// Show the ROCm in use, its GPUs and features, settings and limits
#[derive(Debug, clap::Args)]
pub struct Args {}

/// The subcommand.
pub fn run(_: &Args, rocm: &Choice, output: &Output) -> Outcome {
    let runtime = rocm.load(output)?;
    let info = Info::collect(&runtime)?;
    if output.is_json() {
        output.document(&info)?
    } else {
        text::print(&info, output)?
    }
    Ok(ExitCode::SUCCESS)
}
