//! `cargo xtask fuzz`: the fuzz targets, under AddressSanitizer. cargo-fuzz is not needed; it works too.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::cargo::{programs, status};
use crate::rocm::{self, Rocm};
use crate::test::target;
use crate::{Result, workspace};

/// Run the fuzz targets on the software ROCm; what they find interesting is kept in target/fuzz
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Which to run [default: all]
    #[arg(value_name = "TARGET", value_parser = TARGETS)]
    targets: Vec<String>,
    /// How long to run each
    #[arg(long, default_value_t = 60)]
    seconds: u32,
    /// Afterwards, add to fuzz/corpus what reaches code that nothing there reaches
    #[arg(long)]
    merge: bool,
}

const TARGETS: [&str; 4] = ["environment", "fault_grammar", "hip_calls", "hipfile_calls"];

/// What makes rustc's output tell the fuzzer where it has been.
const FLAGS: &str = "-Zsanitizer=address -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
                     -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
                     -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1 --cfg fuzzing";

/// The command.
pub fn run(args: &Args) -> Result {
    let rocm = Rocm::choose(&rocm::Choice::Soft)?;
    let all: Vec<String> = TARGETS.iter().map(|name| (*name).to_owned()).collect();
    let targets = if args.targets.is_empty() { &all } else { &args.targets };
    let mut sound = true;
    for name in targets {
        sound &= one(&rocm, name, args)?;
    }
    Ok(if sound { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs one target, and says whether nothing was found.
fn one(rocm: &Rocm, name: &str, args: &Args) -> Result<bool> {
    let program = build(rocm, name)?;
    let work = workspace::target_dir().join("fuzz").join(name);
    fs::create_dir_all(&work)?;
    let corpus = workspace::root().join("fuzz/corpus").join(name);
    fs::create_dir_all(&corpus)?;
    eprintln!("\nxtask: fuzzing {name} for {} s", args.seconds);
    let mut command = rocm.command(&program);
    command.arg(&work).arg(&corpus);
    command.arg(format!("-max_total_time={}", args.seconds));
    command.args([
        "-max_len=512",
        "-timeout=20",
        "-rss_limit_mb=4096",
        "-print_final_stats=1",
        "-verbosity=0",
    ]);
    // Findings go beside what was tried.
    command.arg(format!("-artifact_prefix={}/", work.parent().unwrap_or(Path::new(".")).display()));
    let sound = status(&mut command)?.success();
    println!("fuzz {name}: {}", if sound { "nothing found" } else { "FOUND SOMETHING" });
    if args.merge && sound {
        let mut merge = rocm.command(&program);
        merge.args(["-merge=1", "-verbosity=0"]).arg(&corpus).arg(&work);
        return Ok(status(&mut merge)?.success());
    }
    Ok(sound)
}

fn build(rocm: &Rocm, name: &str) -> Result<PathBuf> {
    let mut build = rocm.cargo();
    build.args([
        "build",
        "--locked",
        "--release",
        "-p",
        "hipfile-fuzz",
        "--features",
        "fuzzer",
        "--bin",
        name,
    ]);
    build.args(["--target", &target()]);
    build.env("CARGO_TARGET_DIR", rocm.target_dir().join("fuzz"));
    build.env("RUSTC_BOOTSTRAP", "1").env("RUSTFLAGS", FLAGS);
    // Arithmetic and the like is checked as in debug builds.
    build.env("CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS", "true");
    let built = programs(&mut build)?;
    built.into_iter().next().ok_or_else(|| format!("cargo reported no program for the target {name}").into())
}
