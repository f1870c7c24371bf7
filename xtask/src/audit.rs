//! `cargo xtask audit`: what the packages depend on, by the rules of deny.toml.

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use crate::cargo::{cargo, clean, must};
use crate::skipped::Skipped;
use crate::{Result, workspace};

/// Check dependencies: known vulnerabilities, licences, duplicates, where they come from (needs cargo-deny)
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Leave out the vulnerabilities, whose list is fetched from the network
    #[arg(long)]
    offline: bool,
    /// Build cargo-deny into target/tools if there is none
    #[arg(long)]
    install: bool,
}

/// The command.
pub fn run(args: &Args) -> Result {
    let found = find();
    let program = match found {
        Some(program) => program,
        None if args.install => install()?,
        None => return Err(format!("{MISSING}, or give --install").into()),
    };
    check(&program, args.offline)?;
    Ok(ExitCode::SUCCESS)
}

/// The part that needs no list from the network, skipped where cargo-deny is not installed.
pub fn check_offline() -> Result<()> {
    match find() {
        Some(program) => {
            // Builds fetch what they need; cargo-deny looks at the crates of every platform.
            must(cargo().args(["fetch", "--locked", "--quiet"]))?;
            check(&program, true)
        }
        None => Err(Skipped(MISSING.to_owned()).into()),
    }
}

const MISSING: &str = "cargo-deny is missing: `cargo install --locked cargo-deny` installs it";

/// cargo-deny: the workspace's own, or one that is installed.
fn find() -> Option<PathBuf> {
    let works = |program: &PathBuf| {
        let version = Command::new(program).arg("--version").output();
        version.is_ok_and(|output| output.status.success())
    };
    [tools().join("bin/cargo-deny"), "cargo-deny".into()].into_iter().find(works)
}

fn tools() -> PathBuf {
    workspace::target_dir().join("tools")
}

fn install() -> Result<PathBuf> {
    must(cargo().args(["install", "--locked", "cargo-deny", "--root"]).arg(tools()))?;
    Ok(tools().join("bin/cargo-deny"))
}

fn check(program: &PathBuf, offline: bool) -> Result<()> {
    let mut command = clean(Command::new(program));
    command.current_dir(workspace::root()).arg("--locked");
    if offline {
        command.args(["--offline", "check", "bans", "licenses", "sources"]);
    } else {
        command.arg("check");
    }
    must(&mut command)
}
