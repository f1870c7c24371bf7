//! The build script's search, on fabricated installations. Environment and root directory are given to it, so nothing
//! here depends on the machine or on the process.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

#[path = "../build/discover.rs"]
mod discover;
#[path = "../build/env.rs"]
mod env;
#[path = "../build/explicit.rs"]
mod explicit;
#[path = "../build/found.rs"]
mod found;
#[path = "../build/header.rs"]
mod header;
#[path = "../build/pkg_config.rs"]
mod pkg_config;
#[path = "../build/prefixes.rs"]
mod prefixes;
#[path = "../build/report.rs"]
mod report;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use env::Env;
use found::Found;
use pkg_config::Answer;
use tempfile::TempDir;

const TARGET: &str = "x86_64-unknown-linux-gnu";

/// A file system and an environment to search.
struct Machine {
    root: TempDir,
    variables: Vec<(String, OsString)>,
    pkg_config: Result<Answer, String>,
}

impl Machine {
    fn new() -> Self {
        let variables = vec![("TARGET".into(), TARGET.into())];
        let pkg_config = Err("no package 'hipfile'".into());
        Self { root: tempfile::tempdir().unwrap(), variables, pkg_config }
    }

    fn path(&self, relative: &str) -> PathBuf {
        self.root.path().join(relative)
    }

    fn set(&mut self, name: &str, value: impl Into<OsString>) {
        self.variables.push((name.into(), value.into()));
    }

    fn header(&self, folder: &str, version: &str) -> PathBuf {
        let folder = self.path(folder);
        std::fs::create_dir_all(&folder).unwrap();
        let mut text = String::from("#ifndef HIPFILE_H\n/* #define HIPFILE_VERSION_MAJOR 9 */\n");
        for (name, number) in ["MAJOR", "MINOR", "PATCH"].iter().zip(version.split('.')) {
            text += &format!("# define  HIPFILE_VERSION_{name}\t{number} // {name}\n");
        }
        std::fs::write(folder.join("hipfile.h"), text).unwrap();
        folder
    }

    fn library(&self, folder: &str) -> PathBuf {
        let folder = self.path(folder);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("libhipfile.so"), "").unwrap();
        folder
    }

    fn prefix(&self, prefix: &str, version: &str) -> PathBuf {
        self.header(&format!("{prefix}/include"), version);
        self.library(&format!("{prefix}/lib"));
        self.path(prefix)
    }

    fn discover(&self) -> Result<Found, Vec<String>> {
        let lookup = |name: &str| {
            let found = self.variables.iter().find(|(key, _)| key == name);
            found.map(|(_, value)| value.clone())
        };
        discover::discover(&Env::new(&lookup), self.root.path(), &|| self.pkg_config.clone())
    }

    fn found_in(&self, prefix: &str) -> Found {
        let found = self.discover().unwrap();
        assert_eq!(found.include, self.path(prefix).join("include"), "{found:?}");
        assert_eq!(found.lib_dir, Some(self.path(prefix).join("lib")), "{found:?}");
        found
    }

    /// The error, with the root directory written as `ROOT`.
    fn error(&self) -> Vec<String> {
        let root = self.root.path().display().to_string();
        self.discover().unwrap_err().iter().map(|line| line.replace(&root, "ROOT")).collect()
    }
}

#[test]
fn a_valid_prefix_is_found_with_its_version() {
    let machine = Machine::new();
    machine.prefix("opt/rocm", "0.4.1");
    let found = machine.found_in("opt/rocm");
    assert_eq!(found.version.to_string(), "0.4.1");
    assert_eq!(found.warnings, [""; 0]);
}

#[test]
fn cores_come_newest_first() {
    let machine = Machine::new();
    for core in ["core-7.9", "core-10.1", "core-7.14"] {
        machine.prefix(&format!("opt/rocm/{core}"), "0.5.0");
    }
    machine.prefix("opt/rocm", "0.5.0");
    machine.found_in("opt/rocm/core-10.1");
}

#[test]
fn a_core_without_hipfile_is_passed_over() {
    let machine = Machine::new();
    std::fs::create_dir_all(machine.path("opt/rocm/core-10.1/include")).unwrap();
    machine.prefix("opt/rocm/core-7.14", "0.3.0");
    machine.found_in("opt/rocm/core-7.14");
}

#[test]
fn of_two_installations_rocm_path_names_the_one_to_use() {
    let mut machine = Machine::new();
    machine.prefix("opt/rocm", "0.5.0");
    let mine = machine.prefix("home/rocm", "0.3.0");
    machine.set("ROCM_PATH", mine);
    assert_eq!(machine.found_in("home/rocm").warnings, [""; 0]);
}

#[test]
fn a_rocm_path_that_does_not_help_is_mentioned() {
    let mut machine = Machine::new();
    machine.prefix("opt/rocm", "0.5.0");
    machine.set("ROCM_PATH", "/nonexistent");
    let header = machine.path("opt/rocm/include/hipfile.h");
    let text = format!("no hipFile in ROCM_PATH=/nonexistent, so {} is used", header.display());
    assert_eq!(machine.found_in("opt/rocm").warnings, [text]);
}

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
fn an_old_header_will_not_do() {
    let mut machine = Machine::new();
    machine.prefix("opt/rocm/core-7.2", "0.1.9");
    machine.prefix("opt/rocm", "0.2.0");
    machine.found_in("opt/rocm");

    machine.set("HIPFILE_LIB_DIR", machine.path("opt/rocm/core-7.2/lib"));
    machine.set("HIPFILE_INCLUDE_DIR", machine.path("opt/rocm/core-7.2/include"));
    let expected = "HIPFILE_INCLUDE_DIR=ROOT/opt/rocm/core-7.2/include: ROOT/opt/rocm/core-7.2/include/hipfile.h \
                    is of hipFile 0.1.9, but 0.2.0 or newer is needed; it must name the directory of hipfile.h";
    assert_eq!(machine.error(), [expected]);
}

#[test]
fn a_new_header_is_used_with_a_warning() {
    let machine = Machine::new();
    let header = machine.prefix("opt/rocm", "0.6.0").join("include/hipfile.h");
    let text = format!("{} is of hipFile 0.6.0; this crate was tested up to 0.5.0", header.display());
    assert_eq!(machine.found_in("opt/rocm").warnings, [text]);
}

#[test]
fn a_patch_release_is_no_reason_to_warn() {
    let machine = Machine::new();
    machine.prefix("opt/rocm", "0.5.3");
    assert_eq!(machine.found_in("opt/rocm").warnings, [""; 0]);
}

#[test]
fn a_header_without_a_version_will_not_do() {
    let machine = Machine::new();
    machine.library("opt/rocm/lib");
    machine.header("opt/rocm/include", "0.five");
    let place = "  ROOT/opt/rocm: include/hipfile.h does not define HIPFILE_VERSION_MINOR as a number";
    assert!(machine.error().contains(&place.to_owned()), "{:#?}", machine.error());
}

#[test]
fn only_a_header_is_not_enough() {
    let machine = Machine::new();
    machine.header("opt/rocm/include", "0.5.0");
    machine.header("usr/include", "0.5.0");
    let error = machine.error();
    assert!(
        error.contains(&"  ROOT/opt/rocm: has the header but no ROOT/opt/rocm/lib/libhipfile.so".into()),
        "{error:#?}"
    );
    let system = "  ROOT/usr: has the header but no libhipfile.so in \
                  ROOT/usr/lib64, ROOT/usr/lib/x86_64-linux-gnu, ROOT/usr/lib";
    assert!(error.contains(&system.into()), "{error:#?}");
}

#[test]
fn a_complete_installation_wins_over_a_header_alone() {
    let machine = Machine::new();
    machine.header("opt/rocm/core-10.1/include", "0.5.0");
    machine.prefix("opt/rocm/core-7.14", "0.3.0");
    machine.found_in("opt/rocm/core-7.14");
}

#[test]
fn a_prefix_whose_libraries_are_yet_to_be_built_can_be_compiled_against() {
    let mut machine = Machine::new();
    machine.header("checkout/include", "0.5.0");
    std::os::unix::fs::symlink("../target/none", machine.path("checkout/lib")).unwrap();
    machine.set("ROCM_PATH", machine.path("checkout"));
    machine.found_in("checkout");
}

#[test]
fn distributions_directories_are_left_to_the_linker() {
    for folder in ["usr/lib/x86_64-linux-gnu", "usr/lib64", "usr/lib"] {
        let machine = Machine::new();
        machine.header("usr/include", "0.5.0");
        machine.library(folder);
        let found = machine.discover().unwrap();
        assert_eq!((found.include, found.lib_dir), (machine.path("usr/include"), None), "{folder}");
    }
}

#[test]
fn pkg_config_wins_over_the_usual_places() {
    let mut machine = Machine::new();
    machine.prefix("opt/rocm", "0.5.0");
    let include = machine.header("pc/include", "0.4.0");
    let lib = machine.path("pc/lib");
    machine.pkg_config = Ok(Answer { include_dirs: vec![include.clone()], lib_dirs: vec![lib.clone()] });
    let found = machine.discover().unwrap();
    // Its word is taken for the library, which may be built later.
    assert_eq!((found.include, found.lib_dir), (include, Some(lib)));

    machine.set("HIPFILE_NO_PKG_CONFIG", "1");
    machine.found_in("opt/rocm");
}

#[test]
fn pkg_config_without_a_header_is_passed_over() {
    let mut machine = Machine::new();
    let (include_dirs, lib_dirs) = (vec![machine.path("pc/include")], vec![machine.library("pc/lib")]);
    machine.pkg_config = Ok(Answer { include_dirs, lib_dirs });
    let line = "  pkg-config hipfile: ROOT/pc/include/hipfile.h does not exist".to_owned();
    assert!(machine.error().contains(&line), "{:#?}", machine.error());
    machine.prefix("opt/rocm", "0.5.0");
    machine.found_in("opt/rocm");
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

/// Runs `child` of this file in a process of its own, since pkg-config is configured by its environment.
fn in_child(child: &str, pkg_config_path: &Path, path: Option<&str>) -> (bool, String) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([child, "--exact", "--ignored", "--nocapture"]);
    command.env("PKG_CONFIG_LIBDIR", pkg_config_path).env_remove("PKG_CONFIG_PATH");
    if let Some(path) = path {
        command.env("PATH", path);
    }
    let output = command.output().unwrap();
    (output.status.success(), String::from_utf8(output.stdout).unwrap())
}

#[test]
#[ignore = "run by the tests below, in processes of their own"]
fn print_what_pkg_config_says() {
    match pkg_config::probe() {
        Ok(answer) => println!("answer: {answer:?}"),
        Err(reason) => println!("reason: {reason}"),
    }
}

#[test]
fn only_a_pc_file_is_enough_for_pkg_config() {
    if Command::new("pkg-config").arg("--version").output().is_err() {
        eprintln!("skipped: there is no pkg-config");
        return;
    }
    let machine = Machine::new();
    std::fs::create_dir_all(machine.path("pc")).unwrap();
    let root = machine.root.path().display();
    let text = format!(
        "includedir={root}/headers\nName: hipfile\nDescription: x\nVersion: 0.5.0\n\
         Libs: -L{root}/libraries -lhipfile -lamdhip64\nCflags: -I${{includedir}}\n"
    );
    std::fs::write(machine.path("pc/hipfile.pc"), text).unwrap();
    let (ok, output) = in_child("print_what_pkg_config_says", &machine.path("pc"), None);
    assert!(ok, "{output}");
    let answer =
        Answer { lib_dirs: vec![machine.path("libraries")], include_dirs: vec![machine.path("headers")] };
    assert!(output.contains(&format!("answer: {answer:?}")), "{output}");
}

#[test]
fn pkg_config_says_why_it_has_no_answer() {
    let machine = Machine::new();
    let (ok, output) = in_child("print_what_pkg_config_says", machine.root.path(), Some("/nonexistent"));
    assert!(ok, "{output}");
    assert!(output.contains("reason: Could not run"), "{output}");
    if Command::new("pkg-config").arg("--version").output().is_ok() {
        let (ok, output) = in_child("print_what_pkg_config_says", machine.root.path(), None);
        assert!(ok, "{output}");
        assert!(output.contains("reason: Package hipfile was not found"), "{output}");
    }
}
