//! One test, one process: libraries keep state and read their environment once in a process.

use std::env;
use std::ffi::{OsStr, OsString};
use std::os::unix::process::ExitStatusExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Command, Output};

use crate::shim;

/// Says to a process which one test it was started for.
const CASE: &str = "HIPFILE_TESTS_CASE";

/// For the environment of a test that forgets what it owns, or has the libraries leak it, as they do with what a panic in
/// code of others carried: what is left behind is what such a test is about, and it counts that itself. LeakSanitizer, which would end the process with an error, looks away; the
/// rest of AddressSanitizer does not. Without sanitizers it means nothing.
pub const LEAKS: (&str, &str) = ("LSAN_OPTIONS", "detect_leaks=0");

/// Runs `body` in a process of its own, under `environment`.
///
/// `test` is the path of the calling test, as libtest prints it. The process is this executable once more,
/// asked for that one test; the call that then happens runs `body`.
pub fn isolated<K: AsRef<OsStr>, V: AsRef<OsStr>>(test: &str, environment: &[(K, V)], body: impl FnOnce()) {
    if is_case(test) {
        body();
        // A wrong path runs no test at all and exits with 0; this line tells the two apart.
        println!("{}", ran(test));
        return;
    }
    let output = again(test, environment);
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{test}, in its own process: {}\n{stdout}{stderr}", output.status);
    assert!(stdout.contains(&ran(test)), "no test is called {test}\n{stdout}{stderr}");
    print!("{stdout}");
}

/// [`isolated`] for a `body` that must end its process by aborting, saying `message` on standard error.
pub fn aborts<K: AsRef<OsStr>, V: AsRef<OsStr>>(
    test: &str,
    environment: &[(K, V)],
    message: &str,
    body: impl FnOnce(),
) {
    if is_case(test) {
        body();
        println!("{}", ran(test));
        return;
    }
    let output = again(test, environment);
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.signal(), Some(libc::SIGABRT), "{test}: {}\n{stdout}{stderr}", output.status);
    assert!(stderr.contains(message), "{test} does not say {message:?}\n{stdout}{stderr}");
}

/// Starts this executable once more, for one test.
fn again<K: AsRef<OsStr>, V: AsRef<OsStr>>(test: &str, environment: &[(K, V)]) -> Output {
    let mut command = Command::new(env::current_exe().expect("an executable has a path"));
    command.args([test, "--exact", "--nocapture", "--include-ignored", "--test-threads=1"]);
    command.env(CASE, test);
    for (name, value) in environment {
        command.env(name, value);
    }
    command.output().expect("the test executable starts")
}

/// A forked child.
#[derive(Debug)]
#[must_use = "it has to be waited for"]
pub struct Child(libc::pid_t);

/// Forks; none in the child, which must end by [`leave`] and gets 20 seconds for it.
///
/// The child is for what the crates under test do after a fork. Other threads than the calling one are not in it.
pub fn fork() -> Option<Child> {
    // SAFETY: requires that the child does only what is safe after fork; holds because the process was made for one test,
    // none of whose threads hold a lock that the child needs, as the tests see to.
    let pid = unsafe { libc::fork() };
    assert_ne!(pid, -1);
    if pid == 0 {
        // SAFETY: requires nothing: a hang ends with SIGALRM.
        unsafe { libc::alarm(20) };
    }
    (pid != 0).then_some(Child(pid))
}

/// Ends a forked child, without exit handlers.
pub fn leave(passed: bool) -> ! {
    // SAFETY: requires nothing.
    unsafe { libc::_exit(if passed { 0 } else { 1 }) }
}

impl Child {
    /// Waits for it; whether it left as one that passed.
    pub fn passed(self) -> bool {
        let mut status = 0;
        // SAFETY: requires a place for the status; holds because `status` is one.
        let waited = unsafe { libc::waitpid(self.0, &raw mut status, 0) };
        assert_eq!(waited, self.0);
        status == 0
    }
}

/// Runs `check` in a forked child; true if it returned true there.
pub fn in_child(check: impl FnOnce() -> bool) -> bool {
    match fork() {
        Some(child) => child.passed(),
        None => leave(catch_unwind(AssertUnwindSafe(check)).unwrap_or(false)),
    }
}

/// [`isolated`] with the environment as it is.
pub fn alone(test: &str, body: impl FnOnce()) {
    isolated::<&str, &str>(test, &[], body);
}

/// [`isolated`] with the shim in front of HIP and libc, and with these variables. Where there can be no shim the test
/// says so and passes.
pub fn shimmed(test: &str, variables: &[(&'static str, &str)], body: impl FnOnce()) {
    if is_case(test) {
        // It has the shim already.
        return alone(test, body);
    }
    match shim::environment() {
        Ok(mut environment) => {
            environment.extend(variables.iter().map(|(name, value)| (*name, OsString::from(value))));
            isolated(test, &environment, body);
        }
        Err(reason) => println!("{test} skipped: {reason}"),
    }
}

/// Whether this process was started for that test.
fn is_case(test: &str) -> bool {
    env::var_os(CASE).is_some_and(|case| case == test)
}

fn ran(test: &str) -> String {
    format!("[isolated] {test} ran to its end")
}
