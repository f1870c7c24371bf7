//! The suites, and how each is built.

use clap::ValueEnum;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Suite {
    /// Tests inside the packages, of the tools and of the software ROCm too
    Unit,
    /// The examples in the documentation
    Doc,
    /// Sizes, offsets, values and prototypes of the C interface
    Abi,
    /// Programs in C and C++
    Clients,
    /// What the C library promises, one process a case
    Conformance,
    /// Device memory through hip-alloc
    Alloc,
    /// Files and device memory through the safe interface
    System,
    /// Scripted faults, forks, signals, no more descriptors
    Faults,
    /// Every safe entry point under every failure of HIP and libhipfile, as a table; --sanitize address watches it, with
    /// fewer codes
    Failures,
    /// What must never happen, tried; --sanitize address watches it
    Soundness,
    /// Calls in random order against a model of the contract
    Model,
    /// Thousands of owned operations, waited for, awaited and dropped
    Operations,
    /// 64 threads that do everything at once; --sanitize address watches them
    Stress,
    /// The inputs of the fuzz targets, replayed
    Fuzz,
    /// Orders in which threads can pass the locks of operations and of the software ROCm, searched by shuttle
    Interleavings,
    /// What must not compile
    Ui,
    /// The hipfile command, and the sessions with it in the documentation
    Cli,
    /// The example programs, run
    Examples,
}

/// The features that are off by default and need nothing of the machine.
pub const FEATURES: &str = "hipfile/bytemuck,hipfile/tracing";

impl Suite {
    /// The arguments of each `cargo test` that makes up the suite. Packages that are built alone must not share a
    /// command: cargo would give all of them the union of their features.
    pub fn commands(self) -> &'static [&'static [&'static str]] {
        match self {
            Self::Unit => &[
                &[
                    "--tests",
                    "--features",
                    FEATURES,
                    "-p",
                    "rocm-loader",
                    "-p",
                    "hipfile-sys",
                    "-p",
                    "hip-alloc",
                    "-p",
                    "hipfile",
                ],
                &["--tests", "-p", "hip-alloc", "--no-default-features"],
                &["--tests", "-p", "soft-rocm-faults"],
                &["--tests", "-p", "soft-rocm-hip"],
                &["--tests", "-p", "soft-rocm-hipfile"],
                &["--tests", "-p", "xtask"],
            ],
            Self::Doc => &[
                &[
                    "--doc",
                    "--features",
                    FEATURES,
                    "-p",
                    "rocm-loader",
                    "-p",
                    "hipfile-sys",
                    "-p",
                    "hip-alloc",
                    "-p",
                    "hipfile",
                ],
                &["--doc", "-p", "hipfile-tests"],
            ],
            Self::Abi => &[&["-p", "hipfile-tests", "--test", "abi"]],
            Self::Clients => &[&["-p", "hipfile-tests", "--test", "clients"]],
            Self::Conformance => &[&["-p", "hipfile-tests", "--test", "conformance"]],
            Self::Alloc => &[&["-p", "hipfile-tests", "--test", "alloc"]],
            Self::System => &[&["-p", "hipfile-tests", "--test", "system"]],
            Self::Faults => &[&["-p", "hipfile-tests", "--test", "faults"]],
            Self::Failures => &[&["-p", "hipfile-tests", "--test", "failures"]],
            Self::Soundness => &[&["-p", "hipfile-tests", "--test", "soundness"]],
            Self::Model => &[&["-p", "hipfile-tests", "--test", "model"]],
            Self::Operations => &[&["-p", "hipfile-tests", "--test", "operations"]],
            Self::Stress => &[&["-p", "hipfile-tests", "--test", "stress"]],
            Self::Fuzz => &[&["-p", "hipfile-fuzz", "--test", "replay"]],
            Self::Interleavings => {
                &[&["--lib", "-p", "hip-alloc", "-p", "soft-rocm-hip", "-p", "soft-rocm-hipfile"]]
            }
            Self::Ui => &[&["-p", "hipfile-tests", "--test", "ui"]],
            Self::Cli => &[&["-p", "hipfile-cli"]],
            Self::Examples => &[],
        }
    }

    /// The suite as `--suite` takes it.
    pub fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_suite_but_the_examples_is_a_cargo_test() {
        for suite in Suite::value_variants() {
            assert_eq!(suite.commands().is_empty(), *suite == Suite::Examples, "{suite:?}");
        }
    }
}
