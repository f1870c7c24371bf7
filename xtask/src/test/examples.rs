//! The example programs, built and run.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

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

/// Tensors in the file that examples are given: name, offset and length.
const TENSORS: [(&str, usize, usize); 3] =
    [("embedding", 1003, 1_500_000), ("bias", 1_600_001, 3), ("head", 1_600_004, 899_999)];

/// Runs an example in `dir`. Each takes a file; `copy` also takes where the copy goes, and `tensors` an index.
pub fn example(program: &Path, dir: &Path, rocm: &Rocm) -> Result<()> {
    // Several blocks of those examples that read in blocks, and no whole number of anything.
    let source: Vec<_> = (0..2_500_003_u32).map(|i| (i % 251) as u8).collect();
    fs::write(dir.join("source"), &source)?;
    let mut command = rocm.command(program);
    command.current_dir(dir).arg("source");
    match program.file_stem().and_then(OsStr::to_str) {
        Some("copy") => {
            command.arg("copy-of-source");
        }
        Some("tensors") => return tensors(command.arg("index"), dir, &source),
        _ => {}
    }
    let status = status(&mut command)?;
    if status.success() { Ok(()) } else { Err(format!("{} ended with {status}", program.display()).into()) }
}

/// Runs the loader of tensors, which must find the bytes that are theirs, and then on an index that asks for too much.
fn tensors(command: &mut Command, dir: &Path, source: &[u8]) -> Result<()> {
    let mut index = String::new();
    let mut expected = String::new();
    for (name, offset, len) in TENSORS {
        writeln!(index, "{name} {offset} {len}")?;
        let start = source.get(offset..offset + len.min(4)).ok_or("a tensor is not in the file")?;
        writeln!(expected, "{name}: {len} bytes begin with {start:?}")?;
    }
    fs::write(dir.join("index"), &index)?;
    let output = command.output()?;
    let printed = String::from_utf8_lossy(&output.stdout);
    // Without the addresses and the line about times.
    let found: String = printed
        .lines()
        .filter_map(|line| line.split_once(" at "))
        .filter_map(|(what, at)| Some(format!("{what} {}\n", at.split_once(' ')?.1)))
        .collect();
    if !output.status.success() || found != expected {
        return Err(format!("it was to print\n{expected}and printed\n{printed}").into());
    }
    fs::write(dir.join("index"), index + "more 2500000 5\n")?;
    let output = command.output()?;
    let told = String::from_utf8_lossy(&output.stderr);
    let told_all = ["stopped at more: 2400005 of 2400007 bytes are there", "3 done: the file ended early"]
        .map(|text| told.contains(text));
    if output.status.success() || told_all != [true; 2] {
        return Err(format!("of a file that ends early it said\n{told}").into());
    }
    Ok(())
}
