//! `cargo xtask demo`: a real file goes through GPU memory into a new file and is compared.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cargo::{exit_code, programs, status};
use crate::rocm::{self, Rocm};
use crate::{Result, needed, workspace};

/// Copy a file through GPU memory, read the copy back and compare
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The file [default: the Rust toolchain's librustc_driver, over 100 MB]
    file: Option<PathBuf>,
    /// Where the copy goes [default: a file of the same name in target/demo]
    #[arg(long, value_name = "PATH")]
    to: Option<PathBuf>,
}

/// The command.
pub fn run(args: &Args, choice: &rocm::Choice) -> Result {
    let rocm = Rocm::choose(choice)?;
    let file = args.file.clone().map_or_else(toolchain_library, Ok)?;
    let copy = match &args.to {
        Some(path) => path.clone(),
        None => {
            let dir = workspace::target_dir().join("demo");
            fs::create_dir_all(&dir).map_err(|error| format!("cannot create {}: {error}", dir.display()))?;
            dir.join(file.file_name().unwrap_or("copy".as_ref()))
        }
    };

    let mut build = rocm.cargo();
    build.args(["build", "--locked", "--package", "hipfile", "--example", "copy"]);
    let built = programs(&mut build)?;
    let program = built.first().ok_or("cargo reported no program for the example `copy`")?;
    needed::check(program, &rocm)?;

    eprintln!("xtask: copying {} to {}", file.display(), copy.display());
    Ok(exit_code(status(rocm.command(program).arg(&file).arg(&copy))?))
}

/// The largest file that every Rust installation has.
fn toolchain_library() -> Result<PathBuf> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc)
        .args(["--print", "sysroot"])
        .output()
        .map_err(|error| format!("cannot start rustc: {error}; name a FILE"))?;
    let lib = Path::new(String::from_utf8_lossy(&output.stdout).trim()).join("lib");
    fs::read_dir(&lib)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("librustc_driver-"))
        })
        .ok_or_else(|| format!("no librustc_driver in {}: name a FILE", lib.display()).into())
}
