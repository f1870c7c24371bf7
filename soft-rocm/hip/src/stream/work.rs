//! What a stream can be asked to do.

use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

use soft_rocm_faults::{Point, point};

use super::host_function;
use super::signal::{Signal, Wait};
use crate::bindings::{
    hipError_t, hipErrorIllegalAddress, hipHostFn_t, hipMemcpyKind, hipStream_t, hipStreamCallback_t,
    hipSuccess,
};
use crate::event::Stamp;
use crate::misuse;
use crate::runtime::memory;

/// One operation of a stream.
#[derive(Debug)]
pub(crate) enum Work {
    /// Takes its place in the order and nothing else.
    Nothing,
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
    /// Copies.
    Copy {
        /// Where to.
        dst: *mut u8,
        /// Where from.
        src: *const u8,
        /// Number of bytes.
        len: usize,
        /// The direction.
        kind: hipMemcpyKind,
    },
    /// Fills bytes.
    Fill {
        /// Where.
        dst: *mut u8,
        /// With what.
        value: u8,
        /// Number of bytes.
        len: usize,
    },
    /// Fills elements of 2 bytes.
    FillHalves {
        /// Where.
        dst: *mut u8,
        /// With what.
        value: u16,
        /// Number of elements.
        count: usize,
    },
    /// Fills words of 4 bytes.
    FillWords {
        /// Where.
        dst: *mut u8,
        /// With what.
        value: u32,
        /// Number of words.
        count: usize,
    },
    /// Frees memory by its first address.
    Free(usize),
    /// Notes the time.
    Stamp(Arc<Stamp>),
    /// Waits for a value.
    Wait(Wait),
    /// Stores a value.
    Write(Signal, u64),
}

// SAFETY: requires that the pointers may be used by another thread; holds because the caller of the API hands them over
// for that.
unsafe impl Send for Work {}

impl Work {
    /// Does it.
    pub(crate) fn run(self) -> Result<(), hipError_t> {
        match self {
            Work::Nothing | Work::Call { function: None, .. } | Work::Callback { function: None, .. } => {
                Ok(())
            }
            Work::Call { function: Some(function), data } => {
                // SAFETY: requires a function that may be called with its argument; holds by the header.
                host_function::enter(|| unsafe { function(data) });
                Ok(())
            }
            Work::Callback { function: Some(function), stream, data } => {
                // SAFETY: as above.
                host_function::enter(|| unsafe { function(stream, hipSuccess, data) });
                Ok(())
            }
            Work::Copy { dst, src, len, kind } => {
                let ranges = [(dst.cast_const().cast(), len), (src.cast(), len)];
                // SAFETY: requires usable host ranges and no other use; holds by the header.
                at_its_turn(point::hipMemcpyAsync, &ranges, unsafe { memory()?.copy(dst, src, len, kind) })
            }
            Work::Fill { dst, value, len } => {
                let ranges = [(dst.cast_const().cast(), len)];
                // SAFETY: requires that nobody uses the range; holds by the header.
                at_its_turn(point::hipMemsetAsync, &ranges, unsafe { memory()?.fill(dst, value, len) })
            }
            Work::FillHalves { dst, value, count } => {
                let ranges = [(dst.cast_const().cast(), count.saturating_mul(2))];
                // SAFETY: as above.
                let filled = unsafe { memory()?.fill_halves(dst, value, count) };
                at_its_turn(point::hipMemsetD16Async, &ranges, filled)
            }
            Work::FillWords { dst, value, count } => {
                let ranges = [(dst.cast_const().cast(), count.saturating_mul(4))];
                // SAFETY: as above.
                let filled = unsafe { memory()?.fill_words(dst, value, count) };
                at_its_turn(point::hipMemsetD32Async, &ranges, filled)
            }
            Work::Free(address) => {
                let memory = memory()?;
                let start = ptr::without_provenance(address);
                misuse::ended(memory, point::hipFreeAsync, start, memory.free(address))
                    .map_err(|_| hipErrorIllegalAddress)
            }
            Work::Stamp(stamp) => {
                stamp.set();
                Ok(())
            }
            Work::Wait(wait) => {
                let ranges = [wait.signal.range()];
                at_its_turn(point::hipStreamWaitValue64, &ranges, wait.run())
            }
            Work::Write(signal, value) => {
                let ranges = [signal.range()];
                at_its_turn(point::hipStreamWriteValue64, &ranges, signal.store(memory()?, value))
            }
        }
    }
}

/// What was checked at submission and is refused now is so because memory was freed meanwhile.
fn at_its_turn(
    point: Point,
    ranges: &[(*const c_void, usize)],
    result: Result<(), hipError_t>,
) -> Result<(), hipError_t> {
    misuse::used(memory()?, point, ranges, result).map_err(|_| hipErrorIllegalAddress)
}
