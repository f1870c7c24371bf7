//! Where things are: the root of the workspace, the target directory, the software prefix.

use std::env;
use std::path::{Path, PathBuf};

/// The root of the workspace.
pub fn root() -> PathBuf {
    // cargo sets the variable for `cargo run`; the value compiled in serves a binary that is started by hand.
    let manifest =
        env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    manifest.parent().map_or_else(|| manifest.clone(), Path::to_path_buf)
}

/// The target directory cargo uses here.
pub fn target_dir() -> PathBuf {
    match env::var_os("CARGO_TARGET_DIR") {
        Some(dir) => std::path::absolute(&dir).unwrap_or_else(|_| dir.into()),
        None => root().join("target"),
    }
}

/// The software ROCm. Always below the workspace: `.cargo/config.toml` and the link `soft-rocm/lib` point at it.
pub fn soft_prefix() -> PathBuf {
    root().join("target/soft-rocm")
}
