//! Scripted faults and delays of the software ROCm: what `SOFT_ROCM_FAULTS` says happens to calls.
//!
//! ```text
//!  exported functions, system calls (sys)        a call passes its point
//!          │
//!        state    is there a plan? without one, this relaxed load is all
//!          │
//!        plan     entries with counters ── gate   calls that are held
//!          │
//!        grammar ── conditions, actions ── values, names
//!          │
//!        points   what a plan can name, and what each point can do
//! ```
//!
//! Each library that links this crate has its own copy of the state, so the counters of libamdhip64 and of libhipfile
//! are apart. The functions among the points come from the bindings of the two headers; the system calls are those that
//! [`sys`] makes.

mod actions;
mod c_api;
mod conditions;
mod error;
mod gate;
mod grammar;
mod names;
mod plan;
mod points;
mod state;
pub mod sys;
mod values;

pub use c_api::{refuse_child, set_from_c};
pub use error::SpecError;
pub use plan::{Call, Effect, Fault, Plan, Subject};
pub use points::{Owner, Point, point, points};
pub use state::{Refused, ask, counted, held, hit, idle, names, resume, set};
