//! Step 3: ROCm's usual places and the system's directories.

use crate::machine::Machine;

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
