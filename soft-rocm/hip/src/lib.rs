//! libamdhip64 in software: the slice of HIP that hipFile and hip-alloc need.
//!
//! ```text
//!  C program ──▶ api::*            the exported functions: arguments in, hipError_t out
//!                  │
//!                entry             scripted faults and delays, last error
//!                  │
//!                runtime           the one runtime of the process, made from the environment at first use
//!                  │
//!                stream            queues of work, each with a thread of its own
//!                  │
//!                memory ── blocks  which allocations live, which ranges are free
//!                  │
//!                backing           what device memory is made of:
//!                  ├─ arena          one memfd mapped twice, or
//!                  └─ cuda           NVIDIA's GPUs, by their driver
//! ```
//!
//! The address a program gets for device memory can't be touched by host code: it is mapped without access, as a
//! GPU's memory is out of a CPU's reach, so that a forgotten copy faults at once. The library works through a second,
//! private mapping of the same pages.
//!
//! Signatures and types are those of `include/hip/hip_runtime_api.h`: `bindings` is generated from it, and each
//! exported function is compared with its declaration at compile time.
//!
//! # Environment
//!
//! The variables of `docs/src/environment.md`, read once, at first use. A value that is not accepted is reported on standard
//! error, and every call then answers `hipErrorNotInitialized`: a mistyped setting must not pass for the default.
//!
//! Device memory takes host memory only for pages that were touched, and gives them back when it is freed.
//!
//! # Fork
//!
//! A child of a process that used the library gets `hipErrorNotInitialized` from every call, and has no mapping of
//! device memory.

#![allow(
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    reason = "the names are those of the C header"
)]

mod allocation;
mod api;
mod arena;
mod backing;
#[allow(clippy::all, clippy::restriction, reason = "generated")]
mod bindings;
mod blocks;
mod config;
mod copy;
mod cuda;
mod devices;
mod entry;
mod error_text;
mod event;
mod exports;
mod facts;
mod file;
mod fork;
pub mod fuzzing;
mod halves;
mod huge;
mod last_error;
mod leaks;
mod memory;
mod misuse;
mod pinned;
mod place;
mod report;
mod runtime;
mod stream;
mod sync;
mod touch;

pub use exports::header;
