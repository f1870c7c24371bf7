//! How tests are built: as usual, or in a way that changes how the workspace's packages are compiled.

use std::path::PathBuf;
use std::process::Command;

use crate::rocm::Rocm;
use crate::{Result, install, workspace};

use super::suite::Suite;

/// What watches the tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Sanitizer {
    /// AddressSanitizer, leaks included, in the tests and in the software ROCm's libraries
    Address,
}

/// A way of building, and of running what was built.
pub struct Build {
    /// What the tests run with.
    pub rocm: Rocm,
    /// What they are built with. The same, but for a sanitizer, whose libraries only take the places of others.
    linked: Rocm,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Ordinary,
    /// Locks and threads are shuttle's, so only tests that run inside it can run. They have this word in their path.
    Interleavings,
    Sanitized(Sanitizer),
}

const INTERLEAVINGS: &str = "interleavings";

impl Build {
    /// How a suite is built.
    pub fn of(rocm: &Rocm, suite: Suite, sanitizer: Option<Sanitizer>) -> Result<Self> {
        let (kind, linked) = match (suite, sanitizer) {
            (Suite::Interleavings, _) => (Kind::Interleavings, rocm.clone()),
            (_, Some(sanitizer)) => (Kind::Sanitized(sanitizer), Rocm::software()?),
            (_, None) => (Kind::Ordinary, rocm.clone()),
        };
        Ok(Self { rocm: rocm.clone(), linked, kind })
    }

    /// `cargo test` of what `selection` names.
    pub fn cargo_test(&self, selection: &[&str]) -> Result<Command> {
        let mut command = self.linked.cargo();
        command.args(["test", "--locked", "--no-fail-fast"]).args(selection);
        let flags = match self.kind {
            Kind::Ordinary => return Ok(command),
            Kind::Interleavings => "--cfg shuttle",
            // The libraries take the runtime's functions from the program.
            Kind::Sanitized(Sanitizer::Address) => "-Zsanitizer=address -Clink-arg=-Wl,--export-dynamic",
        };
        // Build scripts are watched too, but may leak.
        command.env("RUSTC_WORKSPACE_WRAPPER", self.wrapper(flags)?).env("ASAN_OPTIONS", "detect_leaks=0");
        Ok(command)
    }

    /// What runs tests of which these are the programs, one after the other.
    pub fn runs(&self, selection: &[&str], programs: &[PathBuf]) -> Result<Vec<Command>> {
        if !matches!(self.kind, Kind::Sanitized(_)) {
            let mut command = self.cargo_test(selection)?;
            command.arg("--");
            return Ok(vec![command]);
        }
        let run = |program| {
            let mut command = self.rocm.command(program);
            // As cargo would: all suites that a sanitizer is for are of this package.
            command.current_dir(workspace::root().join("tests"));
            command
        };
        Ok(programs.iter().map(run).collect())
    }

    /// What is passed to the test programs before the caller's own arguments.
    pub fn filter(&self) -> Option<&'static str> {
        (self.kind == Kind::Interleavings).then_some(INTERLEAVINGS)
    }

    /// A program that cargo calls in place of rustc for the workspace's packages alone: what they depend on is built as
    /// ever, and once. cargo keeps apart what each wrapper built, by its path, which therefore tells the flags.
    fn wrapper(&self, flags: &str) -> Result<PathBuf> {
        let path = self.linked.target_dir().join(format!("rustc{}", flags.replace([' ', '=', ','], "-")));
        let text = format!("#!/bin/sh\nRUSTC_BOOTSTRAP=1 exec \"$@\" {flags}\n");
        install::file(&path, text.as_bytes(), 0o755)?;
        Ok(path)
    }
}

impl Sanitizer {
    /// Has cargo build for the sanitizer; `flags` is the variable that holds rustc's flags.
    pub fn apply(self, command: &mut Command, flags: &str) {
        let Self::Address = self;
        // The flag is not stable, the runtime that it needs comes with every toolchain.
        command.env("RUSTC_BOOTSTRAP", "1").env(flags, "-Zsanitizer=address");
    }
}

/// The target that is this machine.
pub fn target() -> String {
    format!("{}-unknown-linux-gnu", std::env::consts::ARCH)
}
