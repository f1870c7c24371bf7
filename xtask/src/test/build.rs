//! How tests are built: as usual, or in a way that changes what is compiled and so has a target directory of its own.

use std::path::PathBuf;
use std::process::Command;

use crate::rocm::Rocm;

use super::suite::Suite;

/// What watches the tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Sanitizer {
    /// AddressSanitizer, leaks included, in the tests and in the software ROCm's libraries
    Address,
}

/// A way of building.
pub struct Build<'r> {
    pub rocm: &'r Rocm,
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

impl<'r> Build<'r> {
    /// How a suite is built.
    pub fn of(rocm: &'r Rocm, suite: Suite, sanitizer: Option<Sanitizer>) -> Self {
        let kind = match (suite, sanitizer) {
            (Suite::Interleavings, _) => Kind::Interleavings,
            (_, Some(sanitizer)) => Kind::Sanitized(sanitizer),
            (_, None) => Kind::Ordinary,
        };
        Self { rocm, kind }
    }

    /// `cargo test` of what `selection` names.
    pub fn cargo_test(&self, selection: &[&str]) -> Command {
        let mut command = self.rocm.cargo();
        command.args(["test", "--locked", "--no-fail-fast"]).args(selection);
        match self.kind {
            Kind::Ordinary => {}
            Kind::Interleavings => {
                command.env("RUSTFLAGS", "--cfg shuttle").env("CARGO_TARGET_DIR", self.apart());
            }
            Kind::Sanitized(sanitizer) => {
                // With a target, build scripts and macros are spared the flags.
                command.args(["--target", &target()]).env("CARGO_TARGET_DIR", self.apart());
                sanitizer.apply(&mut command, "RUSTFLAGS");
            }
        }
        command
    }

    /// What is passed to the test programs before the caller's own arguments.
    pub fn filter(&self) -> Option<&'static str> {
        (self.kind == Kind::Interleavings).then_some(INTERLEAVINGS)
    }

    fn apart(&self) -> PathBuf {
        let name = match self.kind {
            Kind::Sanitized(Sanitizer::Address) => "address",
            _ => INTERLEAVINGS,
        };
        self.rocm.target_dir().join(name)
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
