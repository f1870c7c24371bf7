//! What the header says about its version.

use crate::machine::Machine;

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
