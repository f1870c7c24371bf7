//! The software ROCm as an archive, for other people's CI.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::cargo::must;
use crate::rocm::Rocm;
use crate::{Result, elsewhere, workspace};

/// The name of the folder in the archive.
pub fn name() -> String {
    format!("soft-rocm-{}-{}", env!("CARGO_PKG_VERSION"), std::env::consts::ARCH)
}

/// Makes an archive with one folder, the prefix and the licences. It has no absolute paths in it, so it works wherever it
/// is unpacked; `env.sh` in it makes it the ROCm of a shell.
pub fn write(prefix: &Path, file: &Path) -> Result<()> {
    let dir = workspace::target_dir().join("soft-rocm-tarball");
    if dir.exists() {
        fs::remove_dir_all(&dir)?;
    }
    let folder = dir.join(name());
    fs::create_dir_all(&folder)?;
    must(Command::new("cp").arg("-a").arg(prefix.join(".")).arg(&folder))?;
    for license in ["LICENSE-APACHE", "LICENSE-MIT"] {
        fs::copy(workspace::root().join(license), folder.join(license))?;
    }
    must(Command::new("tar").arg("-czf").arg(file).arg("-C").arg(&dir).arg(name()))
}

/// Unpacks an archive elsewhere, and there builds and runs a C program as someone without a checkout would.
pub fn check(_: &Rocm) -> Result<()> {
    let file = workspace::target_dir().join("soft-rocm.tar.gz");
    write(&super::ensure()?, &file)?;
    let program = workspace::root().join("tests/clients/roundtrip.c");
    elsewhere::run("soft-rocm", SCRIPT, &[file.into(), name().into(), program.into()])
}

/// Arguments: the archive, the folder in it, a C program that takes the name of a new file.
const SCRIPT: &str = r#"
tar -xzf "$1"
SOFT_ROCM=$PWD/$2
. "$SOFT_ROCM/env.sh"
[ "$(hipconfig --path)" = "$SOFT_ROCM" ]
cc -o program "$3" $(pkg-config --cflags --libs hipfile)
./program file
"#;
