//! The example programs, built and run.

use std::fs;
use std::path::{Path, PathBuf};

use crate::cargo::{programs, status};
use crate::rocm::Rocm;
use crate::{Result, faulty_copy, needed};

use super::outcome::Outcome;
use super::suite::FEATURES;

/// Runs every example program of the library packages, and the one with cubecl-hip-sys.
pub fn run(rocm: &Rocm) -> Result<Outcome> {
    eprintln!("\nxtask: the example programs");
    let built = build(rocm, &["--examples", "--features", FEATURES, "-p", "hip-alloc", "-p", "hipfile"]);
    let mut programs = match built {
        Ok(programs) => programs,
        Err(error) => {
            eprintln!("error: {error}");
            return Ok(Outcome::failure());
        }
    };
    let mut outcome = Outcome::default();
    match build(rocm, &["-p", "cubecl-example"]) {
        Ok(program) => programs.extend(program),
        Err(error) if rocm.is_software() => outcome.note("cubecl_pool", Err(error)),
        Err(_) => {
            println!("example cubecl_pool ... ignored, cubecl-hip-sys may have no bindings for this HIP");
            outcome.ignored += 1;
        }
    }
    let dir = rocm.target_dir().join("examples");
    fs::create_dir_all(&dir).map_err(|error| format!("cannot create {}: {error}", dir.display()))?;
    for program in &programs {
        let name = program.file_stem().unwrap_or_default().to_string_lossy();
        outcome.note(&name, needed::check(program, rocm).and_then(|()| example(program, &dir, rocm)));
        if name == "copy" {
            outcome.note("copy under scripted faults", faulty_copy::run(program, &dir, rocm));
        }
    }
    Ok(outcome)
}

fn build(rocm: &Rocm, selection: &[&str]) -> Result<Vec<PathBuf>> {
    programs(rocm.cargo().args(["build", "--locked"]).args(selection))
}

/// Runs an example in `dir`. Each takes a file; `copy` also takes where the copy goes.
pub fn example(program: &Path, dir: &Path, rocm: &Rocm) -> Result<()> {
    // Several blocks of those examples that read in blocks, and no whole number of anything.
    fs::write(dir.join("source"), (0..2_500_003_u32).map(|i| (i % 251) as u8).collect::<Vec<_>>())?;
    let mut command = rocm.command(program);
    command.current_dir(dir).arg("source");
    if program.file_stem().is_some_and(|name| name == "copy") {
        command.arg("copy-of-source");
    }
    let status = status(&mut command)?;
    if status.success() { Ok(()) } else { Err(format!("{} ended with {status}", program.display()).into()) }
}
