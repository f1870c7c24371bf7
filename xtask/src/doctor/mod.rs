//! `cargo xtask doctor`: what is found on this machine, what would be used, and how to go on.

mod system;

use std::fs;
use std::process::{Command, ExitCode};

use crate::rocm::{self, Rocm};
use crate::{Result, needed};

/// Print which ROCm is found where, versions, and the facts that decide about the fast path
#[derive(Debug, clap::Args)]
pub struct Args {}

/// The command.
pub fn run(_: &Args, choice: &rocm::Choice) -> Result {
    section("ROCm: places tried");
    for prefix in rocm::real_prefixes() {
        let place = prefix.display().to_string();
        match Rocm::at(&prefix) {
            Ok(rocm) => row(&place, &describe(&rocm)),
            Err(error) => row(&place, &error.to_string()),
        }
    }

    section("GPU");
    row(
        "/dev/kfd",
        if fs::exists("/dev/kfd").unwrap_or(false) { "present" } else { "missing: no AMD GPU driver" },
    );
    row("GPUs known to the driver", if rocm::gpu_present() { "yes" } else { "none" });

    section("Tools");
    for (tool, purpose) in TOOLS {
        row(tool, &version(tool).unwrap_or_else(|| format!("missing: needed for {purpose}")));
    }

    section("Kernel");
    system::kernel().iter().for_each(|(name, value)| row(name, value));
    section("File system of the working directory");
    system::filesystem().iter().for_each(|(name, value)| row(name, value));

    section("In use");
    let rocm = Rocm::choose(choice)?;
    row(&rocm.prefix().display().to_string(), &describe(&rocm));

    section("How to go on");
    for line in advice(&rocm) {
        println!("  {line}");
    }
    Ok(ExitCode::SUCCESS)
}

/// Programs besides cargo, and what they are for.
const TOOLS: &[(&str, &str)] = &[
    ("rustc", "everything"),
    ("cc", "linking"),
    ("c++", "the C++ client of the tests"),
    ("pkg-config", "plain cargo commands (cargo xtask works without it) and C programs"),
    ("cargo-deny", "cargo xtask audit"),
    ("cargo-semver-checks", "comparing a release with the one before"),
    ("valgrind", "the instruction count in cargo xtask bench"),
];

fn section(name: &str) {
    println!("\n{name}");
}

fn row(name: &str, value: &str) {
    println!("  {name:<28} {value}");
}

/// The first line of what `tool --version` prints.
fn version(tool: &str) -> Option<String> {
    let output = Command::new(tool).arg("--version").output().ok()?;
    String::from_utf8_lossy(&output.stdout).lines().next().map(str::to_owned)
}

fn describe(rocm: &Rocm) -> String {
    let hipfile = rocm.hipfile_version().unwrap_or_else(|| "of unknown version".into());
    let soname = |library: &str| {
        let dynamic = needed::read(&rocm.lib().join(library)).ok();
        dynamic.and_then(|dynamic| dynamic.soname).unwrap_or_else(|| format!("{library} without SONAME"))
    };
    let direct = if has_direct_io(rocm) { "with" } else { "without" };
    format!(
        "libhipfile {hipfile} ({}), {} {direct} hipAmdFileRead and hipAmdFileWrite",
        soname("libhipfile.so"),
        soname("libamdhip64.so")
    )
}

/// Whether HIP names the functions of the fast path: their names are in its string table.
fn has_direct_io(rocm: &Rocm) -> bool {
    let library = fs::read(rocm.lib().join("libamdhip64.so")).unwrap_or_default();
    ["hipAmdFileRead\0", "hipAmdFileWrite\0"]
        .iter()
        .all(|name| library.windows(name.len()).any(|window| window == name.as_bytes()))
}

fn advice(rocm: &Rocm) -> Vec<&'static str> {
    let mut lines = Vec::new();
    if rocm.is_software() {
        lines.push("The software ROCm runs everything here: cargo xtask demo, cargo xtask test.");
        lines.push("For a real GPU install ROCm with hipfile, or name its place: --rocm PATH, or ROCM_PATH for --rocm auto.");
    } else {
        lines.push("cargo xtask demo copies a file through the GPU and says which path it took.");
        lines.push("cargo xtask pkgconfig PREFIX writes the pkg-config file that ROCm does not ship.");
    }
    lines.push("docs/src/why-not-fast-path.md explains each condition of the fast path.");
    lines
}
