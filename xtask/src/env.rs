//! `cargo xtask env`: the environment of a ROCm as shell exports.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::process::ExitCode;

use crate::Result;
use crate::rocm::{self, Rocm};

/// Print the variables that make a ROCm the one in use: eval "$(cargo xtask env)"
#[derive(Debug, clap::Args)]
pub struct Args {}

/// The command.
pub fn run(_: &Args, choice: &rocm::Choice) -> Result {
    let rocm = Rocm::choose(choice)?;
    for (name, value) in rocm.environment() {
        println!("export {name}={}", quote(&value));
    }
    Ok(ExitCode::SUCCESS)
}

/// Quotes a value for POSIX shells.
fn quote(value: &OsStr) -> String {
    let text = String::from_utf8_lossy(value.as_bytes());
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_survives_the_shell() {
        for value in ["plain", "with space", "$HOME `x` \\ \"", "it's", ""] {
            let script = format!("printf %s {}", quote(OsStr::new(value)));
            let shell = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
            assert_eq!(String::from_utf8(shell.stdout).unwrap(), value);
        }
    }
}
