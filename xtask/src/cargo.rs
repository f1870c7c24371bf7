//! Child processes without what cargo put into this process's environment.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Command, ExitStatus};

use crate::{Result, workspace};

/// Variables that cargo sets for build scripts and that would change what a nested cargo builds.
const BUILD_SCRIPT: &[&str] = &[
    "CARGO_ENCODED_RUSTFLAGS",
    "CARGO_MAKEFLAGS",
    "DEBUG",
    "HOST",
    "MAKEFLAGS",
    "NUM_JOBS",
    "OPT_LEVEL",
    "OUT_DIR",
    "PROFILE",
    "RUSTC",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTDOC",
    "TARGET",
];

/// `cargo`, started in the root of the workspace.
pub fn cargo() -> Command {
    let mut command = clean(Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into())));
    command.current_dir(workspace::root());
    command
}

/// Removes from a command's environment what `cargo run` or a build script added to ours.
pub fn clean(mut command: Command) -> Command {
    for (name, _) in env::vars_os() {
        if let Some(text) = name.to_str()
            && (text.starts_with("CARGO_PKG_")
                || text.starts_with("CARGO_MANIFEST_")
                || text.starts_with("CARGO_FEATURE_")
                || text.starts_with("CARGO_CFG_")
                || BUILD_SCRIPT.contains(&text))
        {
            command.env_remove(name);
        }
    }
    match library_path(env::var_os("LD_LIBRARY_PATH").as_deref(), &workspace::target_dir()) {
        Some(path) => command.env("LD_LIBRARY_PATH", path),
        None => command.env_remove("LD_LIBRARY_PATH"),
    };
    command
}

/// `LD_LIBRARY_PATH` without the directories that cargo and rustup add: target directories and the toolchain's own.
/// None when nothing is left.
pub fn library_path(inherited: Option<&OsStr>, target_dir: &Path) -> Option<OsString> {
    let kept: Vec<_> = env::split_paths(inherited?)
        .filter(|entry| {
            !entry.as_os_str().is_empty()
                && !entry.starts_with(target_dir)
                && !entry.iter().any(|part| part == "rustlib")
                && !entry.join("rustlib").is_dir()
        })
        .collect();
    if kept.is_empty() { None } else { env::join_paths(kept).ok() }
}

/// Runs a command to its end; an error names the program that could not start.
pub fn status(command: &mut Command) -> Result<ExitStatus> {
    command.status().map_err(|error| format!("cannot start {}: {error}", show(command.get_program())).into())
}

fn show(program: &OsStr) -> String {
    Path::new(program).display().to_string()
}
