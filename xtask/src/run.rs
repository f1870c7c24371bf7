//! `cargo xtask run -- CMD`: any command in the environment of a ROCm.

use std::ffi::OsString;
use std::process::ExitCode;

use crate::Result;
use crate::cargo::{exit_code, status};
use crate::rocm::{self, Rocm};

/// Run a command with a ROCm in its environment and hand back its exit code
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The command and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "CMD")]
    command: Vec<OsString>,
}

/// The command.
pub fn run(args: &Args, choice: &rocm::Choice) -> Result<ExitCode> {
    let (program, arguments) = args.command.split_first().ok_or("no command given")?;
    let rocm = Rocm::choose(choice)?;
    Ok(exit_code(status(rocm.command(program).args(arguments))?))
}
