//! What a stream can be asked to do.

use std::ffi::c_void;

use crate::bindings::{hipError_t, hipHostFn_t, hipStream_t, hipStreamCallback_t, hipSuccess};
use crate::stream::host_function;

/// One operation of a stream.
#[derive(Debug)]
pub(crate) enum Work {
    /// Calls a function of the program.
    Call {
        /// The function.
        function: hipHostFn_t,
        /// Its argument.
        data: *mut c_void,
    },
    /// Calls a function of the program that is told the stream.
    Callback {
        /// The function.
        function: hipStreamCallback_t,
        /// The handle the program used.
        stream: hipStream_t,
        /// Its argument.
        data: *mut c_void,
    },
}

// SAFETY: requires that the pointers may be used by another thread; holds because the caller of the API hands them over
// for that.
unsafe impl Send for Work {}

impl Work {
    /// Does it.
    pub(crate) fn run(self) -> Result<(), hipError_t> {
        match self {
            Work::Call { function: Some(function), data } => {
                // SAFETY: requires a function that may be called with its argument; holds by the header.
                host_function::enter(|| unsafe { function(data) });
            }
            Work::Callback { function: Some(function), stream, data } => {
                // SAFETY: as above.
                host_function::enter(|| unsafe { function(stream, hipSuccess, data) });
            }
            Work::Call { function: None, .. } | Work::Callback { function: None, .. } => {}
        }
        Ok(())
    }
}
