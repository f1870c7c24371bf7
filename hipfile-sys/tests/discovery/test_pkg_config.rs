//! Step 2: pkg-config, by what it may answer and for real.

use std::path::Path;
use std::process::Command;

use crate::machine::Machine;
use crate::pkg_config::{self, Answer};

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
    let (ok, output) = in_child("test_pkg_config::print_what_pkg_config_says", &machine.path("pc"), None);
    assert!(ok, "{output}");
    let answer =
        Answer { lib_dirs: vec![machine.path("libraries")], include_dirs: vec![machine.path("headers")] };
    assert!(output.contains(&format!("answer: {answer:?}")), "{output}");
}

#[test]
fn pkg_config_says_why_it_has_no_answer() {
    let machine = Machine::new();
    let (ok, output) =
        in_child("test_pkg_config::print_what_pkg_config_says", machine.root.path(), Some("/nonexistent"));
    assert!(ok, "{output}");
    assert!(output.contains("reason: Could not run"), "{output}");
    if Command::new("pkg-config").arg("--version").output().is_ok() {
        let (ok, output) = in_child("test_pkg_config::print_what_pkg_config_says", machine.root.path(), None);
        assert!(ok, "{output}");
        assert!(output.contains("reason: Package hipfile was not found"), "{output}");
    }
}
