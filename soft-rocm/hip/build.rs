//! Gives the library the name and the symbol-version nodes that programs linked against AMD's library record.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Version of libamdhip64 that programs ask for by default.
const DEFAULT_SOVERSION: &str = "7";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=versions.map");
    println!("cargo::rerun-if-env-changed=SOFT_ROCM_HIP_SOVERSION");

    let soversion = env::var("SOFT_ROCM_HIP_SOVERSION").unwrap_or_else(|_| DEFAULT_SOVERSION.to_owned());
    // Releases before 6 number hipMemoryType differently.
    if !["6", "7"].contains(&soversion.as_str()) {
        println!("cargo::error=SOFT_ROCM_HIP_SOVERSION={soversion}: expected 6 or 7");
        return;
    }
    println!("cargo::rustc-env=SOFT_ROCM_HIP_SOVERSION={soversion}");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libamdhip64.so.{soversion}");
    // Device memory and the fork handler stay until the process ends, so the library does too.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    println!("cargo::rustc-check-cfg=cfg(version_nodes)");
    match version_map() {
        Some(map) => {
            println!("cargo::rustc-cdylib-link-arg=-Wl,--version-script={}", map.display());
            println!("cargo::rustc-cfg=version_nodes");
        }
        None => println!(
            "cargo::warning=this linker can't combine version scripts (lld can): programs linked against AMD's \
             libamdhip64 will start with a loader warning"
        ),
    }
}

/// The version script, if the linker can combine it with the one rustc passes: lld can, GNU ld refuses.
fn version_map() -> Option<PathBuf> {
    let map = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR")?).join("versions.map");
    let out = PathBuf::from(env::var_os("OUT_DIR")?);
    links_with(&map, &out).then_some(map)
}

/// Whether a library links with this version script, by the compiler, flags and linker of this build.
fn links_with(map: &Path, out: &Path) -> bool {
    let source = out.join("probe.rs");
    if std::fs::write(&source, "#[unsafe(no_mangle)] pub extern \"C\" fn probe() {}\n").is_err() {
        return false;
    }
    let (Some(rustc), Some(target)) = (env::var_os("RUSTC"), env::var_os("TARGET")) else { return false };
    let mut probe = Command::new(rustc);
    probe.args(["--edition=2024", "--crate-type=cdylib", "--target"]).arg(target);
    if let Some(linker) = env::var_os("RUSTC_LINKER") {
        probe.arg("-C").arg(format!("linker={}", Path::new(&linker).display()));
    }
    if let Ok(flags) = env::var("CARGO_ENCODED_RUSTFLAGS") {
        probe.args(flags.split('\x1f').filter(|flag| !flag.is_empty()));
    }
    probe.arg("-C").arg(format!("link-arg=-Wl,--version-script={}", map.display()));
    probe.arg("-o").arg(out.join("probe.so")).arg(source);
    probe.stdout(Stdio::null()).stderr(Stdio::null());
    probe.status().is_ok_and(|status| status.success())
}
