//! GPUs, by ordinal.

use core::ffi::c_int;

use crate::error::{Cause, Error, Result};
use crate::ffi::Functions;
use crate::guard::DeviceGuard;
use crate::hip_error::HipError;
use crate::table;

/// A GPU that HIP knows, by its ordinal.
///
/// ```
/// # fn main() -> hip_alloc::Result<()> {
/// use hip_alloc::Device;
///
/// for device in Device::all()? {
///     let memory = device.memory_info()?;
///     println!("device {}: {} of {} bytes free", device.ordinal(), memory.free, memory.total);
/// }
/// assert!(Device::new(Device::count()?).is_err()); // the first ordinal is 0
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Device(u32);

/// How much memory a device has: see [`Device::memory_info`].
///
/// ```
/// # fn main() -> hip_alloc::Result<()> {
/// use hip_alloc::{Device, MemoryInfo};
///
/// let MemoryInfo { free, total, .. } = Device::current()?.memory_info()?;
/// assert!(free <= total);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct MemoryInfo {
    /// Bytes that were free at the time of asking.
    pub free: usize,
    /// Bytes in all.
    pub total: usize,
}

impl Device {
    /// How many devices there are; 0 where HIP answers `hipErrorNoDevice`.
    ///
    /// # Errors
    /// HIP is missing ([`ErrorKind::NotLoaded`](crate::ErrorKind::NotLoaded)) or the call failed.
    #[doc(alias = "hipGetDeviceCount")]
    pub fn count() -> Result<u32> {
        const OPERATION: &str = "Device::count";
        count(OPERATION, table::functions(OPERATION)?)
    }

    /// The device with this ordinal: the first is 0.
    ///
    /// # Errors
    /// [`ErrorKind::NoDevice`](crate::ErrorKind::NoDevice) if there is none; else as [`count`](Self::count).
    pub fn new(ordinal: u32) -> Result<Self> {
        const OPERATION: &str = "Device::new";
        let count = count(OPERATION, table::functions(OPERATION)?)?;
        if ordinal < count {
            Ok(Self(ordinal))
        } else {
            Err(Error::new(OPERATION, Cause::NoDevice { ordinal, count }))
        }
    }

    /// Every device, in the order of their ordinals.
    ///
    /// # Errors
    /// As [`count`](Self::count).
    pub fn all() -> Result<impl ExactSizeIterator<Item = Self> + Clone + core::fmt::Debug> {
        const OPERATION: &str = "Device::all";
        Ok((0..count(OPERATION, table::functions(OPERATION)?)?).map(Self as fn(u32) -> Self))
    }

    /// The calling thread's current device.
    ///
    /// # Errors
    /// [`ErrorKind::NoDevice`](crate::ErrorKind::NoDevice) where there is none; else as [`count`](Self::count).
    #[doc(alias = "hipGetDevice")]
    pub fn current() -> Result<Self> {
        const OPERATION: &str = "Device::current";
        current(OPERATION, table::functions(OPERATION)?)
    }

    /// The device's number in HIP; the first is 0.
    #[must_use]
    pub const fn ordinal(self) -> u32 {
        self.0
    }

    /// Makes this device current on the calling thread until the guard is dropped.
    ///
    /// Costs one call of HIP if it is current already. Nothing in this crate needs it except the constructors of
    /// [`DeviceBuffer`](crate::DeviceBuffer), which use the current device.
    ///
    /// # Errors
    /// HIP's, if the device cannot be used; the current device is then what it was.
    #[doc(alias = "hipSetDevice")]
    #[inline]
    pub fn make_current(self) -> Result<DeviceGuard> {
        const OPERATION: &str = "Device::make_current";
        self.enter(OPERATION, table::functions(OPERATION)?)
    }

    /// The device's free and total memory in bytes.
    ///
    /// # Errors
    /// HIP's, if the device cannot be used.
    #[doc(alias = "hipMemGetInfo")]
    pub fn memory_info(self) -> Result<MemoryInfo> {
        const OPERATION: &str = "Device::memory_info";
        let hip = table::functions(OPERATION)?;
        let _guard = self.enter(OPERATION, hip)?;
        let (free, total) = hip.memory_info().map_err(Error::hip(OPERATION))?;
        Ok(MemoryInfo { free, total })
    }

    /// Makes this device current for the rest of the caller's scope.
    #[inline]
    pub(crate) fn enter(self, operation: &'static str, hip: &'static Functions) -> Result<DeviceGuard> {
        DeviceGuard::enter(hip, self.index()).map_err(Error::hip(operation))
    }

    /// The ordinal as HIP takes it. It is below the count of devices, which is an int.
    #[inline]
    pub(crate) fn index(self) -> c_int {
        c_int::try_from(self.0).unwrap_or(c_int::MAX)
    }
}

pub(crate) fn current(operation: &'static str, hip: &'static Functions) -> Result<Device> {
    let ordinal = hip.current_device().map_err(Error::hip(operation))?;
    // HIP has no negative ordinals; one would mean that no device is current.
    let none = |_| Error::new(operation, Cause::NoDevice { ordinal: 0, count: 0 });
    u32::try_from(ordinal).map(Device).map_err(none)
}

fn count(operation: &'static str, hip: &'static Functions) -> Result<u32> {
    match hip.device_count() {
        Ok(count) => Ok(u32::try_from(count).unwrap_or(0)),
        Err(failure) if failure.error == HipError::NO_DEVICE => Ok(0),
        Err(failure) => Err(Error::hip(operation)(failure)),
    }
}
