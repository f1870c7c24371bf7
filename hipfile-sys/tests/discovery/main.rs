//! The build script's search, on fabricated installations. Environment and root directory are given to it, so nothing
//! here depends on the machine or on the process.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

#[path = "../../build/discover.rs"]
mod discover;
#[path = "../../build/env.rs"]
mod env;
#[path = "../../build/explicit.rs"]
mod explicit;
#[path = "../../build/found.rs"]
mod found;
#[path = "../../build/header.rs"]
mod header;
#[path = "../../build/pkg_config.rs"]
mod pkg_config;
#[path = "../../build/prefixes.rs"]
mod prefixes;
#[path = "../../build/report.rs"]
mod report;

mod machine;
mod test_explicit;
mod test_pkg_config;
mod test_places;
mod test_versions;

use env::Env;
use machine::{Machine, TARGET};

#[test]
fn an_empty_variable_is_not_set() {
    let mut machine = Machine::new();
    machine.prefix("opt/rocm", "0.5.0");
    for name in ["HIPFILE_LIB_DIR", "HIPFILE_INCLUDE_DIR", "HIPFILE_NO_PKG_CONFIG", "ROCM_PATH"] {
        machine.set(name, "");
    }
    assert_eq!(machine.found_in("opt/rocm").warnings, [""; 0]);
}

#[test]
fn nothing_found_lists_every_place_and_both_ways_out() {
    let mut machine = Machine::new();
    machine.set("ROCM_PATH", "/nonexistent");
    std::fs::create_dir_all(machine.path("opt/rocm/core-10.1")).unwrap();
    let error = machine.error();
    let expected = [
        "libhipfile 0.2.0 or newer was not found. Tried:",
        "  HIPFILE_LIB_DIR and HIPFILE_INCLUDE_DIR: not set",
        "  pkg-config hipfile: no package 'hipfile'",
        "  /nonexistent: include/hipfile.h does not exist",
        "  ROOT/opt/rocm/core-10.1: include/hipfile.h does not exist",
        "  ROOT/opt/rocm: include/hipfile.h does not exist",
        "  ROOT/usr/local: include/hipfile.h does not exist",
        "  ROOT/usr: include/hipfile.h does not exist",
    ];
    assert_eq!(error[..expected.len()], expected);
    let ways_on = error[expected.len()..].join("\n");
    for needed in [
        "hipfile-dev",
        "ROCM_PATH",
        "HIPFILE_LIB_DIR",
        "HIPFILE_INCLUDE_DIR",
        "default-features = false",
        "cargo xtask soft-rocm",
    ] {
        assert!(ways_on.contains(needed), "{needed} is missing from:\n{ways_on}");
    }

    machine.variables.retain(|(name, _)| name != "ROCM_PATH");
    assert!(machine.error().contains(&"  ROCM_PATH: not set".to_owned()));
}

#[test]
fn every_variable_read_is_watched() {
    let lookup = |name: &str| (name == "TARGET").then(|| TARGET.into());
    let env = Env::new(&lookup);
    let root = tempfile::tempdir().unwrap();
    discover::discover(&env, root.path(), &|| Err(String::new())).unwrap_err();
    let expected = [
        "HIPFILE_INCLUDE_DIR",
        "HIPFILE_LIB_DIR",
        "HIPFILE_NO_PKG_CONFIG",
        "ROCM_PATH",
        "X86_64_UNKNOWN_LINUX_GNU_HIPFILE_INCLUDE_DIR",
        "X86_64_UNKNOWN_LINUX_GNU_HIPFILE_LIB_DIR",
        "X86_64_UNKNOWN_LINUX_GNU_HIPFILE_NO_PKG_CONFIG",
    ];
    assert_eq!(env.names_read(), expected);
}
