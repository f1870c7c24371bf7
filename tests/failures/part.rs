//! Parts of the matrix, each in a process of its own.

use std::env;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitCode};

use hipfile_tests::{isolate, soft};
use libtest_mimic::Failed;

use crate::entry::Entry;
use crate::script::{Calls, Code, Point};
use crate::stage::Stage;
use crate::{direct, files, matrix, memory, on_streams, registrations, settings, streams, transfers};

const VARIABLE: &str = "HIPFILE_TESTS_PART";

/// Names an entry point and a plan for a process that is to abort.
const ABORT: &str = "HIPFILE_TESTS_ABORT";
const SEPARATOR: char = '|';

/// Two devices, and a libhipfile that has everything.
const ENVIRONMENT: [(&str, &str); 3] = [
    ("SOFT_ROCM_DEVICE_COUNT", "2"),
    ("SOFT_ROCM_EXTENSIONS", "properties,parameters,host-memory"),
    isolate::LEAKS,
];

/// Some entry points.
#[derive(Clone, Copy)]
pub struct Part {
    group: &'static str,
    entries: fn() -> Vec<Entry>,
    /// What else its process is started with.
    variables: &'static [(&'static str, &'static str)],
}

/// All parts.
pub fn all() -> [Part; 8] {
    let part = |group, entries| Part { group, entries, variables: &[] };
    [
        part("memory", memory::entries),
        part("streams", streams::entries),
        part("settings", settings::entries),
        part("files", files::entries),
        part("registrations", registrations::entries),
        part("transfers", transfers::entries),
        part("on streams", on_streams::entries),
        Part { variables: &[("HIPFILE_ALLOW_COMPAT_MODE", "false")], ..part("direct", direct::entries) },
    ]
}

/// The part that this process was started for.
pub fn of_this_process() -> Option<Part> {
    let name = env::var(VARIABLE).ok()?;
    all().into_iter().find(|part| part.group == name)
}

impl Part {
    pub fn name(self) -> &'static str {
        self.group
    }

    pub fn entries(self) -> Vec<Entry> {
        (self.entries)()
    }

    /// Runs it in another process, and prints its part of the matrix.
    pub fn spawn(self) -> Result<(), Failed> {
        if !soft::is_here() {
            println!("{} skipped: scripted faults are the software ROCm's", self.group);
            return Ok(());
        }
        let mut command = Command::new(env::current_exe()?);
        command.env(VARIABLE, self.group).envs(ENVIRONMENT).envs(self.variables.iter().copied());
        let output = command.output()?;
        println!("{}", String::from_utf8_lossy(&output.stdout));
        match output.status.success() {
            true => Ok(()),
            false => Err(format!("{}\n{}", output.status, String::from_utf8_lossy(&output.stderr)).into()),
        }
    }

    pub fn run(self) -> ExitCode {
        let entries = self.entries();
        let Some(abort) = env::var(ABORT).ok() else { return matrix::run(&entries) };
        let (name, plan) = abort.split_once(SEPARATOR).expect("a name and a plan");
        let entry = entries.iter().find(|entry| entry.name == name).expect("a known name");
        let (point, code, calls) = Point::by_plan(plan).expect("a known plan");
        let folder = tempfile::tempdir().expect("a folder");
        let mut stage = Stage::new(folder.path());
        (entry.prepare)(&mut stage);
        point.begin(code, calls);
        let outcome = (entry.call)(&mut stage);
        println!("{name} under {plan} came to {outcome:?}");
        ExitCode::SUCCESS
    }
}

/// Runs an entry point under a failure in yet another process, which must end by aborting and say why. Processes take time:
/// one code stands for all.
pub fn aborts(entry: &Entry, point: Point, code: Code, calls: Calls) -> Result<(), String> {
    if code != Code::Hip(999) {
        return Ok(());
    }
    let plan = point.plan(code, calls);
    let mut command = Command::new(env::current_exe().map_err(|error| error.to_string())?);
    command.env(ABORT, format!("{}{SEPARATOR}{plan}", entry.name));
    let output = command.output().map_err(|error| error.to_string())?;
    let account = String::from_utf8_lossy(&output.stderr);
    let aborted = output.status.signal() == Some(libc::SIGABRT);
    if aborted && account.contains(&format!("Stream::scope: {} failed", point.name)) {
        return Ok(());
    }
    Err(format!("{} instead of an abort with a reason: {account}", output.status))
}
