//! `cargo xtask soft-rocm`: the software ROCm as a prefix laid out as ROCm lays itself out.

pub mod tarball;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::cargo::{cargo, status};
use crate::test::{Sanitizer, target};
use crate::{Result, install, lock, needed, pkgconfig, workspace};

/// What build scripts ask for the prefix and for HIP's version. hip-runtime-sys takes the output untrimmed, hence no line
/// end. cubecl-hip-sys chooses its bindings by the third number of the version, in which AMD counts builds: that of 7.14.
const HIPCONFIG: &str = r#"#!/bin/sh
case "$1" in
-v | --version) printf %s 7.14.60850-soft ;;
*) printf %s "$(cd "${0%/*}/.." && pwd -P)" ;;
esac
"#;

/// What makes a prefix the ROCm of a shell, without a checkout.
const ENV: &str = include_str!("soft_rocm/env.sh");

/// HIP's compiler for kernels, which programs load beside HIP when they start. There are no kernels here: it is HIP under
/// another name, so loading works and looking up its functions does not.
const HIPRTC: &str = "libhiprtc.so";

/// The libhipfile release that the ordinary prefix stands in for.
pub const HIPFILE_VERSION: &str = "0.5.0";

/// A release that libhipfile can be built as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Release {
    /// Batches are accepted and never run; no hipFileGetStats*
    #[value(name = "0.2")]
    V0_2,
    /// The same, with errors as in 0.5
    #[value(name = "0.4")]
    V0_4,
    /// Everything
    #[value(name = "0.5")]
    V0_5,
}

impl Release {
    fn version(self) -> &'static str {
        match self {
            Self::V0_2 => "0.2.0",
            Self::V0_4 => "0.4.0",
            Self::V0_5 => HIPFILE_VERSION,
        }
    }

    /// What cargo is told to build it.
    fn features(self) -> &'static [&'static str] {
        match self {
            Self::V0_2 => &["--no-default-features"],
            Self::V0_4 => &["--no-default-features", "--features", "v0_4"],
            Self::V0_5 => &[],
        }
    }
}

/// Build the software ROCm and install it as a prefix
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Where to install it [default: target/soft-rocm]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Make an archive FILE (.tar.gz) of it too, for machines without a checkout
    #[arg(long, value_name = "FILE")]
    tarball: Option<PathBuf>,
    /// The number in libamdhip64's SONAME: 7 as in ROCm 7, 6 as in ROCm 6
    #[arg(long, value_name = "N", default_value_t = 7)]
    hip_soversion: u32,
    /// Leave out hipAmdFileRead and hipAmdFileWrite, as HIP before 7.2 does
    #[arg(long)]
    no_ais: bool,
    /// The newest libhipfile to stand in for: before 0.5 it lacks hipFileGetStatsL1 to L3
    #[arg(long, value_name = "RELEASE", value_enum, default_value_t = Release::V0_5)]
    hipfile_version: Release,
}

/// What to build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Variant {
    soversion: u32,
    ais: bool,
    release: Release,
    sanitizer: Option<Sanitizer>,
}

impl Variant {
    const ORDINARY: Self = Self { soversion: 7, ais: true, release: Release::V0_5, sanitizer: None };

    /// Where its build products are kept. Those that differ in features share a place, and what they have in common.
    fn name(self) -> String {
        let mut name = format!("so{}", self.soversion);
        if self.sanitizer.is_some() {
            name.push_str("-address");
        }
        name
    }
}

/// The command.
pub fn run(args: &Args) -> Result {
    let variant = Variant {
        soversion: args.hip_soversion,
        ais: !args.no_ais,
        release: args.hipfile_version,
        sanitizer: None,
    };
    let prefix = match &args.out {
        Some(dir) => std::path::absolute(dir)?,
        None if variant == Variant::ORDINARY => workspace::soft_prefix(),
        None => return Err("a variant needs a place of its own: give --out DIR".into()),
    };
    build(&prefix, variant)?;
    eprintln!("software ROCm in {}", prefix.display());
    if let Some(file) = &args.tarball {
        tarball::write(&prefix, file)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Builds and installs the ordinary prefix where that is not done yet, and returns its path.
pub fn ensure() -> Result<PathBuf> {
    let prefix = workspace::soft_prefix();
    build(&prefix, Variant::ORDINARY)?;
    Ok(prefix)
}

/// Builds and installs a prefix whose libhipfile is 0.4 and has no function of 0.5, and returns its path.
pub fn without_0_5() -> Result<PathBuf> {
    let prefix = workspace::root().join("target/soft-rocm-0.4");
    build(&prefix, Variant { release: Release::V0_4, ..Variant::ORDINARY })?;
    Ok(prefix)
}

/// Builds and installs a prefix whose HIP has no file functions, as before 7.2, and returns its path.
pub fn without_ais() -> Result<PathBuf> {
    let prefix = workspace::root().join("target/soft-rocm-noais");
    build(&prefix, Variant { ais: false, ..Variant::ORDINARY })?;
    Ok(prefix)
}

/// Builds and installs a prefix whose libraries a sanitizer watches, and returns its path. They load into programs alone
/// that are built for the same sanitizer.
pub fn sanitized(sanitizer: Sanitizer) -> Result<PathBuf> {
    let prefix = workspace::root().join("target/soft-rocm-address");
    build(&prefix, Variant { sanitizer: Some(sanitizer), ..Variant::ORDINARY })?;
    Ok(prefix)
}

fn build(prefix: &Path, variant: Variant) -> Result<()> {
    let build_dir = workspace::root().join("target/soft-rocm-build").join(variant.name());
    fs::create_dir_all(&build_dir)
        .map_err(|error| format!("cannot create {}: {error}", build_dir.display()))?;
    let lock_file = build_dir.join("lock");
    let _lock = lock::exclusive(&lock_file)
        .map_err(|error| format!("cannot lock {}: {error}", lock_file.display()))?;

    if !prefix.join(".stamp").exists() {
        eprintln!("building the software ROCm in {}", prefix.display());
    }
    let hip = format!("libamdhip64.so.{}", variant.soversion);
    let libraries = [
        ("soft-rocm-hip", hip.as_str(), "libamdhip64.so"),
        ("soft-rocm-hipfile", "libhipfile.so.0", "libhipfile.so"),
    ];
    let lib = prefix.join("lib");
    for (package, soname, name) in libraries {
        let built = build_library(&build_dir, package, variant)?;
        if needed::read(&built)?.soname.as_deref() != Some(soname) {
            return Err(format!("{} does not carry the SONAME {soname}", built.display()).into());
        }
        install::file(&lib.join(soname), &fs::read(built)?, 0o755)?;
        install::link(&lib.join(name), soname)?;
        remove_others(&lib, name, soname)?;
    }
    install::link(&lib.join(HIPRTC), &hip)?;
    install::tree(&workspace::root().join("soft-rocm/include"), &prefix.join("include"))?;
    let pc = pkgconfig::text("${pcfiledir}/../..", "lib", variant.release.version());
    install::file(&prefix.join("lib/pkgconfig/hipfile.pc"), pc.as_bytes(), 0o644)?;
    install::file(&prefix.join("bin/hipconfig"), HIPCONFIG.as_bytes(), 0o755)?;
    install::file(&prefix.join("env.sh"), ENV.as_bytes(), 0o644)?;
    install::stamp(&prefix.join(".stamp"))
}

/// Removes what an earlier call installed under another SONAME: a loader that prefers it would find it.
fn remove_others(lib: &Path, name: &str, soname: &str) -> Result<()> {
    let versions = format!("{name}.");
    for entry in fs::read_dir(lib)? {
        let entry = entry?;
        let file = entry.file_name();
        if file.to_string_lossy().starts_with(&versions) && file != *soname {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Builds one library apart from everything else: with the workspace's flags it would carry the workspace's rpath.
fn build_library(build_dir: &Path, package: &str, variant: Variant) -> Result<PathBuf> {
    let mut command = cargo();
    command.args([
        "build",
        "--quiet",
        "--release",
        "--lib",
        "--locked",
        "--package",
        package,
        "--target-dir",
    ]);
    command.arg(build_dir);
    // Present but empty: wins over .cargo/config.toml and RUSTFLAGS.
    command.env("CARGO_ENCODED_RUSTFLAGS", "");
    let mut products = build_dir.to_path_buf();
    if let Some(sanitizer) = variant.sanitizer {
        command.args(["--target", &target()]);
        sanitizer.apply(&mut command, "CARGO_ENCODED_RUSTFLAGS");
        products.push(target());
    }
    for wrapper in ["RUSTC_WRAPPER", "CARGO_TARGET_DIR", "CARGO_BUILD_TARGET"] {
        command.env_remove(wrapper);
    }
    if package == "soft-rocm-hip" {
        command.env("SOFT_ROCM_HIP_SOVERSION", variant.soversion.to_string());
        if !variant.ais {
            command.arg("--no-default-features");
        }
    } else {
        command.args(variant.release.features());
    }
    if !status(&mut command)?.success() {
        return Err(format!("building {package} failed").into());
    }
    Ok(products.join("release").join(format!("lib{}.so", package.replace('-', "_"))))
}
