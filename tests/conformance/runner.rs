//! Runs each case in a process of its own and counts rows.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitCode, Stdio};
use std::sync::{Arc, Mutex};
use std::{env, io};

use hipfile_tests::shim;
use libtest_mimic::{Arguments, Failed, Trial};

use crate::case::Case;
use crate::facts::Facts;

/// Says to a process which case it was started for.
const CASE: &str = "HIPFILE_CONFORMANCE_CASE";

/// How long a case may take, in seconds: SIGALRM ends its process.
const LIMIT: u32 = 120;

/// Variables that would change what a case sees.
const CLEARED: [&str; 8] = [
    "HIPFILE_ALLOW_COMPAT_MODE",
    "HIPFILE_FORCE_COMPAT_MODE",
    "HIPFILE_UNSUPPORTED_FILE_SYSTEMS",
    "HIPFILE_STATS_LEVEL",
    "HIPFILE_ASYNC_BUFFER_SIZE",
    "SOFT_ROCM_DEVICE_COUNT",
    "SOFT_ROCM_DEVICE_MEM",
    "SOFT_ROCM_STRICT",
];

/// For each area the number of rows that passed, that ran, and that were skipped. A row shown by two cases counts
/// twice.
type Rows = BTreeMap<String, (usize, usize, usize)>;

/// Runs the case this process was started for, if it was.
pub fn case_of_this_process(cases: &[Case]) -> Option<ExitCode> {
    let wanted = env::var(CASE).ok()?;
    let case = cases.iter().find(|case| case.name == wanted)?;
    // SAFETY: requires nothing; the default action of SIGALRM ends the process.
    unsafe { libc::alarm(LIMIT) };
    (case.run)();
    Some(ExitCode::SUCCESS)
}

/// The area of an id: `HF-READ` of `HF-READ-04`.
fn area(id: &str) -> String {
    id.rsplit_once('-').map_or(id, |(area, _)| area).to_owned()
}

/// Runs all cases that the arguments ask for.
pub fn run_all(cases: Vec<Case>) -> ExitCode {
    let arguments = Arguments::from_args();
    let facts = Facts::gather();
    let rows = Arc::new(Mutex::new(Rows::new()));
    let mut skipped: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut trials = Vec::new();
    for case in cases {
        let reason = case.needs.iter().find_map(|need| facts.lacks(*need));
        let preload = if case.shim { shim::environment() } else { Ok(Vec::new()) };
        let (preload, reason) = match preload {
            Ok(preload) => (preload, reason),
            Err(why) => (Vec::new(), reason.or(Some(why))),
        };
        if let Some(reason) = &reason {
            let mut rows = rows.lock().unwrap();
            case.ids().for_each(|id| rows.entry(area(id)).or_default().2 += 1);
            skipped.entry(reason.clone()).or_default().extend(case.ids().map(str::to_owned));
        }
        let (name, rows) = (case.name.clone(), Arc::clone(&rows));
        let trial = Trial::test(name, move || {
            let outcome = run_one(&case, &preload);
            let mut rows = rows.lock().unwrap();
            for id in case.ids() {
                let (passed, ran, _) = rows.entry(area(id)).or_default();
                *ran += 1;
                *passed += usize::from(outcome.is_ok());
            }
            outcome
        });
        trials.push(trial.with_ignored_flag(reason.is_some()));
    }
    let conclusion = libtest_mimic::run(&arguments, trials);
    if !arguments.list {
        report(&facts, &rows.lock().unwrap(), &skipped);
    }
    conclusion.exit_code()
}

fn run_one(case: &Case, preload: &[(&str, OsString)]) -> Result<(), Failed> {
    let mut command = Command::new(env::current_exe()?);
    for name in CLEARED {
        command.env_remove(name);
    }
    command.env(CASE, &case.name).env("RUST_BACKTRACE", "0").stdin(Stdio::null());
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

fn report(facts: &Facts, rows: &Rows, skipped: &BTreeMap<String, Vec<String>>) {
    println!("{facts}");
    for (area, (passed, ran, left_out)) in rows {
        let note = if *left_out == 0 { String::new() } else { format!(", {left_out} skipped") };
        println!("  {area:<9} {passed}/{ran} rows{note}");
    }
    for (reason, ids) in skipped {
        println!("  skipped, {reason}: {}", ids.join(" "));
    }
}
