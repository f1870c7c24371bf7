//! Function tables of libraries that are loaded as the program runs: fabricated ones, compiled here.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::ptr;

use hipfile_sys::{AlreadyInUse, Api, api};

/// What every libhipfile since 0.2 exports.
const FLOOR: &[&str] = &[
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

/// Compiles a library that exports `names`, each returning its place in the list.
fn compile(file: &Path, names: &[&str]) {
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    let functions =
        names.iter().enumerate().map(|(i, name)| format!("long {name}(void) {{ return {i}; }}\n"));
    let source = file.with_extension("c");
    std::fs::write(&source, functions.collect::<String>()).unwrap();
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", "-Wl,-soname,libhipfile.so.0", "-o"]).arg(file).arg(&source);
    assert!(cc.status().unwrap().success(), "cc failed on {}", source.display());
}

fn use_count(api: &Api) -> usize {
    // SAFETY: requires nothing.
    unsafe { (api.hipFileUseCount)() }.try_into().unwrap()
}

fn load(file: &Path) -> Result<&'static Api, hipfile_sys::LoadError> {
    // SAFETY: requires a libhipfile; holds as far as the tests use the one compiled here.
    unsafe { Api::load(file) }
}

#[test]
fn a_table_is_loaded_and_chosen_before_the_first_use() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("libhipfile-0.2.so");
    compile(&file, FLOOR);
    let api = load(&file).unwrap();
    assert_eq!(FLOOR.get(use_count(api)), Some(&"hipFileUseCount"));
    assert_eq!(api.path(), Some(file));
    assert!(
        api.hipFileGetStatsL1.is_none() && api.hipFileGetStatsL2.is_none() && api.hipFileGetStatsL3.is_none()
    );

    api::set(api).unwrap();
    assert!(ptr::eq(api::get().unwrap(), api));
    assert_eq!(api::set(api), Err(AlreadyInUse));
}

#[test]
fn newer_functions_are_found_one_by_one() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("libhipfile-next.so");
    compile(&file, &[FLOOR, &["hipFileGetStatsL1", "hipFileGetStatsL3"]].concat());
    let api = load(&file).unwrap();
    assert!(
        api.hipFileGetStatsL1.is_some() && api.hipFileGetStatsL2.is_none() && api.hipFileGetStatsL3.is_some()
    );
}

#[test]
fn a_library_below_the_floor_is_refused_by_the_function_it_lacks() {
    let folder = tempfile::tempdir().unwrap();
    for missing in FLOOR.iter().step_by(6) {
        let names: Vec<_> = FLOOR.iter().copied().filter(|name| name != missing).collect();
        let file = folder.path().join(format!("lacks-{missing}.so"));
        compile(&file, &names);
        let text = format!("{} has no {missing}: libhipfile 0.2 or newer is needed", file.display());
        assert_eq!(load(&file).unwrap_err().to_string(), text);
    }
}

/// Runs `child` of this file with that `ROCM_PATH`, in a process of its own.
fn in_child(child: &str, rocm_path: &Path) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([child, "--exact", "--ignored", "--nocapture"]).env("ROCM_PATH", rocm_path);
    String::from_utf8(command.output().unwrap().stdout).unwrap()
}

#[test]
#[ignore = "run by the test below, in a process of its own"]
fn print_what_open_finds() {
    // SAFETY: requires that what is named libhipfile is one; holds as far as it is used here.
    match unsafe { Api::open() } {
        Ok(api) => println!("path: {}", api.path().unwrap().display()),
        Err(error) => println!("error: {error}"),
    }
}

#[test]
fn the_search_finds_the_linked_library_first_and_then_rocm_path() {
    let folder = tempfile::tempdir().unwrap();
    let file: PathBuf = folder.path().join("lib/libhipfile.so.0");
    compile(&file, FLOOR);
    let output = in_child("print_what_open_finds", folder.path());
    let found = output.contains(&format!("path: {}\n", file.display()));
    // A linked library is in the process already, and so it wins.
    assert_eq!(found, cfg!(not(feature = "link")), "{output}");
    assert!(output.contains("path: "), "{output}");
}
