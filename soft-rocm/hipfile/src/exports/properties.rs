//! The driver's properties, which AMD's library implements in no version: 5030, arguments unread.

use hipfile_sys::{hipFileDriverProps_t, hipFileError_t};
use soft_rocm_faults::point;

use crate::abi;
use crate::failure::Failure;

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn hipFileDriverGetProperties(
    _props: *mut hipFileDriverProps_t,
) -> hipFileError_t {
    abi::status(point::hipFileDriverGetProperties, || Err(Failure::INTERNAL))
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn hipFileDriverSetPollMode(
    _poll: bool,
    _poll_threshold_size: usize,
) -> hipFileError_t {
    abi::status(point::hipFileDriverSetPollMode, || Err(Failure::INTERNAL))
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn hipFileDriverSetMaxDirectIOSize(
    _max_direct_io_size: usize,
) -> hipFileError_t {
    abi::status(point::hipFileDriverSetMaxDirectIOSize, || Err(Failure::INTERNAL))
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn hipFileDriverSetMaxCacheSize(_max_cache_size: usize) -> hipFileError_t {
    abi::status(point::hipFileDriverSetMaxCacheSize, || Err(Failure::INTERNAL))
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn hipFileDriverSetMaxPinnedMemSize(
    _max_pinned_mem_size: usize,
) -> hipFileError_t {
    abi::status(point::hipFileDriverSetMaxPinnedMemSize, || Err(Failure::INTERNAL))
}
