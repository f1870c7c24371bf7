//! What test programs print, read back.

use std::collections::BTreeSet;

use crate::Result;

/// What a run of tests came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    pub passed: u64,
    pub failed: u64,
    pub ignored: u64,
    /// The paths of the tests that passed, as libtest prints them.
    pub names: BTreeSet<String>,
}

impl Outcome {
    /// Something that failed before a test could.
    pub fn failure() -> Self {
        Self { failed: 1, ..Self::default() }
    }

    pub fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.ignored += other.ignored;
        self.names.extend(other.names);
    }

    /// Counts an example and says how it went.
    pub fn note(&mut self, name: &str, outcome: Result<()>) {
        let verdict = if outcome.is_ok() { "ok" } else { "FAILED" };
        println!("example {name} ... {verdict}");
        match outcome {
            Ok(()) => self.passed += 1,
            Err(error) => {
                eprintln!("error: {error}");
                self.failed += 1;
            }
        }
    }

    /// Reads a line of a test program's output.
    pub fn read(&mut self, line: &str) {
        if let Some(count) = Self::of_closing_line(line) {
            self.add(count);
        }
        let name = line.strip_prefix("test ").and_then(|line| line.strip_suffix(" ... ok"));
        if let Some(name) = name.filter(|name| !name.contains(' ')) {
            self.names.insert(name.to_owned());
        }
    }

    /// What a test program's closing line reports.
    fn of_closing_line(line: &str) -> Option<Self> {
        let (_, numbers) = line.trim().strip_prefix("test result: ")?.split_once(". ")?;
        let mut count = Self::default();
        for part in numbers.split(';') {
            match part.trim().split_once(' ') {
                Some((number, "passed")) => count.passed = number.parse().ok()?,
                Some((number, "failed")) => count.failed = number.parse().ok()?,
                Some((number, "ignored")) => count.ignored = number.parse().ok()?,
                _ => {}
            }
        }
        Some(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(lines: &[&str]) -> Outcome {
        let mut outcome = Outcome::default();
        lines.iter().for_each(|line| outcome.read(line));
        outcome
    }

    #[test]
    fn the_closing_line_of_a_test_program_is_counted() {
        let line = "test result: FAILED. 12 passed; 3 failed; 1 ignored; 0 measured; 4 filtered out; finished in 0.01s";
        assert_eq!(of(&[line]), Outcome { passed: 12, failed: 3, ignored: 1, ..Outcome::default() });
        assert_eq!(of(&[line, line]).passed, 24);
        let line = "test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out";
        assert_eq!(of(&[line]), Outcome::default());
        for other in ["running 3 tests", "test result: ok", "3 passed; 1 failed"] {
            assert_eq!(of(&[other]), Outcome::default(), "{other}");
        }
    }

    #[test]
    fn tests_that_passed_are_known_by_name() {
        let lines = [
            "test a::b ... ok",
            "test a::c ... FAILED",
            "test d ... ignored",
            "test src/lib.rs - x (line 1) ... ok",
        ];
        assert_eq!(of(&lines).names, BTreeSet::from(["a::b".to_owned()]));
    }
}
