//! The exported functions. What each does, and what it requires of its caller, is said once: in the header.
//!
//! Each takes its arguments apart, asks the runtime and turns the result into a code. None panics.
#![allow(clippy::missing_safety_doc, reason = "the header states what each function requires")]

mod asynchronous;
mod device;
mod device_facts;
mod error;
mod event;
mod faults;
#[cfg(feature = "ais")]
mod file;
mod file_transfer;
mod general;
mod host_address;
mod host_memory;
mod kernel;
mod launch;
mod memory;
mod peer;
mod pointer;
mod stream;
mod stream_control;
mod transfer;

pub use asynchronous::*;
pub use device::*;
pub use device_facts::*;
pub use error::*;
pub use event::*;
pub use faults::*;
#[cfg(feature = "ais")]
pub use file::*;
pub use file_transfer::*;
pub use general::*;
pub use host_address::*;
pub use host_memory::*;
pub use kernel::*;
pub use launch::*;
pub use memory::*;
pub use peer::*;
pub use pointer::*;
pub use stream::*;
pub use stream_control::*;
pub use transfer::*;

use crate::bindings::{hipError_t, hipErrorInvalidValue};

/// Stores a result where the caller wants it.
///
/// # Safety
///
/// `place` is NULL or writable.
unsafe fn put<T>(place: *mut T, value: T) -> Result<(), hipError_t> {
    if place.is_null() {
        return Err(hipErrorInvalidValue);
    }
    // SAFETY: requires a writable place; holds by contract, NULL was ruled out.
    unsafe { place.write(value) };
    Ok(())
}
