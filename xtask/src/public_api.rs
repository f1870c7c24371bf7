//! `cargo xtask public-api`: what the published packages offer, as lists under version control.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::cargo::{cargo, must, programs};
use crate::package::PUBLISHED;
use crate::rocm::{self, Rocm};
use crate::skipped::Skipped;
use crate::test::FEATURES;
use crate::{Result, install, workspace};

/// List what the published packages offer to others, in docs/public-api
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Compare instead of writing: fail if something came, went or changed
    #[arg(long)]
    check: bool,
}

/// The command.
pub fn run(args: &Args, choice: &rocm::Choice) -> Result {
    let rocm = Rocm::choose(choice)?;
    if args.check { check(&rocm) } else { write(&rocm) }?;
    Ok(ExitCode::SUCCESS)
}

/// Compares the lists with the sources. Skipped with a compiler whose rustdoc writes another format.
pub fn check(rocm: &Rocm) -> Result<()> {
    let lists = lists(rocm)?;
    let mut changed = 0;
    for (package, list) in &lists {
        let committed = fs::read_to_string(file(package)).unwrap_or_default();
        for line in difference(&committed, list) {
            println!("{line}");
            changed += 1;
        }
    }
    if changed == 0 {
        println!("public API: {} items in {} packages", items(&lists), lists.len());
        return Ok(());
    }
    Err(format!("{changed} changes; if they are meant, run `cargo xtask public-api`").into())
}

fn write(rocm: &Rocm) -> Result<()> {
    let lists = lists(rocm)?;
    for (package, list) in &lists {
        install::file(&file(package), list.as_bytes(), 0o644)?;
    }
    println!("public API: {} items in {} packages", items(&lists), lists.len());
    Ok(())
}

/// The list of a package.
fn file(package: &str) -> PathBuf {
    workspace::root().join("docs/public-api").join(format!("{package}.txt"))
}

fn items(lists: &[(&str, String)]) -> usize {
    lists.iter().map(|(_, list)| list.lines().count()).sum()
}

/// The version of rustdoc's JSON that the `public-api` package in Cargo.lock reads.
const FORMAT: u32 = 57;

/// Each package with its list.
fn lists(rocm: &Rocm) -> Result<Vec<(&'static str, String)>> {
    let target = rocm.target_dir().join("public-api");
    let mut document = rocm.cargo();
    document.env("CARGO_TARGET_DIR", &target).env("RUSTC_BOOTSTRAP", "1");
    document.env("RUSTDOCFLAGS", "-Zunstable-options --output-format=json");
    document.args(["doc", "--quiet", "--locked", "--no-deps", "--lib", "--features", FEATURES]);
    for package in PUBLISHED {
        document.args(["-p", package]);
    }
    must(&mut document)?;
    let built = programs(cargo().args(["build", "--quiet", "--locked", "-p", "xtask-public-api"]))?;
    let program = built.first().ok_or("cargo reported no program xtask-public-api")?;
    let mut lists = Vec::new();
    for package in PUBLISHED {
        let json = target.join("doc").join(format!("{}.json", package.replace('-', "_")));
        match format_version(&fs::read_to_string(&json)?) {
            Some(FORMAT) => lists.push((package, list(program, &json)?)),
            other => {
                let other =
                    other.map_or_else(|| "another format".to_owned(), |other| format!("format {other}"));
                let reason = format!("rustdoc writes {other}, and the lists are made from {FORMAT}");
                return Err(Skipped(reason).into());
            }
        }
    }
    Ok(lists)
}

/// What the JSON says at its end.
fn format_version(json: &str) -> Option<u32> {
    let (_, number) = json.rsplit_once("\"format_version\":")?;
    number.trim_end().trim_end_matches('}').parse().ok()
}

fn list(program: &Path, json: &Path) -> Result<String> {
    let output = Command::new(program).arg(json).output()?;
    if !output.status.success() {
        return Err(format!("{}: {}", json.display(), String::from_utf8_lossy(&output.stderr).trim()).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// What came and went, as `+ item` and `- item`.
fn difference(old: &str, new: &str) -> Vec<String> {
    let (before, after): (BTreeSet<_>, BTreeSet<_>) = (old.lines().collect(), new.lines().collect());
    let gone = before.difference(&after).map(|line| format!("- {line}"));
    gone.chain(after.difference(&before).map(|line| format!("+ {line}"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_format_is_read_from_the_end() {
        assert_eq!(format_version("{\"docs\":\"\\\"format_version\\\":1\",\"format_version\":57}"), Some(57));
        assert_eq!(format_version("{\"format_version\":\"x\"}"), None);
        assert_eq!(format_version("{}"), None);
    }

    #[test]
    fn what_came_and_went() {
        assert_eq!(difference("a\nb\n", "b\nc\n"), ["- a", "+ c"]);
        assert_eq!(difference("a\n", "a\n"), [""; 0]);
    }
}
