//! Properties and limits of the driver.

use std::time::Duration;

use hipfile_sys as sys;

use crate::driver::Driver;
use crate::error::{Cause, Error, Result};
use crate::ffi::settings::{self, Limit};
use crate::op_error::OpError;
use crate::property_flags::{ControlFlags, FeatureFlags, StorageFlags};
use crate::quantity::Unit;

/// Properties and limits of the driver: see [`Driver::properties`]. Sizes are in bytes.
///
/// ```
/// use hipfile::{Driver, ErrorKind, Properties};
///
/// # fn main() -> hipfile::Result<()> {
/// let driver = Driver::open()?;
/// let properties: Option<Properties> = match driver.properties() {
///     Ok(properties) => Some(properties),
///     Err(error) if error.kind() == ErrorKind::Unsupported => None, // as AMD's library so far
///     Err(error) => return Err(error),
/// };
/// if let Some(Properties { max_direct_io, max_batch_len, .. }) = properties {
///     println!("{max_direct_io} bytes in one direct transfer, {max_batch_len} transfers in a batch");
/// }
/// # Ok(())
/// # }
/// ```
#[doc(alias = "hipFileDriverProps_t")]
#[doc(alias = "hipFileNvfsProps_t")]
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Properties {
    /// Major and minor version of the kernel driver; zeros where there is none.
    pub kernel_driver: (u32, u32),
    /// Kinds of storage that the kernel driver knows.
    pub storage: StorageFlags,
    /// How the driver works.
    pub control: ControlFlags,
    /// What the library can do.
    pub features: FeatureFlags,
    /// The largest transfer, in bytes, whose completion is polled for.
    pub poll_threshold: u64,
    /// The largest single direct transfer, in bytes.
    pub max_direct_io: u64,
    /// Device memory for caching, in bytes.
    pub max_device_cache: u64,
    /// The cache of one buffer, in bytes.
    pub per_buffer_cache: u64,
    /// Device memory that may be pinned, in bytes.
    pub max_pinned_memory: u64,
    /// The largest number of transfers in a batch.
    pub max_batch_len: u32,
    /// The longest time that a batch may take, in milliseconds at the library; zero if nobody measures it.
    pub max_batch_time: Duration,
}

impl Properties {
    fn of(raw: &sys::hipFileDriverProps_t) -> Self {
        Self {
            kernel_driver: (raw.nvfs.major_version, raw.nvfs.minor_version),
            storage: StorageFlags::from_bits_retain(raw.nvfs.driver_status_flags),
            control: ControlFlags::from_bits_retain(raw.nvfs.driver_control_flags),
            features: FeatureFlags::from_bits_retain(raw.feature_flags),
            poll_threshold: Unit::Kib.ours(raw.nvfs.poll_thresh_size),
            max_direct_io: Unit::Kib.ours(raw.nvfs.max_direct_io_size),
            max_device_cache: Unit::Kib.ours(raw.max_device_cache_size),
            per_buffer_cache: Unit::Kib.ours(raw.per_buffer_cache_size),
            max_pinned_memory: Unit::Kib.ours(raw.max_device_pinned_mem_size),
            max_batch_len: raw.max_batch_io_count,
            max_batch_time: Duration::from_millis(raw.max_batch_io_timeout_msecs.into()),
        }
    }
}

/// No release of AMD's library has properties; [`supports`](crate::supports) asks. What is set is set for all users of the
/// library in this process, until its last close.
impl Driver {
    /// Properties and limits in force. hipFile 0.2.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) from AMD's library,
    /// [`ErrorKind::NotInitialized`](crate::ErrorKind::NotInitialized) if other code closed the driver,
    /// [`ErrorKind::Forked`](crate::ErrorKind::Forked).
    #[doc(alias = "hipFileDriverGetProperties")]
    pub fn properties(&self) -> Result<Properties> {
        let read = || settings::properties(self.inner().live()?);
        read().map(|raw| Properties::of(&raw)).map_err(|cause| Error::new("read driver properties", cause))
    }

    /// Whether completions are polled for, of transfers up to `threshold` bytes. hipFile 0.2.
    ///
    /// ```
    /// # use hipfile::{ControlFlags, Driver, ErrorKind};
    /// # fn main() -> hipfile::Result<()> {
    /// let driver = Driver::open()?;
    /// match driver.set_poll_mode(true, 64 << 10) {
    ///     Ok(()) => assert!(driver.properties()?.control.contains(ControlFlags::POLL_MODE)),
    ///     Err(error) => assert_eq!(error.kind(), ErrorKind::Unsupported),
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput) if the size is no multiple of 1024, or not one that the
    /// library takes; otherwise as for [`properties`](Self::properties).
    #[doc(alias = "hipFileDriverSetPollMode")]
    pub fn set_poll_mode(&self, poll: bool, threshold: u64) -> Result<()> {
        self.set("set poll mode", threshold, |api, kib| settings::set_poll_mode(api, poll, kib))
    }

    /// Sets the largest single direct transfer, in bytes. hipFile 0.2.
    ///
    /// ```
    /// # use hipfile::{Driver, ErrorKind};
    /// # fn main() -> hipfile::Result<()> {
    /// let driver = Driver::open()?;
    /// match driver.set_max_direct_io(16 << 20) {
    ///     Ok(()) => assert_eq!(driver.properties()?.max_direct_io, 16 << 20),
    ///     Err(error) => assert_eq!(error.kind(), ErrorKind::Unsupported),
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`set_poll_mode`](Self::set_poll_mode).
    #[doc(alias = "hipFileDriverSetMaxDirectIOSize")]
    pub fn set_max_direct_io(&self, bytes: u64) -> Result<()> {
        self.set("set largest direct transfer", bytes, |api, kib| {
            settings::set_limit(api, Limit::DirectIo, kib)
        })
    }

    /// Sets how many bytes of device memory serve as cache. hipFile 0.2.
    ///
    /// ```
    /// # use hipfile::{Driver, ErrorKind};
    /// # fn main() -> hipfile::Result<()> {
    /// let driver = Driver::open()?;
    /// match driver.set_max_device_cache(128 << 20) {
    ///     Ok(()) => assert_eq!(driver.properties()?.max_device_cache, 128 << 20),
    ///     Err(error) => assert_eq!(error.kind(), ErrorKind::Unsupported),
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`set_poll_mode`](Self::set_poll_mode).
    #[doc(alias = "hipFileDriverSetMaxCacheSize")]
    pub fn set_max_device_cache(&self, bytes: u64) -> Result<()> {
        self.set("set device cache", bytes, |api, kib| settings::set_limit(api, Limit::DeviceCache, kib))
    }

    /// Sets how many bytes of device memory may be pinned. hipFile 0.2.
    ///
    /// ```
    /// # use hipfile::{Driver, ErrorKind};
    /// # fn main() -> hipfile::Result<()> {
    /// let driver = Driver::open()?;
    /// match driver.set_max_pinned_memory(1 << 30) {
    ///     Ok(()) => assert_eq!(driver.properties()?.max_pinned_memory, 1 << 30),
    ///     Err(error) => assert_eq!(error.kind(), ErrorKind::Unsupported),
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`set_poll_mode`](Self::set_poll_mode).
    #[doc(alias = "hipFileDriverSetMaxPinnedMemSize")]
    pub fn set_max_pinned_memory(&self, bytes: u64) -> Result<()> {
        self.set("set pinned memory", bytes, |api, kib| settings::set_limit(api, Limit::PinnedMemory, kib))
    }

    /// Sets a size, which C has in KiB.
    fn set(
        &self,
        operation: &'static str,
        bytes: u64,
        set: impl FnOnce(&sys::Api, usize) -> std::result::Result<(), Cause>,
    ) -> Result<()> {
        let set = || {
            let api = self.inner().live()?;
            set(api, Unit::Kib.theirs(bytes)?).map_err(|cause| match cause {
                Cause::Op(code @ (OpError::DriverUnsupportedLimit | OpError::InvalidValue)) => {
                    Cause::RefusedValue { value: format!("{bytes} bytes"), code }
                }
                other => other,
            })
        };
        set().map_err(|cause| Error::new(operation, cause))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_field_has_its_source_and_unit() {
        let raw = sys::hipFileDriverProps_t {
            nvfs: sys::hipFileNvfsProps_t {
                major_version: 2,
                minor_version: 17,
                poll_thresh_size: 4,
                max_direct_io_size: 16,
                driver_status_flags: 1 << 12 | 1 << 31,
                driver_control_flags: 0b10,
            },
            feature_flags: 0b1001,
            max_device_cache_size: 1,
            per_buffer_cache_size: 2,
            max_device_pinned_mem_size: u64::MAX,
            max_batch_io_count: 128,
            max_batch_io_timeout_msecs: 1500,
        };
        let expected = Properties {
            kernel_driver: (2, 17),
            storage: StorageFlags::SCATE_FS | StorageFlags::from_bits_retain(1 << 31),
            control: ControlFlags::ALLOW_COMPAT_MODE,
            features: FeatureFlags::DYNAMIC_ROUTING | FeatureFlags::PARALLEL_IO,
            poll_threshold: 4096,
            max_direct_io: 16_384,
            max_device_cache: 1024,
            per_buffer_cache: 2048,
            max_pinned_memory: u64::MAX,
            max_batch_len: 128,
            max_batch_time: Duration::from_millis(1500),
        };
        assert_eq!(Properties::of(&raw), expected);
    }
}
