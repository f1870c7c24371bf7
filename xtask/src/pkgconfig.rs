//! `cargo xtask pkgconfig PREFIX`: a pkg-config file for an installed ROCm, which ships none.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::rocm::Rocm;
use crate::{Result, install};

/// Write hipfile.pc for an installed ROCm, which ships none
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The ROCm, such as /opt/rocm
    prefix: PathBuf,
    /// Where the file goes [default: lib/pkgconfig/hipfile.pc of the prefix]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// The command.
pub fn run(args: &Args) -> Result {
    let rocm = Rocm::at(&args.prefix)?;
    let version = rocm.hipfile_version().ok_or_else(|| {
        format!("no HIPFILE_VERSION_MAJOR, _MINOR and _PATCH in {}", rocm.header().display())
    })?;
    let inside = rocm.lib().join("pkgconfig/hipfile.pc");
    let file = args.out.as_ref().map_or_else(|| Ok(inside.clone()), std::path::absolute)?;
    // A file in its own prefix stays right when the prefix moves.
    let prefix =
        if file == inside { "${pcfiledir}/../..".to_owned() } else { rocm.prefix().display().to_string() };
    let libdir = rocm.lib().file_name().map_or_else(|| "lib".into(), |name| name.to_string_lossy());
    install::file(&file, text(&prefix, &libdir, &version).as_bytes(), 0o644)?;
    println!("{}", file.display());
    if let Some(dir) = file.parent() {
        eprintln!("xtask: use it with PKG_CONFIG_PATH={}", Path::new(dir).display());
    }
    Ok(ExitCode::SUCCESS)
}

/// The text of `hipfile.pc` for a prefix, which may be an expression of pkg-config such as `${pcfiledir}/../..`.
pub fn text(prefix: &str, libdir: &str, version: &str) -> String {
    format!(
        "prefix={prefix}
libdir=${{prefix}}/{libdir}
includedir=${{prefix}}/include

Name: hipfile
Description: GPU-direct file I/O for AMD GPUs
Version: {version}
Libs: -L${{libdir}} -lhipfile -lamdhip64
Cflags: -I${{includedir}} -D__HIP_PLATFORM_AMD__
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{soft_rocm, workspace};

    #[test]
    fn the_committed_file_is_the_same_for_another_place() {
        let committed =
            std::fs::read_to_string(workspace::root().join("soft-rocm/pkgconfig/hipfile.pc")).unwrap();
        assert_eq!(committed, text("${pcfiledir}/..", "lib", soft_rocm::HIPFILE_VERSION));
    }
}
