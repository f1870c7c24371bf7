//! What the test targets of this package share.
//!
//! | module | what |
//! |---|---|
//! | [`raw`] | the C functions of libhipfile as plain calls |
//! | [`engine`] | the same for asynchronous and batch I/O, and HIP's streams |
//! | [`rocm`] | where the headers and libraries of the ROCm under test lie |
//! | [`isolate`] | one test, one process |
//! | [`compiler`] | C and C++ programs built and run against that ROCm |
//! | [`soft`] | what the software ROCm has beyond AMD's: held streams, plans of faults |
//! | [`library`] | what the libhipfile under test is: its release, its defects |
//! | [`shim`] | a library put before HIP and libc that counts, fails, shortens and holds calls |

pub mod compiler;
pub mod engine;
pub mod isolate;
pub mod library;
pub mod raw;
pub mod rocm;
pub mod shim;
pub mod soft;

/// The programs in the pages: those marked `no_run` compile, the others run.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../../README.md")]
    struct Readme;

    #[doc = include_str!("../../docs/src/async.md")]
    struct Async;

    #[doc = include_str!("../../docs/src/files.md")]
    struct Files;

    #[doc = include_str!("../../docs/src/first-read.md")]
    struct FirstRead;

    #[doc = include_str!("../../docs/src/frameworks.md")]
    struct Frameworks;

    #[doc = include_str!("../../docs/src/settings.md")]
    struct Settings;

    #[doc = include_str!("../../docs/src/transfer.md")]
    struct Transfer;

    #[doc = include_str!("../../docs/src/upgrading-hipfile.md")]
    struct UpgradingHipfile;

    #[doc = include_str!("../../docs/src/why-not-fast-path.md")]
    struct WhyNotFastPath;
}
