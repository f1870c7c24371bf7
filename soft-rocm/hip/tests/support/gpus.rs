//! Processes whose devices are GPUs, by a driver of the tests' own: no GPU is needed, and none is used.

use std::ffi::c_void;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::OnceLock;

use soft_rocm_hip::header::*;

use super::in_process;

/// Chunks pass through host memory of this size.
pub const STAGE: usize = 4 << 20;

/// The folder of a driver, built with some options.
pub fn driver(options: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/fake_cuda.c");
    let mut compiler = Command::new("cc");
    compiler.args(["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O1", "-pthread", "-shared", "-fPIC", "-o"]);
    compiler.arg(folder.path().join("libcuda.so.1")).arg(source).args(options);
    assert!(compiler.status().unwrap().success());
    folder
}

/// Runs `body` in a process with GPUs.
pub fn output_with_gpus(test: &str, variables: &[(&str, &str)], body: impl FnOnce()) -> Option<Output> {
    static DRIVER: OnceLock<tempfile::TempDir> = OnceLock::new();
    with_driver(|| DRIVER.get_or_init(|| driver(&[])).path(), test, variables, body)
}

pub fn with_driver<'a>(
    folder: impl FnOnce() -> &'a Path,
    test: &str,
    variables: &[(&str, &str)],
    body: impl FnOnce(),
) -> Option<Output> {
    let is_child = std::env::var_os("LD_LIBRARY_PATH")
        .is_some_and(|path| Path::new(&path).join("libcuda.so.1").exists());
    // The child needs no folder: its own is the driver's already.
    let folder = if is_child { Path::new("") } else { folder() };
    let mut all = vec![("SOFT_ROCM_DEVICE", "cuda"), ("LD_LIBRARY_PATH", folder.to_str().unwrap())];
    all.extend_from_slice(variables);
    in_process(test, &all, body)
}

pub fn passes_with_gpus(test: &str, variables: &[(&str, &str)], body: impl FnOnce()) {
    if let Some(output) = output_with_gpus(test, variables, body) {
        assert!(output.status.success(), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"), "{output:?}");
    }
}

pub fn copy(dst: *mut c_void, src: *const c_void, len: usize) -> hipError_t {
    // SAFETY: requires host sides that are long enough; holds for every call below.
    unsafe { hipMemcpy(dst, src, len, hipMemcpyDefault) }
}
