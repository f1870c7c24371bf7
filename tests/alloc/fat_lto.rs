//! SND-04: another crate's declaration of a HIP function does not reach hip-alloc's calls, even under fat LTO.
//!
//! LLVM keeps one declaration a symbol and module. Where one crate declares a function as returning an enum, and all code
//! becomes one module, the enum's range holds for calls through another crate's integer declaration too: a result outside
//! of it compares unequal to itself (seen with Rust 1.95). hip-alloc calls through pointers that no declaration can reach.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

use hipfile_tests::compiler::must_run;
use hipfile_tests::rocm;

const APP: &str = r#"
[package]
name = "app"
edition = "2024"

[[bin]]
name = "app"
path = "app.rs"

[dependencies]
hip-runtime-sys = "0.1.2"
probe = { path = "probe" }

[profile.release]
codegen-units = 1
lto = "fat"

[workspace]
"#;

const PROBE: &str = r#"
[package]
name = "probe"
edition = "2024"

[lib]
path = "lib.rs"

[features]
default = ["link"]
link = []

[dependencies]
hip-runtime-sys = "0.1.2"
rocm-loader = { path = "WORKSPACE/rocm-loader" }
"#;

#[test]
fn an_unknown_code_survives_a_neighbour_with_an_enum() {
    let workspace = rocm::workspace();
    let workspace = workspace.to_str().expect("a path in UTF-8");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fat-lto");
    fs::create_dir_all(folder.join("probe")).unwrap();
    let hip_alloc = format!("{workspace}/hip-alloc");
    for (name, text) in [
        ("Cargo.toml", APP),
        ("app.rs", include_str!("fat_lto/app.rs")),
        ("probe/Cargo.toml", &PROBE.replace("WORKSPACE", workspace)),
        ("probe/lib.rs", &include_str!("fat_lto/probe.rs").replace("HIP_ALLOC", &hip_alloc)),
        ("stub.rs", include_str!("fat_lto/stub.rs")),
    ] {
        fs::write(folder.join(name), text).unwrap();
    }
    // The versions that this workspace has, so nothing is fetched.
    fs::copy(format!("{workspace}/Cargo.lock"), folder.join("Cargo.lock")).unwrap();

    let stub = folder.join("libstub.so");
    let mut compile = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    compile.args(["--edition=2024", "--crate-type=cdylib", "-Anon_snake_case", "-o"]);
    must_run(compile.arg(&stub).arg(folder.join("stub.rs")));

    let mut build = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    build.args(["build", "--quiet", "--release", "--offline"]).current_dir(&folder);
    must_run(build.env("CARGO_TARGET_DIR", folder.join("target")));

    let mut program = Command::new(folder.join("target/release/app"));
    program.env("LD_LIBRARY_PATH", rocm::lib_dir()).env("LD_PRELOAD", &stub);
    let output = must_run(&mut program);
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "enum: hipSuccess\ncode: 2000, is 2000: true, above 1500: true\n"
    );
}
