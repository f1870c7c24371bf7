//! Child processes without what cargo put into this process's environment.

use std::env;
use std::ffi::{OsStr, OsString};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus, Stdio};

use crate::{Result, workspace};

/// `cargo`, started in the root of the workspace.
pub fn cargo() -> Command {
    let mut command = clean(Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into())));
    command.current_dir(workspace::root());
    command
}

/// Removes from a command's environment what `cargo run` or `cargo test` added to ours.
pub fn clean(mut command: Command) -> Command {
    for (name, _) in env::vars_os() {
        if name.to_str().is_some_and(of_a_run) {
            command.env_remove(name);
        }
    }
    match library_path(env::var_os("LD_LIBRARY_PATH").as_deref(), &workspace::target_dir()) {
        Some(path) => command.env("LD_LIBRARY_PATH", path),
        None => command.env_remove("LD_LIBRARY_PATH"),
    };
    command
}

/// Whether cargo sets this variable for the programs that it runs.
fn of_a_run(name: &str) -> bool {
    ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|prefix| name.starts_with(prefix))
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

/// Runs a command that must succeed.
pub fn must(command: &mut Command) -> Result<()> {
    let status = status(command)?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{} ended with {status}", show(command.get_program())).into())
    }
}

/// Runs a cargo command that builds and returns the programs it made or found up to date.
pub fn programs(command: &mut Command) -> Result<Vec<PathBuf>> {
    let output = command
        .arg("--message-format=json-render-diagnostics")
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("cannot start {}: {error}", show(command.get_program())))?;
    if !output.status.success() {
        return Err("the build failed".into());
    }
    Ok(String::from_utf8_lossy(&output.stdout).lines().filter_map(executable).collect())
}

/// The program that one of cargo's JSON messages reports.
fn executable(message: &str) -> Option<PathBuf> {
    let (_, rest) = message.split_once(r#""executable":""#)?;
    let mut path = String::new();
    let mut characters = rest.chars();
    loop {
        match characters.next()? {
            '"' => return Some(path.into()),
            '\\' => path.push(characters.next()?),
            other => path.push(other),
        }
    }
}

/// An exit status as this process's own: a program ended by signal N gives 128 + N, as in a shell.
pub fn exit_code(status: ExitStatus) -> ExitCode {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from)
}

fn show(program: &OsStr) -> String {
    Path::new(program).display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cargo_adds_to_the_library_path_is_removed() {
        let dir = tempfile::tempdir().unwrap();
        let toolchain = dir.path().join("toolchain/lib");
        std::fs::create_dir_all(toolchain.join("rustlib")).unwrap();
        let clean = |entries: &[&str]| {
            let list = env::join_paths(entries).unwrap();
            library_path(Some(&list), Path::new("/w/target")).map(|path| path.into_string().unwrap())
        };
        let toolchain = toolchain.to_str().unwrap();
        assert_eq!(
            clean(&["/w/target/debug/deps", "/a", toolchain, "/t/lib/rustlib/x/lib", "", "/b"]).unwrap(),
            "/a:/b"
        );
        assert_eq!(clean(&["/w/target/debug"]), None);
        assert_eq!(library_path(None, Path::new("/w/target")), None);
    }

    #[test]
    fn programs_are_found_in_the_messages() {
        let message = r#"{"reason":"compiler-artifact","executable":"/a \"b\"\\c/copy","fresh":true}"#;
        assert_eq!(executable(message), Some(r#"/a "b"\c/copy"#.into()));
        assert_eq!(executable(r#"{"reason":"compiler-artifact","executable":null}"#), None);
        assert_eq!(executable(r#"{"executable":"/cut"#), None);
    }

    #[test]
    fn exit_codes_pass_through() {
        for (script, code) in [("exit 0", 0), ("exit 7", 7), ("kill -9 $$", 137)] {
            let status = status(Command::new("sh").args(["-c", script])).unwrap();
            assert_eq!(exit_code(status), ExitCode::from(code), "{script}");
        }
    }
}
