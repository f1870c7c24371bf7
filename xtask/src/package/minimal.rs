//! The oldest dependencies that the manifests allow.

use std::fs;

use super::{archive, outside::Outside};
use crate::Result;
use crate::cargo::{cargo, must};
use crate::rocm::Rocm;
use crate::skipped::Skipped;
use crate::test::FEATURES;

/// Builds the packages with the oldest versions of everything that their manifests accept: what they use and an old
/// version lacks shows here and not at someone whose lock file holds that version. Skipped where the registry cannot
/// be reached.
pub fn check(rocm: &Rocm) -> Result<()> {
    let archives = archive::pack(rocm)?;
    let outside = Outside::new(&archives, false)?;
    fs::remove_file(outside.lock_file())?;
    let mut resolve = outside.inside(cargo());
    resolve.env("RUSTC_BOOTSTRAP", "1").args(["generate-lockfile", "-Zminimal-versions"]);
    let output = resolve.output()?;
    let message = String::from_utf8_lossy(&output.stderr);
    if UNREACHABLE.iter().any(|text| message.contains(text)) {
        return Err(Skipped("the registry cannot be reached".to_owned()).into());
    }
    if !output.status.success() {
        return Err(format!("no oldest versions: {}", message.trim()).into());
    }
    must(outside.inside(cargo()).args([
        "tree",
        "--locked",
        "--edges",
        "normal,build",
        "--features",
        FEATURES,
    ]))?;
    must(outside.inside(rocm.cargo()).args(["check", "--quiet", "--locked", "--features", FEATURES]))
}

/// What cargo says when it has no connection.
const UNREACHABLE: [&str; 3] =
    ["Could not resolve host", "Could not connect", "attempting to make an HTTP request"];
