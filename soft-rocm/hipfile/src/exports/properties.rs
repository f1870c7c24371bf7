//! The driver's properties, which AMD's library implements in no version: 5030, arguments unread. With the extension
//! `properties` they work while the driver is open.

use hipfile_sys::{
    self as sys, hipFileDriverControlFlags_t, hipFileDriverProps_t, hipFileDriverStatusFlags_t,
    hipFileError_t, hipFileFeatureFlags_t, hipFileSizeTConfigParameter_t,
};
use soft_rocm_faults::point;

use crate::behaviour::{self, Version};
use crate::driver::Driver;
use crate::failure::Failure;
use crate::settings::Settings;
use crate::{abi, hip};

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn hipFileDriverGetProperties(
    props: *mut hipFileDriverProps_t,
) -> hipFileError_t {
    abi::status(point::hipFileDriverGetProperties, || {
        extension()?;
        if props.is_null() {
            return Err(Failure::INVALID_VALUE);
        }
        let hip = hip::get().ok();
        let fast_path = hip.is_some_and(|hip| hip.ais().is_some());
        let streams = hip.is_some_and(|hip| hip.streams.launch_host_func.is_some());
        let properties = Driver::get().when_open(|settings| properties(settings, fast_path, streams))??;
        // SAFETY: requires a writable structure; the C interface demands one, and it is not null.
        unsafe { props.write(properties) };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn hipFileDriverSetPollMode(
    poll: bool,
    poll_threshold_size: usize,
) -> hipFileError_t {
    abi::status(point::hipFileDriverSetPollMode, || {
        extension()?;
        Driver::get().when_open(|settings| {
            limit(settings, sys::hipFileParamPollthresholdSizeKB, poll_threshold_size)?;
            settings.set_flag(sys::hipFileParamPropertiesUsePollMode, poll)
        })?
    })
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn hipFileDriverSetMaxDirectIOSize(max_direct_io_size: usize) -> hipFileError_t {
    abi::status(point::hipFileDriverSetMaxDirectIOSize, || {
        set(sys::hipFileParamPropertiesMaxDirectIOSizeKB, max_direct_io_size)
    })
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn hipFileDriverSetMaxCacheSize(max_cache_size: usize) -> hipFileError_t {
    abi::status(point::hipFileDriverSetMaxCacheSize, || {
        set(sys::hipFileParamPropertiesMaxDeviceCacheSizeKB, max_cache_size)
    })
}

#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn hipFileDriverSetMaxPinnedMemSize(
    max_pinned_mem_size: usize,
) -> hipFileError_t {
    abi::status(point::hipFileDriverSetMaxPinnedMemSize, || {
        set(sys::hipFileParamPropertiesMaxDevicePinnedMemSizeKB, max_pinned_mem_size)
    })
}

/// Refuses where the library is as AMD's.
fn extension() -> Result<(), Failure> {
    if behaviour::get().extensions.properties { Ok(()) } else { Err(Failure::INTERNAL) }
}

fn set(parameter: hipFileSizeTConfigParameter_t, kib: usize) -> Result<(), Failure> {
    extension()?;
    Driver::get().when_open(|settings| limit(settings, parameter, kib))?
}

/// Sets a limit, which is a parameter under another name.
///
/// # Errors
///
/// 5003 for a value that it can't have.
fn limit(
    settings: &mut Settings,
    parameter: hipFileSizeTConfigParameter_t,
    kib: usize,
) -> Result<(), Failure> {
    settings.set_size(parameter, kib).map_err(|_| Failure::UNSUPPORTED_LIMIT)
}

/// The properties as they are now. There is no kernel driver, so its version is 0.0.
fn properties(settings: &Settings, fast_path: bool, streams: bool) -> Result<hipFileDriverProps_t, Failure> {
    let kib = |parameter| settings.size(parameter).map(|kib| kib as u64);
    let narrow = |parameter| settings.size(parameter).map(|value| u32::try_from(value).unwrap_or(u32::MAX));
    let batches = behaviour::get().version >= Version::V0_5;
    let status = [(fast_path, sys::hipFileNVMeSupported)];
    let control = [
        (settings.flag(sys::hipFileParamPropertiesUsePollMode)?, sys::hipFileUsePollMode),
        (settings.flag(sys::hipFileParamPropertiesAllowCompatMode)?, sys::hipFileAllowCompatMode),
    ];
    let features = [(batches, sys::hipFileBatchIOSupported), (streams, sys::hipFileStreamsSupported)];
    let mut properties = hipFileDriverProps_t::default();
    properties.nvfs.poll_thresh_size = kib(sys::hipFileParamPollthresholdSizeKB)?;
    properties.nvfs.max_direct_io_size = kib(sys::hipFileParamPropertiesMaxDirectIOSizeKB)?;
    properties.nvfs.driver_status_flags = bits(status.map(|(on, hipFileDriverStatusFlags_t(bit))| (on, bit)));
    properties.nvfs.driver_control_flags =
        bits(control.map(|(on, hipFileDriverControlFlags_t(bit))| (on, bit)));
    properties.feature_flags = bits(features.map(|(on, hipFileFeatureFlags_t(bit))| (on, bit)));
    properties.max_device_cache_size = kib(sys::hipFileParamPropertiesMaxDeviceCacheSizeKB)?;
    properties.per_buffer_cache_size = kib(sys::hipFileParamPropertiesPerBufferCacheSizeKB)?;
    properties.max_device_pinned_mem_size = kib(sys::hipFileParamPropertiesMaxDevicePinnedMemSizeKB)?;
    properties.max_batch_io_count = narrow(sys::hipFileParamPropertiesIOBatchsize)?;
    properties.max_batch_io_timeout_msecs = narrow(sys::hipFileParamPropertiesBatchIOTimeoutMs)?;
    Ok(properties)
}

/// The bits that are on, by their positions.
fn bits<const N: usize>(flags: [(bool, u32); N]) -> u32 {
    flags.into_iter().filter(|(on, _)| *on).fold(0, |all, (_, bit)| all | 1 << bit)
}
