//! The program as a user sees it, on the software ROCm: the sessions in the documentation, and what no page shows.
//!
//! A test of a page compares the sessions in it with what the program prints; `HIPFILE_CLI_WRITE=1` writes the page anew
//! instead. What differs from one machine or run to the next is masked by the test.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "that is how tests fail"
)]

mod bench;
mod bench_errors;
mod check;
mod cp;
mod cp_failures;
mod explain;
mod hostile;
mod info;
mod pages;
mod runtime;
mod support;
