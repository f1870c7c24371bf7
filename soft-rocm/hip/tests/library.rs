//! The shared library as the dynamic loader sees it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is a failed test")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The library that cargo built along with this test.
fn library() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let path = test.with_file_name("libsoft_rocm_hip.so");
    assert!(path.is_file(), "{} is missing", path.display());
    path
}

/// Output of a command that has to succeed.
fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The functions of `softrocm.h` that are this library's.
fn additions() -> impl Iterator<Item = &'static str> {
    let lines = include_str!("../../include/softrocm.h").lines();
    lines.filter(|line| line.ends_with(");") && !line.starts_with(' ')).filter_map(|line| {
        let name = line.split('(').next()?.rsplit([' ', '*']).next()?;
        (name.starts_with("softrocm_") && !name.starts_with("softrocm_hipfile_")).then_some(name)
    })
}

/// The names of all functions that a program can link with.
fn exported() -> BTreeSet<String> {
    let symbols = run(Command::new("nm").args(["-D", "--defined-only"]).arg(library()));
    let functions = symbols.lines().filter_map(|line| line.split_once(" T "));
    functions.map(|(_, name)| name.split('@').next().unwrap().to_owned()).collect()
}

#[test]
fn it_exports_what_its_headers_declare() {
    let mut declared: BTreeSet<String> = include_str!("../src/bindings.rs")
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix("pub fn ")?.split('(').next())
        .filter(|name| cfg!(feature = "ais") || !name.starts_with("hipAmdFile"))
        .map(str::to_owned)
        .collect();
    declared.extend(additions().map(str::to_owned));
    assert_eq!(exported(), declared);
}

/// What libhipfile imports from libamdhip64, in one release or another from 0.2 to the development of 0.6. The two file
/// functions are looked up by name.
const IMPORTS: [&str; 31] = [
    "__hipPopCallConfiguration",
    "__hipPushCallConfiguration",
    "__hipRegisterFatBinary",
    "__hipRegisterFunction",
    "__hipUnregisterFatBinary",
    "hipDeviceGetAttribute",
    "hipDeviceGetUuid",
    "hipExtMallocWithFlags",
    "hipFree",
    "hipGetDevice",
    "hipGetDeviceCount",
    "hipGetProcAddress",
    "hipHostFree",
    "hipHostGetDevicePointer",
    "hipHostMalloc",
    "hipInit",
    "hipLaunchHostFunc",
    "hipLaunchKernel",
    "hipMemGetAddressRange",
    "hipMemcpy",
    "hipMemcpyWithStream",
    "hipPointerGetAttributes",
    "hipRuntimeGetVersion",
    "hipSetDevice",
    "hipStreamCreateWithFlags",
    "hipStreamDestroy",
    "hipStreamGetDevice",
    "hipStreamSynchronize",
    "hipStreamWaitValue64",
    "hipAmdFileRead",
    "hipAmdFileWrite",
];

/// What the tests of libhipfile import besides.
const IMPORTS_OF_TESTS: [&str; 4] = ["hipMalloc", "hipMemset", "hipDeviceSynchronize", "hipStreamCreate"];

#[test]
fn it_exports_what_every_libhipfile_imports() {
    let exported = exported();
    let missing: Vec<_> = IMPORTS
        .iter()
        .chain(&IMPORTS_OF_TESTS)
        .filter(|name| cfg!(feature = "ais") || !name.starts_with("hipAmdFile"))
        .filter(|name| !exported.contains(**name))
        .collect();
    assert_eq!(missing, <[&&str; 0]>::default());
}

/// HF-HIP-27
#[test]
fn its_name_is_that_of_amds_library() {
    let dynamic = run(Command::new("readelf").args(["-d", "-W"]).arg(library()));
    let name = concat!("[libamdhip64.so.", env!("SOFT_ROCM_HIP_SOVERSION"), "]");
    assert!(dynamic.lines().any(|line| line.contains("SONAME") && line.ends_with(name)), "{dynamic}");
    assert!(dynamic.contains("NODELETE"), "{dynamic}");
}

/// HF-HIP-27. Links a program with a stand-in for AMD's library, whose symbols have versions, and runs it with ours.
#[test]
fn a_program_linked_with_versioned_symbols_starts_without_a_warning() {
    if !cfg!(version_nodes) {
        return println!("skipped: this linker can't combine version scripts");
    }
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| -> PathBuf {
        std::fs::write(dir.path().join(name), text).unwrap();
        dir.path().join(name)
    };
    let name = concat!("libamdhip64.so.", env!("SOFT_ROCM_HIP_SOVERSION"));
    let map =
        file("amd.map", "hip_4.2 { global: hipInit; local: *; }; hip_6.0 { global: hipFree; } hip_4.2;");
    let source =
        file("amd.c", "int hipInit(unsigned f) { return f + 1; } int hipFree(void *p) { return !p; }");
    let main = file(
        "main.c",
        "int hipInit(unsigned); int hipFree(void *); int main(void) { return hipInit(0) | hipFree(0); }",
    );
    let amd = dir.path().join(name);
    let program = dir.path().join("main");
    run(Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .args([&amd, &source])
        .arg(format!("-Wl,-soname,{name}"))
        .arg(format!("-Wl,--version-script,{}", map.display())));
    run(Command::new("cc").arg("-o").args([&program, &main, &amd]));
    let start = |libraries: &Path| {
        Command::new(&program).env_clear().env("LD_LIBRARY_PATH", libraries).output().unwrap()
    };
    // The stand-in answers 1, so the program tells which one it runs on.
    assert_eq!(start(dir.path()).status.code(), Some(1));
    let ours = dir.path().join("ours");
    std::fs::create_dir(&ours).unwrap();
    std::fs::copy(library(), ours.join(name)).unwrap();
    let output = start(&ours);
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""));
}
