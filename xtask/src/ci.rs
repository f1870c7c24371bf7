//! `cargo xtask ci`: every check besides the tests, and the tests of soundness, in the order in which they are quickest to fail.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::Instant;

use crate::cargo::{cargo, must};
use crate::rocm::{self, Rocm};
use crate::skipped::Skipped;
use crate::test::{FEATURES, Sanitizer, Suite, must_pass, releases};
use crate::{Result, audit, package, public_api, semver, soft_rocm, workspace};

/// Run every check besides the tests, and the tests of soundness in both ways
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only those whose names contain this
    #[arg(value_name = "NAME")]
    names: Vec<String>,
}

impl Args {
    fn choose(&self, check: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|name| check.contains(name.as_str()))
    }
}

/// A check; an error is its failure.
type Check = fn(&Rocm) -> Result<()>;

const CHECKS: &[(&str, Check)] = &[
    ("format", format),
    ("tidy", tidy),
    ("dependencies", |_| audit::check_offline()),
    ("generated code", codegen),
    ("clippy", clippy),
    ("documentation", documentation),
    ("oldest compiler", oldest_compiler),
    ("C program by pkg-config", pkg_config_client),
    ("software ROCm as an archive", soft_rocm::tarball::check),
    ("public API", public_api::check),
    ("version numbers", semver::check),
    ("packages", package::check),
    ("oldest dependencies", package::minimal_versions),
    ("other libraries", releases::check),
    ("soundness", |rocm| must_pass(Suite::Soundness, None, rocm)),
    ("soundness, AddressSanitizer", |rocm| must_pass(Suite::Soundness, Some(Sanitizer::Address), rocm)),
    ("failures, AddressSanitizer", |rocm| must_pass(Suite::Failures, Some(Sanitizer::Address), rocm)),
    ("64 threads, AddressSanitizer", |rocm| must_pass(Suite::Stress, Some(Sanitizer::Address), rocm)),
];

const FAILED: &str = "FAILED";

const LIBRARIES: [&str; 6] = ["-p", "hipfile-sys", "-p", "hip-alloc", "-p", "hipfile"];

/// The command.
pub fn run(args: &Args, choice: &rocm::Choice) -> Result {
    let checks: Vec<_> = CHECKS.iter().filter(|(name, _)| args.choose(name)).collect();
    if checks.is_empty() {
        return Err(format!("no check is named {}", args.names.join(" or ")).into());
    }
    let rocm = Rocm::choose(choice)?;
    let mut rows = Vec::new();
    for (name, check) in checks {
        eprintln!("\nxtask: {name}");
        let started = Instant::now();
        let result = match check(&rocm) {
            Ok(()) => "ok",
            Err(error) if error.is::<Skipped>() => {
                eprintln!("xtask: {name}: skipped: {error}");
                "skipped"
            }
            Err(error) => {
                eprintln!("error: {name}: {error}");
                FAILED
            }
        };
        rows.push((name, result, started.elapsed()));
    }
    println!("\n{:<28} {:<7} {:>8}", "check", "result", "seconds");
    for (name, result, time) in &rows {
        println!("{name:<28} {result:<7} {:>8.1}", time.as_secs_f64());
    }
    let failed = rows.iter().filter(|(_, result, _)| *result == FAILED).count();
    println!("\n{failed} of {} checks failed", rows.len());
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn format(_: &Rocm) -> Result<()> {
    must(cargo().args(["fmt", "--all", "--check"]))
}

fn tidy(_: &Rocm) -> Result<()> {
    crate::tidy::check()
}

fn codegen(_: &Rocm) -> Result<()> {
    must(&mut crate::codegen::command(true))
}

fn clippy(rocm: &Rocm) -> Result<()> {
    must(rocm.cargo().args([
        "clippy",
        "--locked",
        "--workspace",
        "--all-targets",
        "--features",
        FEATURES,
        "--",
        "-Dwarnings",
    ]))
}

fn documentation(rocm: &Rocm) -> Result<()> {
    let mut command = rocm.cargo();
    must(command.env("RUSTDOCFLAGS", "-Dwarnings").args([
        "doc",
        "--locked",
        "--workspace",
        "--no-deps",
        "--features",
        FEATURES,
    ]))
}

/// Builds the libraries with the compiler that `rust-version` promises, where one is installed. Elsewhere clippy's
/// `incompatible_msrv` and the rule of tidy about `let` chains stand in.
fn oldest_compiler(rocm: &Rocm) -> Result<()> {
    let Some(rustc) = find_oldest_rustc() else {
        return Err(Skipped(format!("no rustc {OLDEST} here")).into());
    };
    eprintln!("xtask: with {}", rustc.display());
    let mut command = rocm.cargo();
    command.env("RUSTC", rustc).env("CARGO_TARGET_DIR", workspace::target_dir().join("oldest"));
    must(command.args(["check", "--locked", "--features", FEATURES, "-p", "rocm-loader"]).args(LIBRARIES))
}

/// The workspace's `rust-version`.
const OLDEST: &str = "1.85";

/// A rustc of the oldest supported version: named by `OLDEST_RUSTC`, installed by rustup, or the system's.
fn find_oldest_rustc() -> Option<PathBuf> {
    let by_rustup = Command::new("rustup").args(["which", "--toolchain", OLDEST, "rustc"]).output().ok();
    let by_rustup = by_rustup.filter(|output| output.status.success());
    let by_rustup = by_rustup.map(|output| PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()));
    let candidates =
        [env::var_os("OLDEST_RUSTC").map(PathBuf::from), by_rustup, Some("/usr/bin/rustc".into())];
    candidates.into_iter().flatten().find(|rustc| {
        let version = Command::new(rustc).arg("--version").output();
        version.is_ok_and(|output| output.stdout.starts_with(format!("rustc {OLDEST}.").as_bytes()))
    })
}

/// Builds the C client as a user would, and runs it.
fn pkg_config_client(rocm: &Rocm) -> Result<()> {
    let flags = rocm.command("pkg-config").args(["--cflags", "--libs", "hipfile"]).output();
    let flags = flags.map_err(|error| format!("cannot start pkg-config: {error}"))?;
    if !flags.status.success() {
        return Err(format!("pkg-config: {}", String::from_utf8_lossy(&flags.stderr).trim()).into());
    }
    let flags = String::from_utf8_lossy(&flags.stdout).into_owned();
    // The program refuses a file that exists.
    let dir = rocm.target_dir().join("clients");
    if dir.exists() {
        fs::remove_dir_all(&dir)?;
    }
    fs::create_dir_all(&dir)?;
    let program = dir.join("by-pkg-config");
    let source = workspace::root().join("tests/clients/roundtrip.c");
    must(
        rocm.command("cc")
            .args(["-std=c11", "-Wall", "-Wextra", "-Werror"])
            .arg(source)
            .arg("-o")
            .arg(&program)
            .args(flags.split_whitespace()),
    )?;
    crate::needed::check(&program, rocm)?;
    must(rocm.command(&program).arg(dir.join("file")))
}
