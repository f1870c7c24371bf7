//! Where the ROCm under test lies: what the environment says, else the software ROCm of this workspace.

use std::env;
use std::path::{Path, PathBuf};

/// The root of the workspace.
pub fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package lies inside a workspace").to_path_buf()
}

/// The folder that holds `hipfile.h`.
pub fn include_dir() -> PathBuf {
    env::var_os("HIPFILE_INCLUDE_DIR").map_or_else(|| workspace().join("soft-rocm/include"), PathBuf::from)
}

/// The folder that holds `libhipfile.so` and `libamdhip64.so`.
pub fn lib_dir() -> PathBuf {
    env::var_os("HIPFILE_LIB_DIR").map_or_else(|| workspace().join("target/soft-rocm/lib"), PathBuf::from)
}

/// The folder that holds `hip/hip_runtime_api.h`, where it is not the one of `hipfile.h`.
pub fn hip_include_dir() -> PathBuf {
    let beside = include_dir();
    if beside.join("hip/hip_runtime_api.h").is_file() {
        return beside;
    }
    ["HIP_PATH", "ROCM_PATH"]
        .iter()
        .filter_map(env::var_os)
        .map(|prefix| PathBuf::from(prefix).join("include"))
        .find(|dir| dir.join("hip/hip_runtime_api.h").is_file())
        .unwrap_or(beside)
}

/// Whether the headers are this workspace's own, so that warnings in them count too.
pub fn own_headers() -> bool {
    let canonical = |path: PathBuf| path.canonicalize().ok();
    match (canonical(include_dir()), canonical(workspace())) {
        (Some(headers), Some(root)) => headers.starts_with(root),
        _ => false,
    }
}
