//! Finds libhipfile for feature `link` and its header for feature `bindgen`; does nothing without either, or on docs.rs.
//!
//! Steps, first success wins: the variables `HIPFILE_LIB_DIR` and `HIPFILE_INCLUDE_DIR` ([`explicit`]), pkg-config
//! ([`pkg_config`]), ROCm's usual places and the system's directories ([`prefixes`]).

use std::path::Path;
use std::process::ExitCode;

mod discover;
mod env;
mod explicit;
mod found;
#[cfg(feature = "bindgen")]
mod generate;
mod header;
mod pkg_config;
mod prefixes;
mod report;
#[cfg(feature = "bindgen")]
mod translation;

use env::Env;
use found::Found;

fn main() -> ExitCode {
    println!("cargo::rerun-if-changed=build/main.rs");
    println!("cargo::rustc-check-cfg=cfg(hipfile_generated)");
    let process = |name: &str| std::env::var_os(name);
    let env = Env::new(&process);
    if let Err(lines) = run(&env) {
        for line in lines {
            println!("cargo::error={line}");
        }
    }
    for name in env.names_read() {
        println!("cargo::rerun-if-env-changed={name}");
    }
    // Cargo stops the build for the errors printed above.
    ExitCode::SUCCESS
}

fn run(env: &Env<'_>) -> Result<(), Vec<String>> {
    let cargo = |name: &str| std::env::var(name).unwrap_or_default();
    let (os, bits) = (cargo("CARGO_CFG_TARGET_OS"), cargo("CARGO_CFG_TARGET_POINTER_WIDTH"));
    if os != "linux" || bits != "64" {
        return Err(vec![format!("libhipfile exists for 64-bit Linux only, not for {}", env.target())]);
    }
    let (link, bindgen) = (cfg!(feature = "link"), cfg!(feature = "bindgen"));
    if !(link || bindgen) || env.plain("DOCS_RS").is_some() {
        return Ok(());
    }
    let found = discover::discover(env, Path::new("/"), &pkg_config::probe)?;
    for warning in &found.warnings {
        println!("cargo::warning={warning}");
    }
    announce(&found);
    if link {
        if let Some(folder) = &found.lib_dir {
            println!("cargo::rustc-link-search=native={}", folder.display());
        }
        println!("cargo::rustc-link-lib=hipfile");
    }
    #[cfg(feature = "bindgen")]
    {
        generate::generate(&found, Path::new(&cargo("OUT_DIR")))?;
        println!("cargo::rustc-cfg=hipfile_generated");
    }
    Ok(())
}

/// Tells dependents' build scripts, as `DEP_HIPFILE_INCLUDE`, `DEP_HIPFILE_LIB_DIR` and `DEP_HIPFILE_VERSION`.
fn announce(found: &Found) {
    println!("cargo::rerun-if-changed={}", found.header().display());
    println!("cargo::metadata=include={}", found.include.display());
    println!("cargo::metadata=version={}", found.version);
    if let Some(folder) = &found.lib_dir {
        println!("cargo::metadata=lib_dir={}", folder.display());
    }
}
