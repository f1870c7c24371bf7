//! `cargo xtask package`: the published packages as others get them.

mod archive;
mod minimal;
mod outside;
mod program;

use std::path::PathBuf;
use std::process::ExitCode;

use crate::Result;
use crate::rocm::{self, Rocm};

pub use minimal::check as minimal_versions;

/// The published packages, each after those that it depends on.
pub const PUBLISHED: [&str; 4] = ["rocm-loader", "hipfile-sys", "hip-alloc", "hipfile"];

/// Pack the published packages; build and run their examples from the archives in an empty folder, linked and loaded
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Instead, build them with the oldest dependencies that their manifests accept (needs the registry)
    #[arg(long)]
    minimal_versions: bool,
}

/// The command.
pub fn run(args: &Args, choice: &rocm::Choice) -> Result {
    let rocm = Rocm::choose(choice)?;
    if args.minimal_versions { minimal_versions(&rocm) } else { check(&rocm) }?;
    Ok(ExitCode::SUCCESS)
}

/// Packs, looks into the archives, and uses them as a stranger would: linked with this ROCm, and built without any and
/// run with it.
pub fn check(rocm: &Rocm) -> Result<()> {
    let archives = archive::pack(rocm)?;
    let outside = outside::Outside::new(&archives, true)?;
    for archive in &archives {
        archive.check(&outside.folder(archive))?;
        println!("{:<40} {:>7} bytes", archive.file_name(), archive.size()?);
    }
    outside.documentation()?;
    for way in [outside::Way::Linked, outside::Way::Loaded] {
        outside.build_and_run(way, rocm)?;
    }
    Ok(())
}

/// The archives that the last [`check`] packed and found to be good.
pub fn archives() -> Result<Vec<PathBuf>> {
    archive::packed().map(|archives| archives.into_iter().map(|archive| archive.path).collect())
}
