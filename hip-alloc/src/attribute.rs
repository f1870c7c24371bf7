//! What a device is like, by number.

use crate::device::Device;
use crate::error::{Error, Result};
use crate::table;

/// A property of devices that HIP tells as one number (C: `hipDeviceAttribute_t`), known to this crate or not.
///
/// The numbers are those that HIP has had since 5.2; any other one of HIP's can be made with `from`.
///
/// ```
/// # fn main() -> hip_alloc::Result<()> {
/// use hip_alloc::{Device, DeviceAttribute};
///
/// let device = Device::current()?;
/// println!("{} lanes in a wavefront", device.attribute(DeviceAttribute::WARP_SIZE)?);
/// assert_eq!(DeviceAttribute::from(87), DeviceAttribute::WARP_SIZE);
/// assert_eq!(DeviceAttribute::WARP_SIZE.code(), 87);
/// assert!(device.attribute(DeviceAttribute::from(u32::MAX)).is_err());
/// # Ok(())
/// # }
/// ```
#[doc(alias = "hipDeviceAttribute_t")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DeviceAttribute(u32);

impl DeviceAttribute {
    /// Clock of the compute units in kHz.
    #[doc(alias = "hipDeviceAttributeClockRate")]
    pub const CLOCK_RATE: Self = Self(5);
    /// 1 if the device shares its memory with the host.
    #[doc(alias = "hipDeviceAttributeIntegrated")]
    pub const INTEGRATED: Self = Self(16);
    /// Size of the level 2 cache in bytes.
    #[doc(alias = "hipDeviceAttributeL2CacheSize")]
    pub const L2_CACHE_SIZE: Self = Self(19);
    /// Major number of the compute capability.
    #[doc(alias = "hipDeviceAttributeComputeCapabilityMajor")]
    pub const COMPUTE_CAPABILITY_MAJOR: Self = Self(23);
    /// Most threads in one block.
    #[doc(alias = "hipDeviceAttributeMaxThreadsPerBlock")]
    pub const MAX_THREADS_PER_BLOCK: Self = Self(56);
    /// Width of the memory bus in bits.
    #[doc(alias = "hipDeviceAttributeMemoryBusWidth")]
    pub const MEMORY_BUS_WIDTH: Self = Self(59);
    /// Minor number of the compute capability.
    #[doc(alias = "hipDeviceAttributeComputeCapabilityMinor")]
    pub const COMPUTE_CAPABILITY_MINOR: Self = Self(61);
    /// Number of compute units.
    #[doc(alias = "hipDeviceAttributeMultiprocessorCount")]
    pub const MULTIPROCESSOR_COUNT: Self = Self(63);
    /// Number of the PCI bus.
    #[doc(alias = "hipDeviceAttributePciBusId")]
    pub const PCI_BUS_ID: Self = Self(67);
    /// Number of the device on its PCI bus.
    #[doc(alias = "hipDeviceAttributePciDeviceId")]
    pub const PCI_DEVICE_ID: Self = Self(68);
    /// Number of the PCI domain.
    #[doc(alias = "hipDeviceAttributePciDomainID")]
    pub const PCI_DOMAIN_ID: Self = Self(69);
    /// Number of lanes in a wavefront.
    #[doc(alias = "hipDeviceAttributeWarpSize")]
    pub const WARP_SIZE: Self = Self(87);
    /// 1 if the device has memory pools, for allocations in the order of a stream.
    #[doc(alias = "hipDeviceAttributeMemoryPoolsSupported")]
    pub const MEMORY_POOLS_SUPPORTED: Self = Self(88);
    /// 1 if the host reaches all of the device's memory over the bus, which hipFile's fast path needs.
    #[doc(alias = "hipDeviceAttributeIsLargeBar")]
    pub const IS_LARGE_BAR: Self = Self(10011);

    /// HIP's number.
    #[must_use]
    pub const fn code(self) -> u32 {
        self.0
    }
}

impl From<u32> for DeviceAttribute {
    fn from(code: u32) -> Self {
        Self(code)
    }
}

impl From<DeviceAttribute> for u32 {
    fn from(attribute: DeviceAttribute) -> Self {
        attribute.0
    }
}

impl Device {
    /// What HIP says of an attribute of this device: units are the attribute's.
    ///
    /// # Errors
    /// HIP's: [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput) if this HIP does not know the attribute.
    #[doc(alias = "hipDeviceGetAttribute")]
    pub fn attribute(self, attribute: DeviceAttribute) -> Result<i32> {
        const OPERATION: &str = "Device::attribute";
        let hip = table::functions(OPERATION)?;
        hip.device_attribute(attribute.code(), self.index()).map_err(Error::hip(OPERATION))
    }
}
