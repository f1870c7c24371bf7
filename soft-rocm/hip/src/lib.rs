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
//!                arena             device memory: one memfd mapped twice
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
//! Read once, at first use. A value that is not accepted is reported on standard error, and every call then answers
//! `hipErrorNotInitialized`: a mistyped setting must not pass for the default.
//!
//! | Variable | Meaning | Default |
//! |---|---|---|
//! | `SOFT_ROCM_DEVICE` | what devices are made of: `host` memory, nothing else so far | `host` |
//! | `SOFT_ROCM_DEVICE_COUNT` | number of devices, 0 to 64 | 1 |
//! | `SOFT_ROCM_DEVICE_MEM` | memory of each device in bytes; K, M, G multiply by 1024, 1024², 1024³ | 16G |
//! | `SOFT_ROCM_STREAMS` | `eager` starts queued work at once, `lazy` when something waits for it | eager |
//! | `SOFT_ROCM_STRICT` | 0 lets host code read device memory, 1 forbids it, abort stops illegal use with a report | 1 |
//! | `SOFT_ROCM_LEAKS` | 1 lists at exit what was not freed, fail makes the process fail as well | 0 |
//! | `SOFT_ROCM_KFD_ALIGN` | 1 makes file functions refuse what is not aligned to 4 KiB | 0 |
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
#[allow(clippy::all, clippy::restriction, reason = "generated")]
mod bindings;
mod blocks;
mod config;
mod copy;
mod devices;
mod entry;
mod error_text;
mod event;
mod exports;
mod facts;
mod fork;
pub mod fuzzing;
mod halves;
mod huge;
mod last_error;
mod leaks;
mod memory;
mod misuse;
mod pinned;
mod report;
mod runtime;
mod stream;
mod sync;
mod touch;

pub use exports::header;
