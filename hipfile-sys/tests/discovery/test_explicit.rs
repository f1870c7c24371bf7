//! Step 1: the variables that name the two directories.

use crate::machine::Machine;
use crate::pkg_config::Answer;

#[test]
fn explicit_directories_win_over_everything() {
    let mut machine = Machine::new();
    machine.prefix("opt/rocm", "0.5.0");
    machine.pkg_config =
        Ok(Answer { include_dirs: vec![machine.header("pc", "0.5.0")], lib_dirs: Vec::new() });
    let (include, lib) = (machine.header("a/headers", "0.2.0"), machine.library("b/libraries"));
    machine.set("HIPFILE_INCLUDE_DIR", &include);
    machine.set("HIPFILE_LIB_DIR", &lib);
    let found = machine.discover().unwrap();
    assert_eq!((found.include, found.lib_dir), (include, Some(lib)));
}

#[test]
fn variables_of_the_target_win_over_plain_ones() {
    let mut machine = Machine::new();
    let (include, lib) = (machine.header("cross/include", "0.5.0"), machine.library("cross/lib"));
    machine.set("HIPFILE_INCLUDE_DIR", "/host/include");
    machine.set("HIPFILE_LIB_DIR", "/host/lib");
    machine.set("X86_64_UNKNOWN_LINUX_GNU_HIPFILE_INCLUDE_DIR", &include);
    machine.set("X86_64_UNKNOWN_LINUX_GNU_HIPFILE_LIB_DIR", &lib);
    let found = machine.discover().unwrap();
    assert_eq!((found.include, found.lib_dir), (include, Some(lib)));

    machine.variables.retain(|(name, _)| name == "TARGET" || name.starts_with("HIPFILE"));
    machine.set("AARCH64_UNKNOWN_LINUX_GNU_HIPFILE_LIB_DIR", "/other");
    assert!(machine.error()[0].starts_with("HIPFILE_LIB_DIR=/host/lib: "));
}

#[test]
fn wrong_explicit_directories_fail_at_once_by_name() {
    let mut machine = Machine::new();
    machine.prefix("opt/rocm", "0.5.0");
    machine.set("HIPFILE_LIB_DIR", "/nonexistent");
    machine.set("X86_64_UNKNOWN_LINUX_GNU_HIPFILE_INCLUDE_DIR", "/nonexistent");
    let expected = [
        "HIPFILE_LIB_DIR=/nonexistent: /nonexistent is not a directory; it must name the directory of libhipfile.so",
        "X86_64_UNKNOWN_LINUX_GNU_HIPFILE_INCLUDE_DIR=/nonexistent: /nonexistent is not a directory; \
         it must name the directory of hipfile.h",
    ];
    assert_eq!(machine.error(), expected);
}

#[test]
fn explicit_directories_must_hold_what_they_are_named_for() {
    let mut machine = Machine::new();
    std::fs::create_dir_all(machine.path("empty")).unwrap();
    machine.set("HIPFILE_LIB_DIR", machine.path("empty"));
    machine.set("HIPFILE_INCLUDE_DIR", machine.path("empty"));
    let expected = [
        "HIPFILE_LIB_DIR=ROOT/empty: ROOT/empty has no libhipfile.so; it must name the directory of libhipfile.so",
        "HIPFILE_INCLUDE_DIR=ROOT/empty: ROOT/empty/hipfile.h does not exist; it must name the directory of hipfile.h",
    ];
    assert_eq!(machine.error(), expected);
}

#[test]
fn one_explicit_directory_needs_the_other() {
    let mut machine = Machine::new();
    machine.prefix("opt/rocm", "0.5.0");
    machine.set("HIPFILE_LIB_DIR", machine.path("opt/rocm/lib"));
    let expected =
        "HIPFILE_LIB_DIR=ROOT/opt/rocm/lib is set but HIPFILE_INCLUDE_DIR is not; set both or neither";
    assert_eq!(machine.error(), [expected]);
}
