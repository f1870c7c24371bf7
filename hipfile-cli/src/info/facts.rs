//! What is found out about the ROCm in use.

use std::collections::BTreeMap;
use std::path::PathBuf;

use hipfile::alloc::{Device, DeviceAttribute};
use hipfile::{Driver, Feature, Properties};
use serde::Serialize;

use super::environment::{self, Variable};
use super::limits::Limits;
use crate::failure::Failure;
use crate::runtime::Runtime;
use crate::size::Size;

/// All of it, as `--json` prints it.
#[derive(Debug, Serialize)]
pub struct Info {
    /// The version of this program.
    pub version: &'static str,
    /// Whether the ROCm in use is the software one.
    pub software: bool,
    pub libhipfile: Library,
    pub libamdhip64: Library,
    pub devices: Vec<Gpu>,
    /// By name, whether the library in use has it.
    pub features: BTreeMap<&'static str, bool>,
    /// None where the library has none.
    pub properties: Option<Settings>,
    pub environment: Vec<Variable>,
    pub limits: Limits,
}

#[derive(Debug, Serialize)]
pub struct Library {
    pub path: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Whether it has the functions of the fast path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_functions: Option<bool>,
}

#[derive(Debug, Serialize)]
pub struct Gpu {
    pub id: u32,
    /// As in `0000:03:00.0`.
    pub pci: Option<String>,
    pub memory_total: Size,
    pub memory_free: Size,
}

/// The properties of the driver that are sizes and numbers.
#[derive(Debug, Serialize)]
pub struct Settings {
    pub max_direct_io: Size,
    pub max_device_cache: Size,
    pub per_buffer_cache: Size,
    pub max_pinned_memory: Size,
    pub max_batch_len: u32,
}

impl Info {
    /// Asks the libraries, the environment and the system.
    pub fn collect(runtime: &Runtime) -> Result<Self, Failure> {
        let functions = hipfile::alloc::has_functions(&[c"hipAmdFileRead", c"hipAmdFileWrite"]);
        Ok(Self {
            version: env!("CARGO_PKG_VERSION"),
            software: runtime.software,
            libhipfile: Library {
                path: runtime.hipfile.clone(),
                version: Some(hipfile::version()?.to_string()),
                file_functions: None,
            },
            libamdhip64: Library {
                path: runtime.hip.clone(),
                version: None,
                file_functions: Some(functions),
            },
            devices: devices()?,
            features: features()?,
            properties: properties()?,
            environment: environment::read(|name| std::env::var_os(name)),
            limits: Limits::read(),
        })
    }
}

/// None, rather than an error, where HIP has no device: the rest is worth showing.
fn devices() -> Result<Vec<Gpu>, Failure> {
    let devices = match Device::all() {
        Ok(devices) => devices,
        Err(error) if error.kind() == hipfile::alloc::ErrorKind::NoDevice => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    devices
        .map(|device| {
            let memory = device.memory_info()?;
            Ok(Gpu {
                id: device.ordinal(),
                pci: pci(device),
                memory_total: Size(memory.total as u64),
                memory_free: Size(memory.free as u64),
            })
        })
        .collect()
}

fn pci(device: Device) -> Option<String> {
    let number = |attribute| device.attribute(attribute).ok().and_then(|value| u32::try_from(value).ok());
    let domain = number(DeviceAttribute::PCI_DOMAIN_ID)?;
    let bus = number(DeviceAttribute::PCI_BUS_ID)?;
    let slot = number(DeviceAttribute::PCI_DEVICE_ID)?;
    Some(format!("{domain:04x}:{bus:02x}:{slot:02x}.0"))
}

/// The features that releases and libraries differ in. Host memory is left out: asking needs a device.
const FEATURES: [(Feature, &str); 7] = [
    (Feature::Async, "async"),
    (Feature::AsyncFastPath, "async-fast-path"),
    (Feature::Batch, "batch"),
    (Feature::Stats, "statistics"),
    (Feature::SizeHistograms, "size-histograms"),
    (Feature::Properties, "properties"),
    (Feature::Parameters, "parameters"),
];

fn features() -> Result<BTreeMap<&'static str, bool>, Failure> {
    FEATURES.into_iter().map(|(feature, name)| Ok((name, hipfile::supports(feature)?))).collect()
}

fn properties() -> Result<Option<Settings>, Failure> {
    if !hipfile::supports(Feature::Properties)? {
        return Ok(None);
    }
    let properties: Properties = Driver::open()?.properties()?;
    Ok(Some(Settings {
        max_direct_io: Size(properties.max_direct_io),
        max_device_cache: Size(properties.max_device_cache),
        per_buffer_cache: Size(properties.per_buffer_cache),
        max_pinned_memory: Size(properties.max_pinned_memory),
        max_batch_len: properties.max_batch_len,
    }))
}
