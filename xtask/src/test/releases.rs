//! The safe interface on other libraries than the newest: earlier releases, AMD's defects, a HIP without file functions.

use std::path::PathBuf;

use crate::cargo::{must, programs};
use crate::rocm::Rocm;
use crate::skipped::Skipped;
use crate::{Result, soft_rocm, workspace};

use super::build::Build;
use super::suite::Suite;

/// The parts of the system suite that try each kind of call and take seconds: files, registered memory, transfers,
/// streams, batches, errors. All of it runs on the newest release; by hand it runs on each of these, as any suite does:
/// `SOFT_ROCM_HIPFILE_VERSION=0.2 cargo xtask test --suite system`.
const CHOSEN: &[&str] = &[
    "files::",
    "registered::",
    "transfers::",
    "ranges::",
    "sizes::",
    "streams::",
    "batch",
    "driver::",
    "releases::",
    "errors::",
    "host::",
];

/// The suites that run here, and which of their tests; none stands for all.
const SUITES: &[(Suite, &[&str])] = &[(Suite::System, CHOSEN), (Suite::Soundness, &[])];

struct Library {
    name: &'static str,
    environment: &'static [(&'static str, &'static str)],
    prefix: fn() -> Result<PathBuf>,
}

const LIBRARIES: &[Library] = &[
    Library {
        name: "hipFile 0.2 with AMD's defects",
        environment: &[("SOFT_ROCM_HIPFILE_VERSION", "0.2"), ("SOFT_ROCM_QUIRKS", "amd")],
        prefix: soft_rocm::ensure,
    },
    Library {
        name: "hipFile 0.4, built without the functions of 0.5, with AMD's defects",
        environment: &[("SOFT_ROCM_QUIRKS", "amd")],
        prefix: soft_rocm::without_0_5,
    },
    Library {
        name: "hipFile 0.5 with AMD's defects",
        environment: &[("SOFT_ROCM_QUIRKS", "amd")],
        prefix: soft_rocm::ensure,
    },
    Library {
        name: "HIP without hipAmdFileRead and hipAmdFileWrite",
        environment: &[],
        prefix: soft_rocm::without_ais,
    },
];

/// Runs the chosen tests on each library. They are built once, for the newest.
pub fn check(rocm: &Rocm) -> Result<()> {
    if !rocm.is_software() {
        return Err(Skipped("other libraries are the software ROCm's".to_owned()).into());
    }
    let mut built = Vec::new();
    for (suite, tests) in SUITES {
        let build = Build::of(rocm, *suite, None)?;
        for selection in suite.commands() {
            let found = programs(build.cargo_test(selection)?.arg("--no-run"))?;
            built.extend(found.into_iter().map(|program| (program, *tests)));
        }
    }
    for library in LIBRARIES {
        println!("\nxtask: {}", library.name);
        let rocm = Rocm::at(&(library.prefix)()?)?;
        for (program, tests) in &built {
            let mut command = rocm.command(program);
            command.args(*tests).envs(library.environment.iter().copied());
            must(command.current_dir(workspace::root()))
                .map_err(|error| format!("{}: {error}", library.name))?;
        }
    }
    Ok(())
}
