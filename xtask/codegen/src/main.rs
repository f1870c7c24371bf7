//! Writes the Rust declarations that are generated from the C headers under `soft-rocm/include`, which are the
//! single source of both. `--check` writes nothing and fails if a file differs from what it would be.

use std::path::Path;
use std::process::ExitCode;

mod docs;
mod generate;
mod libclang;
mod target;
#[path = "../../../hipfile-sys/build/translation.rs"]
mod translation;

use target::{TARGETS, first_difference};

fn main() -> ExitCode {
    let check = match std::env::args().skip(1).collect::<Vec<_>>().as_slice() {
        [] => false,
        [flag] if flag == "--check" => true,
        _ => {
            eprintln!("usage: codegen [--check]");
            return ExitCode::from(2);
        }
    };
    match run(check) {
        Ok(code) => code,
        Err(message) => {
            eprintln!("codegen: {message}");
            ExitCode::FAILURE
        }
    }
}

/// Generates every file, then writes or compares it.
fn run(check: bool) -> Result<ExitCode, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let root = root.canonicalize().map_err(|error| format!("{}: {error}", root.display()))?;
    libclang::require()?;

    let mut stale = false;
    for target in TARGETS {
        let path = root.join(target.output);
        let wanted = generate::bindings(&root, target)?;
        let found = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(format!("{}: {error}", path.display())),
        };
        match first_difference(&found, &wanted) {
            None => println!("{}: up to date", target.output),
            Some(difference) if check => {
                stale = true;
                println!("{}:{difference}", target.output);
            }
            Some(_) => {
                std::fs::write(&path, wanted).map_err(|error| format!("{}: {error}", path.display()))?;
                println!("{}: written", target.output);
            }
        }
    }
    if stale {
        println!("generated files differ from the headers: run `cargo xtask codegen`");
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}
