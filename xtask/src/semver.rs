//! Whether a version number is enough for what changed, by cargo-semver-checks.

use std::process::{Command, Output};

use crate::cargo::{cargo, must};
use crate::package::PUBLISHED;
use crate::rocm::Rocm;
use crate::skipped::Skipped;
use crate::{Result, workspace};

/// Compares the packages with those of the last tag. Skipped without cargo-semver-checks, and before the first
/// release: `cargo xtask public-api` shows every change all the same.
pub fn check(rocm: &Rocm) -> Result<()> {
    let answers = |output: std::io::Result<Output>| output.ok().filter(|output| output.status.success());
    if answers(cargo().args(["semver-checks", "--version"]).output()).is_none() {
        let missing =
            "cargo-semver-checks is missing: `cargo install --locked cargo-semver-checks` installs it";
        return Err(Skipped(missing.to_owned()).into());
    }
    let mut describe = Command::new("git");
    describe.current_dir(workspace::root()).args(["describe", "--tags", "--abbrev=0", "--match=v*"]);
    let Some(tag) = answers(describe.output()) else {
        return Err(Skipped("nothing was released yet".to_owned()).into());
    };
    let mut command = rocm.cargo();
    command.env("RUSTC_BOOTSTRAP", "1").args(["semver-checks", "--baseline-rev"]);
    command.arg(String::from_utf8_lossy(&tag.stdout).trim());
    for package in PUBLISHED {
        command.args(["-p", package]);
    }
    must(&mut command)
}
