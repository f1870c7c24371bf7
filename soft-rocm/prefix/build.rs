//! Runs `cargo xtask soft-rocm`, unless a real ROCm was asked for.

use std::env;
use std::path::Path;
use std::process::Command;

/// What the libraries are built from, and the stamp that `cargo xtask soft-rocm` leaves: it is ancient, so its presence
/// never causes a run while its absence does.
const WATCHED: &[&str] = &[
    "Cargo.lock",
    "hipfile-sys/src",
    "rocm-loader/src",
    "soft-rocm/faults",
    "soft-rocm/hip",
    "soft-rocm/hipfile",
    "soft-rocm/include",
    "target/soft-rocm/.stamp",
    "xtask/src/soft_rocm.rs",
];

/// What cargo tells a build script and must not reach a cargo that builds something else, in another target directory.
/// `cargo xtask` itself removes what `cargo run` tells it.
const REMOVED: &[&str] = &[
    "CARGO_ENCODED_RUSTFLAGS",
    "CARGO_MAKEFLAGS",
    "DEBUG",
    "HOST",
    "LD_LIBRARY_PATH",
    "MAKEFLAGS",
    "NUM_JOBS",
    "OPT_LEVEL",
    "OUT_DIR",
    "PROFILE",
    "RUSTC",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTC_WRAPPER",
    "RUSTDOC",
    "RUSTFLAGS",
    "TARGET",
];

fn of_a_build_script(name: &str) -> bool {
    let prefixes = ["CARGO_CFG_", "CARGO_FEATURE_"];
    prefixes.iter().any(|prefix| name.starts_with(prefix)) || REMOVED.contains(&name)
}

fn main() {
    println!("cargo::rerun-if-env-changed=HIP_PATH");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    // .cargo/config.toml sets HIP_PATH to the folder of the software ROCm; any other value is someone's choice.
    let chosen = env::var_os("HIP_PATH").and_then(|path| Path::new(&path).canonicalize().ok());
    if chosen.is_none() || chosen != root.join("soft-rocm").canonicalize().ok() {
        return;
    }
    for path in WATCHED {
        println!("cargo::rerun-if-changed={}", root.join(path).display());
    }
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["xtask", "soft-rocm"]).current_dir(&root);
    for (name, _) in env::vars_os() {
        if name.to_str().is_some_and(of_a_build_script) {
            command.env_remove(name);
        }
    }
    // The directory in use is locked by the cargo that runs this script.
    command.env("CARGO_TARGET_DIR", root.join("target/xtask"));
    match command.status() {
        Ok(status) if status.success() => {}
        Ok(status) => println!("cargo::error=`cargo xtask soft-rocm` failed ({status})"),
        Err(error) => println!("cargo::error=cannot start `cargo xtask soft-rocm`: {error}"),
    }
}
