//! What someone without a checkout does with an archive.

use std::ffi::OsString;
use std::process::Command;
use std::{env, fs, process};

use crate::Result;
use crate::cargo::{clean, must};

/// What leads to a ROCm of this machine, or what `env.sh` would tell a workflow.
const UNSET: &[&str] = &[
    "GITHUB_ENV",
    "GITHUB_PATH",
    "HIPFILE_RUNTIME",
    "HIPFILE_SOFT_ROCM",
    "HIP_PATH",
    "LD_LIBRARY_PATH",
    "PKG_CONFIG_PATH",
    "ROCM_PATH",
];

/// Runs a shell script in a new folder outside of the workspace; its name begins with `name`.
pub fn run(name: &str, script: &str, arguments: &[OsString]) -> Result<()> {
    let dir = env::temp_dir().join(format!("{name}-{}", process::id()));
    fs::create_dir_all(&dir)?;
    let mut shell = clean(Command::new("sh"));
    shell.current_dir(&dir).args(["-ec", script, "sh"]).args(arguments);
    for variable in UNSET {
        shell.env_remove(variable);
    }
    let outcome = must(&mut shell);
    fs::remove_dir_all(&dir)?;
    outcome
}
