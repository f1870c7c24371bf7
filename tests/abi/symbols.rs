//! What the library under test exports, and under which name it is known.

use std::ffi::{CStr, CString};
use std::process::Command;

use hipfile_tests::compiler::{Language, must_run, program, with_headers, with_libraries};
use hipfile_tests::rocm;

/// The functions of every release since 0.2.
const FUNCTIONS: [&str; 31] = [
    "hipFileGetOpErrorString",
    "hipFileHandleRegister",
    "hipFileHandleDeregister",
    "hipFileBufRegister",
    "hipFileBufDeregister",
    "hipFileRead",
    "hipFileWrite",
    "hipFileDriverOpen",
    "hipFileDriverClose",
    "hipFileUseCount",
    "hipFileDriverGetProperties",
    "hipFileDriverSetPollMode",
    "hipFileDriverSetMaxDirectIOSize",
    "hipFileDriverSetMaxCacheSize",
    "hipFileDriverSetMaxPinnedMemSize",
    "hipFileBatchIOSetUp",
    "hipFileBatchIOSubmit",
    "hipFileBatchIOGetStatus",
    "hipFileBatchIOCancel",
    "hipFileBatchIODestroy",
    "hipFileReadAsync",
    "hipFileWriteAsync",
    "hipFileStreamRegister",
    "hipFileStreamDeregister",
    "hipFileGetVersion",
    "hipFileGetParameterSizeT",
    "hipFileGetParameterBool",
    "hipFileGetParameterString",
    "hipFileSetParameterSizeT",
    "hipFileSetParameterBool",
    "hipFileSetParameterString",
];

/// The functions that came with 0.5.
const SINCE_0_5: [&str; 3] = ["hipFileGetStatsL1", "hipFileGetStatsL2", "hipFileGetStatsL3"];

/// Looks a name up in this process, which is linked to the library under test.
fn exported(name: &str) -> bool {
    // Keeps the library among what this program needs.
    let open: unsafe extern "C" fn() -> hipfile_sys::hipFileError_t = hipfile_sys::hipFileDriverOpen;
    std::hint::black_box(open);
    let name = CString::new(name).unwrap();
    // SAFETY: requires a terminated name; holds because it comes from a CString.
    !unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) }.is_null()
}

fn version() -> (u32, u32, u32) {
    let (mut major, mut minor, mut patch) = (0, 0, 0);
    // SAFETY: requires pointers to integers or NULL; holds because they point to three of our own.
    let error = unsafe { hipfile_sys::hipFileGetVersion(&mut major, &mut minor, &mut patch) };
    assert_eq!(error.err, hipfile_sys::hipFileSuccess);
    (major, minor, patch)
}

/// HF-ABI-28
#[test]
fn functions_of_0_2_are_exported() {
    for name in FUNCTIONS {
        assert!(exported(name), "{name} is not exported");
    }
    assert!(!exported("hipFileNoSuchFunction"));
}

/// HF-ABI-29
#[test]
fn statistics_are_exported_from_0_5() {
    for name in SINCE_0_5 {
        assert_eq!(exported(name), version() >= (0, 5, 0), "{name} in version {:?}", version());
    }
}

/// HF-ABI-37
#[test]
fn functions_of_the_statistics_tool_are_exported() {
    for function in
        ["CreateContext", "CloseContext", "ConnectToTargetProcess", "PollTargetProcess", "GenerateReport"]
    {
        let name = format!("hipFileStats{function}");
        assert!(exported(&name), "{name} is not exported");
    }
}

/// HF-ABI-30
#[test]
fn nothing_else_is_exported() {
    let library = rocm::lib_dir().join("libhipfile.so");
    let output = must_run(Command::new("nm").args(["-D", "--defined-only"]).arg(&library));
    let listing = String::from_utf8(output.stdout).unwrap();
    let names: Vec<_> = listing.lines().filter_map(|line| line.split_whitespace().nth(2)).collect();
    assert!(names.contains(&"hipFileRead"), "{listing}");
    for name in names {
        let prefixes = ["hipFile", "softrocm_", "_init", "_fini"];
        assert!(prefixes.iter().any(|prefix| name.starts_with(prefix)), "{name} is exported too");
    }
}

/// HF-ABI-31
#[test]
fn soname_is_that_of_every_0_x() {
    let link = rocm::lib_dir().join("libhipfile.so");
    let output = must_run(Command::new("readelf").arg("-dW").arg(&link));
    let dynamic = String::from_utf8(output.stdout).unwrap();
    let soname = dynamic.lines().find(|line| line.contains("(SONAME)")).unwrap();
    assert!(soname.contains("[libhipfile.so.0]"), "{soname}");
    let known_as = rocm::lib_dir().join("libhipfile.so.0");
    assert_eq!(link.canonicalize().unwrap(), known_as.canonicalize().unwrap());
}

/// HF-ABI-24: the macro gives the library's string of the absolute value.
#[test]
fn errstr_takes_either_sign() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("errstr.c");
    let text = "#include <hipfile.h>\n#include <stdio.h>\n\
                int main(void) { puts(HIPFILE_ERRSTR(-5022)); puts(HIPFILE_ERRSTR(5022)); return 0; }\n";
    std::fs::write(&source, text).unwrap();
    let built = folder.path().join("errstr");
    let mut command = Language::C11.compiler();
    with_headers(&mut command).arg(&source).arg("-o").arg(&built);
    must_run(with_libraries(&mut command));
    let said = String::from_utf8(must_run(&mut program(&built)).stdout).unwrap();
    // SAFETY: requires nothing; the function is a look-up.
    let string = unsafe { hipfile_sys::hipFileGetOpErrorString(hipfile_sys::hipFileInvalidValue) };
    // SAFETY: requires a terminated string that stays; holds because the library's strings are static.
    let expected = unsafe { CStr::from_ptr(string) }.to_str().unwrap();
    assert_eq!(said, format!("{expected}\n{expected}\n"));
}
