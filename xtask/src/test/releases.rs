//! The safe interface on other libraries than the newest: earlier releases, AMD's defects, a HIP without file functions.

use std::path::PathBuf;
use std::process::Command;

use crate::cargo::{must, programs};
use crate::rocm::Rocm;
use crate::skipped::Skipped;
use crate::{Result, soft_rocm};

use super::build::Build;
use super::suite::Suite;

/// The parts of the system suite that try each kind of call and take seconds: files, registered memory, transfers,
/// streams, errors. The whole suite runs on the newest release.
const CHOSEN: &[&str] =
    &["files::", "registered::", "transfers::", "ranges::", "sizes::", "streams::", "errors::", "host::"];

/// What earlier releases lack, by the tests that need it; that it is refused by name is tested on the newest release.
const SINCE_0_5: &[&str] = &[
    "batch",
    "on_the_fast_path",
    "of_the_fast_path",
    // These read statistics.
    "zero_length_is_success_without_a_call",
    "the_current_device_stays_and_the_memory_s_is_used",
];

/// A library, and the tests that it has no answer for.
struct Library {
    name: &'static str,
    environment: &'static [(&'static str, &'static str)],
    prefix: fn() -> Result<PathBuf>,
    without: &'static [&'static str],
}

const LIBRARIES: &[Library] = &[
    Library {
        name: "hipFile 0.2 with AMD's defects",
        environment: &[("SOFT_ROCM_HIPFILE_VERSION", "0.2"), ("SOFT_ROCM_QUIRKS", "amd")],
        prefix: soft_rocm::ensure,
        without: SINCE_0_5,
    },
    Library {
        name: "hipFile 0.4, built without the functions of 0.5",
        environment: &[],
        prefix: soft_rocm::without_0_5,
        without: SINCE_0_5,
    },
    Library {
        name: "hipFile 0.5 with AMD's defects",
        environment: &[("SOFT_ROCM_QUIRKS", "amd")],
        prefix: soft_rocm::ensure,
        without: &[],
    },
    Library {
        name: "HIP without hipAmdFileRead and hipAmdFileWrite",
        environment: &[],
        prefix: soft_rocm::without_ais,
        without: &["on_the_fast_path", "of_the_fast_path"],
    },
];

/// Runs the chosen tests on each library. They are built once, for the newest.
pub fn check(rocm: &Rocm) -> Result<()> {
    if !rocm.is_software() {
        return Err(Skipped("other libraries are the software ROCm's".to_owned()).into());
    }
    let build = Build::of(rocm, Suite::System, None);
    let mut built = Vec::new();
    for selection in Suite::System.commands() {
        built.extend(programs(build.cargo_test(selection).arg("--no-run"))?);
    }
    for library in LIBRARIES {
        println!("\nxtask: {}", library.name);
        let rocm = Rocm::at(&(library.prefix)()?)?;
        for program in &built {
            must(&mut command(&rocm, program, library))
                .map_err(|error| format!("{}: {error}", library.name))?;
        }
    }
    Ok(())
}

fn command(rocm: &Rocm, program: &PathBuf, library: &Library) -> Command {
    let mut command = rocm.command(program);
    command.args(CHOSEN).args(library.without.iter().flat_map(|test| ["--skip", test]));
    command.envs(library.environment.iter().copied()).current_dir(crate::workspace::root());
    command
}
