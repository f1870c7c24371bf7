//! A machine without ROCm, as builds see it.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::cargo::cargo;
use crate::{Result, workspace};

/// `cargo` that finds no ROCm in any variable, no hipconfig and no pkg-config, with a target directory of its own.
pub fn cargo_without_rocm() -> Result<Command> {
    let target = workspace::target_dir().join("rocm/none");
    let tools = target.join("bin");
    fs::create_dir_all(&tools)?;
    // rustc looks for the linker, and build scripts for nothing else, in PATH.
    for tool in ["cc", "ld", "as", "rustc", "rustdoc"] {
        let link = tools.join(tool);
        if let (Some(found), false) = (find_program(tool), link.exists()) {
            std::os::unix::fs::symlink(found, link)?;
        }
    }
    let mut command = cargo();
    command.env("PATH", &tools).env("CARGO_TARGET_DIR", &target);
    for name in ["HIP_PATH", "ROCM_PATH", "PKG_CONFIG_PATH"] {
        // Set, so that .cargo/config.toml does not: a variable that is removed would be set by it.
        command.env(name, "/nonexistent");
    }
    for name in ["HIPFILE_LIB_DIR", "HIPFILE_INCLUDE_DIR"] {
        command.env_remove(name);
    }
    Ok(command)
}

fn find_program(name: &str) -> Option<PathBuf> {
    let path: OsString = env::var_os("PATH")?;
    env::split_paths(&path).map(|dir| dir.join(name)).find(|file| file.is_file())
}
