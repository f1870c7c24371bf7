//! Loading real libraries, compiled here, from fabricated installations.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use rocm_loader::{Library, Search, library_of, loaded, open_path};

/// Compiles `prefix/lib/name` with that SONAME, whose function `answer` returns `answer`.
fn install(prefix: &Path, name: &str, answer: i32) -> PathBuf {
    let folder = prefix.join("lib");
    std::fs::create_dir_all(&folder).unwrap();
    let source = folder.join("answer.c");
    std::fs::write(&source, format!("int answer(void) {{ return {answer}; }}\n")).unwrap();
    let file = folder.join(name);
    let status = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .arg(&file)
        .arg(&source)
        .arg(format!("-Wl,-soname,{name}"))
        .status()
        .unwrap();
    assert!(status.success(), "cc failed on {}", source.display());
    file
}

fn answer(library: &Library) -> i32 {
    // SAFETY: requires the type of the symbol; holds because `install` wrote it.
    let answer: unsafe extern "C" fn() -> i32 = unsafe { library.symbol(c"answer") }.unwrap();
    // SAFETY: requires nothing.
    unsafe { answer() }
}

fn open(search: &Search, stem: &str, versions: &[&str]) -> Result<Library, rocm_loader::LoadError> {
    // SAFETY: requires that initialisers may run; holds because the libraries compiled here have none.
    unsafe { search.open(stem, versions) }
}

#[test]
fn a_loaded_library_wins_over_the_search() {
    let root = tempfile::tempdir().unwrap();
    let searched = root.path().join("opt/rocm");
    install(&searched, "librl_loaded.so.7", 7);
    let own = install(&root.path().join("framework"), "librl_loaded.so.6", 6);
    let search = Search::new(root.path(), None);

    assert_eq!(loaded("librl_loaded.so", &["7", "6"]), None);
    // SAFETY: requires that initialisers may run; holds because the library has none.
    unsafe { open_path(&own) }.unwrap();
    let library = open(&search, "librl_loaded.so", &["7", "6"]).unwrap();
    assert_eq!(answer(&library), 6);
    assert_eq!(library.path(), Some(own));
}

#[test]
fn prefixes_are_asked_in_order_and_versions_within_them() {
    let root = tempfile::tempdir().unwrap();
    install(&root.path().join("opt/rocm/core-7.14"), "librl_order.so.7", 714);
    install(&root.path().join("opt/rocm/core-10.1"), "librl_order.so.6", 1016);
    let newest = install(&root.path().join("opt/rocm/core-10.1"), "librl_order.so.7", 1017);
    let library = open(&Search::new(root.path(), None), "librl_order.so", &["7", "6"]).unwrap();
    assert_eq!(answer(&library), 1017);
    assert_eq!(library.path(), Some(newest));
}

#[test]
fn the_variable_comes_first_and_an_unversioned_file_will_do() {
    let root = tempfile::tempdir().unwrap();
    install(&root.path().join("opt/rocm"), "librl_variable.so.7", 1);
    install(&root.path().join("mine"), "librl_variable.so", 2);
    let mine = root.path().join("mine");
    let search = Search::new(root.path(), Some(mine.as_os_str()));
    assert_eq!(answer(&open(&search, "librl_variable.so", &["7"]).unwrap()), 2);
}

#[test]
fn a_broken_file_is_passed_over() {
    let root = tempfile::tempdir().unwrap();
    let broken = root.path().join("mine/lib/librl_broken.so.7");
    std::fs::create_dir_all(broken.parent().unwrap()).unwrap();
    std::fs::write(&broken, "not a library").unwrap();
    install(&root.path().join("opt/rocm"), "librl_broken.so.7", 3);
    let mine = root.path().join("mine");
    let search = Search::new(root.path(), Some(mine.as_os_str()));
    assert_eq!(answer(&open(&search, "librl_broken.so", &["7"]).unwrap()), 3);
}

#[test]
fn an_error_lists_every_place_and_what_to_do() {
    let root = tempfile::tempdir().unwrap();
    let broken = root.path().join("opt/rocm/core-7.14/lib/librl_none.so.7");
    std::fs::create_dir_all(broken.parent().unwrap()).unwrap();
    std::fs::write(&broken, "not a library").unwrap();
    let search = Search::new(root.path(), Some(OsStr::new("/nonexistent")));
    let text = open(&search, "librl_none.so", &["7"]).unwrap_err().to_string();
    let root = root.path().display();
    let expected = format!(
        "cannot load librl_none.so: this process: has not loaded librl_none.so.7, librl_none.so; \
         /nonexistent/lib: has none of librl_none.so.7, librl_none.so; \
         {root}/opt/rocm/core-7.14/lib/librl_none.so.7: file too short; \
         {root}/opt/rocm/lib: has none of librl_none.so.7, librl_none.so; \
         system loader, librl_none.so.7: cannot open shared object file: No such file or directory; \
         system loader, librl_none.so: cannot open shared object file: No such file or directory; \
         ROCM_PATH names the ROCm installation to use"
    );
    assert_eq!(text, expected);
}

#[test]
fn symbols_that_are_missing_are_none() {
    // SAFETY: requires the type of the symbol; there is no such symbol.
    assert!(unsafe { Library::process().symbol::<*const ()>(c"no_such_symbol") }.is_none());
    assert_eq!(Library::process().path(), None);
}

#[test]
fn code_is_found_in_its_library() {
    let root = tempfile::tempdir().unwrap();
    let file = install(root.path(), "librl_code.so.1", 1);
    // SAFETY: requires that initialisers may run; holds because the library has none.
    let library = unsafe { open_path(&file) }.unwrap();
    // SAFETY: requires a pointer type; holds.
    let address: *const () = unsafe { library.symbol(c"answer") }.unwrap();
    assert_eq!(library_of(address), Some(file));
    assert_eq!(library_of(std::ptr::null()), None);
}
