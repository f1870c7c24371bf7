//! Runs each case in a process of its own.

use std::ffi::OsString;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitCode, Stdio};
use std::sync::{Arc, Mutex};
use std::{env, io};

use hipfile_tests::shim;
use libtest_mimic::{Arguments, Failed, Trial};

use crate::case::Case;
use crate::facts::{Facts, Lack, VERSION};
use crate::report::Report;

/// Says to a process which case it was started for.
const CASE: &str = "HIPFILE_CONFORMANCE_CASE";

/// How long a case may take, in seconds: SIGALRM ends its process.
const LIMIT: u32 = 120;

/// Variables that would change what a case sees. The one that chooses the release is left as it is.
const CLEARED: [&str; 12] = [
    "HIPFILE_ALLOW_COMPAT_MODE",
    "HIPFILE_FORCE_COMPAT_MODE",
    "HIPFILE_UNSUPPORTED_FILE_SYSTEMS",
    "HIPFILE_STATS_LEVEL",
    "HIPFILE_ASYNC_BUFFER_SIZE",
    "SOFT_ROCM_DEVICE_COUNT",
    "SOFT_ROCM_DEVICE_MEM",
    "SOFT_ROCM_STRICT",
    "SOFT_ROCM_STREAMS",
    "SOFT_ROCM_QUIRKS",
    "SOFT_ROCM_EXTENSIONS",
    "SOFT_ROCM_FAULTS",
];

/// Runs the case this process was started for, if it was.
pub fn case_of_this_process(cases: &[Case]) -> Option<ExitCode> {
    let wanted = env::var(CASE).ok()?;
    let case = cases.iter().find(|case| case.name == wanted)?;
    // SAFETY: requires nothing; the default action of SIGALRM ends the process.
    unsafe { libc::alarm(LIMIT) };
    (case.run)();
    Some(ExitCode::SUCCESS)
}

/// Runs all cases that the arguments ask for.
pub fn run_all(cases: Vec<Case>) -> ExitCode {
    let arguments = Arguments::from_args();
    let facts = Facts::gather();
    let report = Arc::new(Mutex::new(Report::new(&cases)));
    let mut trials = Vec::new();
    for case in cases {
        let preload = if case.shim { shim::environment() } else { Ok(Vec::new()) };
        let (preload, lack) = match preload {
            Ok(preload) => (preload, facts.lack(&case)),
            Err(why) => (Vec::new(), facts.lack(&case).or(Some(Lack::Thing(why)))),
        };
        let release = facts.other_release(&case);
        let left_out = lack.is_some();
        if let Some(lack) = lack {
            report.lock().unwrap().skipped(&case, lack);
        }
        let (name, report) = (case.name.clone(), Arc::clone(&report));
        let trial = Trial::test(name, move || {
            let outcome = run_one(&case, &preload, release);
            report.lock().unwrap().ran(&case, outcome.is_ok());
            outcome
        });
        trials.push(trial.with_ignored_flag(left_out));
    }
    let conclusion = libtest_mimic::run(&arguments, trials);
    let report = report.lock().unwrap();
    if !arguments.list {
        println!("{facts}\n{report}");
    }
    if report.is_complete() { conclusion.exit_code() } else { ExitCode::FAILURE }
}

fn run_one(case: &Case, preload: &[(&str, OsString)], release: Option<&str>) -> Result<(), Failed> {
    let mut command = Command::new(env::current_exe()?);
    for name in CLEARED {
        command.env_remove(name);
    }
    command.env(CASE, &case.name).env("RUST_BACKTRACE", "0").stdin(Stdio::null());
    command.envs(release.map(|release| (VERSION, release)));
    command.envs(preload.iter().map(|(name, value)| (name, value)));
    command.envs(case.environment.iter().map(|(name, value)| (name, value)));
    // SAFETY: requires a closure that is async-signal-safe; holds because it makes one system call.
    unsafe { command.pre_exec(die_with_parent) };
    let output = command.output()?;
    if output.status.code() == Some(case.status) {
        return Ok(());
    }
    let ended = match output.status.signal() {
        Some(libc::SIGALRM) => format!("did not end within {LIMIT} s"),
        _ => output.status.to_string(),
    };
    let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    Err(format!("{ended}\n{}", said.concat()).into())
}

/// A case does not outlive a runner that was stopped.
fn die_with_parent() -> io::Result<()> {
    // SAFETY: requires nothing.
    match unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
