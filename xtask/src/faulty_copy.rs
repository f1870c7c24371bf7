//! The example `copy` under scripted faults: right data, or an error that says what failed and no file half written.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::process::Output;

use crate::Result;
use crate::rocm::Rocm;

/// What copying under some faults has to come to.
struct Case {
    faults: &'static str,
    source: &'static str,
    outcome: Outcome,
}

enum Outcome {
    /// The copy is right.
    Copied,
    /// One line on standard error that has all these parts.
    Fails(&'static [&'static str]),
}

use Outcome::{Copied, Fails};

/// A file that takes several of the copy's chunks of 64 MiB.
const LARGE: &str = "large-source";
const SMALL: &str = "small-source";
const COPY: &str = "the-copy";

const fn case(faults: &'static str, source: &'static str, outcome: Outcome) -> Case {
    Case { faults, source, outcome }
}

const CASES: [Case; 14] = [
    case("pread:errno=EIO@3", LARGE, Fails(&["read large-source at offset 134217728", "EIO"])),
    case("pwrite:errno=ENOSPC@2", LARGE, Fails(&["the-copy: write", "at offset 67108864", "ENOSPC"])),
    case("hipMalloc:hip=2@1", SMALL, Fails(&["hipMalloc of", "hipErrorOutOfMemory (2)"])),
    case("pread:short=4096", SMALL, Copied),
    case("hipAmdFileRead:errno=ENODEV", SMALL, Copied),
    case(
        "hipAmdFileRead:errno=EIO,hipFileRead:errno=EIO",
        SMALL,
        Fails(&["read small-source at offset 0", "EIO"]),
    ),
    case("hipAmdFileRead:errno=EINTR@1", SMALL, Copied),
    case("pread:errno=EINTR@p=0.5,seed=1;pwrite:errno=EINTR@p=0.5", SMALL, Copied),
    case("pwrite:short=4096", SMALL, Copied),
    case(
        "hipMemcpy:hip=2;hipAmdFileRead:errno=ENODEV",
        SMALL,
        Fails(&["read small-source", "hipErrorOutOfMemory"]),
    ),
    case("hipFileHandleRegister:errno=EMFILE@2", SMALL, Fails(&["the-copy: register", "5030"])),
    case("hipFileBufRegister:hipfile=5023", SMALL, Fails(&["register", "5023"])),
    case("hipFileDriverOpen:delay=1ms:hipfile=5001", SMALL, Fails(&["open driver", "5001"])),
    case("hipMaloc:hip=2", SMALL, Fails(&["did you mean hipMalloc?"])),
];

/// Runs the program once for each case, in a folder of its own.
pub fn run(copy: &Path, dir: &Path, rocm: &Rocm) -> Result<()> {
    if !rocm.is_software() {
        println!("scripted faults: skipped, they are the software ROCm's");
        return Ok(());
    }
    let dir = dir.join("faults");
    // What an interrupted run left would look like what this one leaves.
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).map_err(|error| format!("cannot create {}: {error}", dir.display()))?;
    fs::write(dir.join(SMALL), (0..1_000_007_u32).map(|i| (i % 251) as u8).collect::<Vec<_>>())?;
    let mut large = File::create(dir.join(LARGE))?;
    large.seek(SeekFrom::Start((128 << 20) + 4095))?;
    large.write_all(b"end")?;

    let mut wrong = Vec::new();
    for case in &CASES {
        for before in [None, Some("what was there before")] {
            if let Err(error) = run_case(case, before, copy, &dir, rocm) {
                wrong.push(format!("SOFT_ROCM_FAULTS={}: {error}", case.faults));
            }
        }
    }
    fs::remove_dir_all(&dir)?;
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

fn run_case(case: &Case, before: Option<&str>, copy: &Path, dir: &Path, rocm: &Rocm) -> Result<()> {
    let destination = dir.join(COPY);
    match before {
        None if !destination.exists() => {}
        None => fs::remove_file(&destination)?,
        Some(text) => fs::write(&destination, text)?,
    }
    let mut expected = lengths(dir)?;
    let mut command = rocm.command(copy);
    let output = command
        .current_dir(dir)
        .args([case.source, COPY])
        .env("SOFT_ROCM_FAULTS", case.faults)
        .output()
        .map_err(|error| format!("cannot start {}: {error}", copy.display()))?;
    check(&case.outcome, &output)?;
    if let Copied = case.outcome {
        expected.insert(COPY.into(), fs::metadata(dir.join(case.source))?.len());
        if fs::read(dir.join(case.source))? != fs::read(&destination)? {
            return Err("the copy differs".into());
        }
    }
    let found = lengths(dir)?;
    if found == expected { Ok(()) } else { Err(format!("left {found:?} instead of {expected:?}").into()) }
}

fn check(outcome: &Outcome, output: &Output) -> Result<()> {
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    let said = format!("{}\n{stdout}{stderr}", output.status);
    let right = match outcome {
        Copied => output.status.success() && stdout.trim_end().ends_with("verified") && stderr.is_empty(),
        Fails(parts) => {
            let reported = stderr.lines().any(|line| line.starts_with("copy: "));
            output.status.code() == Some(1)
                && stdout.is_empty()
                && reported
                && parts.iter().all(|part| stderr.contains(part))
        }
    };
    if right { Ok(()) } else { Err(said.into()) }
}

/// The files of a folder and their lengths.
fn lengths(dir: &Path) -> Result<BTreeMap<std::ffi::OsString, u64>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        found.insert(entry.file_name(), entry.metadata()?.len());
    }
    Ok(found)
}
