//! Additions of ours, for tests: holding a stream.

use soft_rocm_faults as faults;

use crate::bindings::{hipError_t, hipStream_t};
use crate::last_error::answer;
use crate::runtime::streams;

/// Holds what a stream has not started yet. NULL is the default stream.
#[unsafe(no_mangle)]
pub extern "C" fn softrocm_stream_pause(stream: hipStream_t) -> hipError_t {
    answer(set_paused(stream, true))
}

/// Lets a stream go on, and what a plan of faults holds on any stream.
#[unsafe(no_mangle)]
pub extern "C" fn softrocm_stream_resume(stream: hipStream_t) -> hipError_t {
    let resumed = set_paused(stream, false);
    if resumed.is_ok() && !faults::idle() {
        faults::resume();
    }
    answer(resumed)
}

fn set_paused(stream: hipStream_t, paused: bool) -> Result<(), hipError_t> {
    streams()?.find(stream.addr())?.set_paused(paused);
    Ok(())
}
