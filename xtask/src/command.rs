//! The `hipfile` command as an archive: part of a release.

use std::env::consts::ARCH;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cargo::{cargo, must};
use crate::{Result, elsewhere, soft_rocm, workspace};

/// The name of the folder in the archive.
pub fn name() -> String {
    format!("hipfile-{}-{ARCH}", env!("CARGO_PKG_VERSION"))
}

/// The file under which each shell looks for completions.
const COMPLETIONS: &[(&str, &str)] =
    &[("bash", "hipfile.bash"), ("fish", "hipfile.fish"), ("zsh", "_hipfile")];

/// Makes an archive with one folder: the program, completions, the licences.
pub fn write(file: &Path) -> Result<()> {
    let program = build()?;
    let dir = workspace::target_dir().join("command-archive");
    if dir.exists() {
        fs::remove_dir_all(&dir)?;
    }
    let folder = dir.join(name());
    let completions = folder.join("completions");
    fs::create_dir_all(&completions)?;
    fs::copy(&program, folder.join("hipfile"))?;
    for (shell, name) in COMPLETIONS {
        let output = Command::new(&program).args(["completions", shell]).output()?;
        if !output.status.success() {
            return Err(format!("hipfile completions {shell} ended with {}", output.status).into());
        }
        fs::write(completions.join(name), output.stdout)?;
    }
    for license in ["LICENSE-APACHE", "LICENSE-MIT"] {
        fs::copy(workspace::root().join(license), folder.join(license))?;
    }
    must(Command::new("tar").arg("-czf").arg(file).arg("-C").arg(&dir).arg(name()))
}

/// Builds it for others: with the workspace's flags it would look for this checkout's software ROCm.
fn build() -> Result<PathBuf> {
    let target = workspace::target_dir().join("command");
    let mut command = cargo();
    command.args(["build", "--quiet", "--release", "--locked", "--package", "hipfile-cli", "--target-dir"]);
    // Present but empty: wins over .cargo/config.toml and RUSTFLAGS.
    command.arg(&target).env("CARGO_ENCODED_RUSTFLAGS", "");
    must(&mut command)?;
    Ok(target.join("release/hipfile"))
}

/// Unpacks the archive and the software ROCm's side by side, and runs the one with the other, as someone without a checkout
/// would.
pub fn check(command: &Path, soft_rocm: &Path) -> Result<()> {
    let (ours, theirs) = (name().into(), soft_rocm::tarball::name().into());
    elsewhere::run("hipfile-command", SCRIPT, &[command.into(), soft_rocm.into(), ours, theirs])
}

/// Arguments: both archives, and the folders in them.
const SCRIPT: &str = r#"
tar -xzf "$1"
tar -xzf "$2"
"$3/hipfile" --rocm soft info --quiet
"$3/hipfile" --rocm soft info | grep -F "$PWD/$4/lib/libhipfile.so"
grep -q hipfile "$3/completions/hipfile.bash"
"#;
