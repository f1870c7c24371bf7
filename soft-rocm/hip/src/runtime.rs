//! The runtime of this process.

use std::cell::Cell;
use std::error::Error;
use std::io::{self, Write};
use std::sync::OnceLock;

use crate::backing::{Backing, Host};
use crate::bindings::{hipError_t, hipErrorInvalidDevice, hipErrorNotInitialized};
use crate::config::{Config, Leaks, MadeOf, Strict};
use crate::cuda::Gpus;
use crate::devices::Device;
use crate::event::Events;
use crate::memory::Memory;
use crate::stream::Streams;
use crate::{fork, touch};

/// What the environment asked for at first use.
#[derive(Debug)]
pub(crate) struct Runtime {
    devices: Vec<Device>,
    device_memory: usize,
    leaks: Leaks,
    file_alignment: u64,
    /// None if there is no device.
    memory: Option<Memory>,
    streams: Streams,
    events: Events,
}

thread_local! {
    static CURRENT_DEVICE: Cell<u32> = const { Cell::new(0) };
}

static RUNTIME: OnceLock<Option<Runtime>> = OnceLock::new();

/// The runtime, if a call has started it.
pub(crate) fn started() -> Option<&'static Runtime> {
    RUNTIME.get()?.as_ref()
}

/// The runtime, started by the first call.
#[inline]
pub(crate) fn runtime() -> Result<&'static Runtime, hipError_t> {
    if !fork::enter() {
        return Err(hipErrorNotInitialized);
    }
    RUNTIME.get_or_init(start_from_env).as_ref().ok_or(hipErrorNotInitialized)
}

/// The memory of the runtime, for calls that need a device.
#[inline]
pub(crate) fn memory() -> Result<&'static Memory, hipError_t> {
    runtime()?.memory().ok_or(hipErrorInvalidDevice)
}

/// The streams of the runtime, for calls that need a device.
#[inline]
pub(crate) fn streams() -> Result<&'static Streams, hipError_t> {
    let runtime = runtime()?;
    if runtime.devices.is_empty() { Err(hipErrorInvalidDevice) } else { Ok(&runtime.streams) }
}

/// The events of the runtime, for calls that need a device.
#[inline]
pub(crate) fn events() -> Result<&'static Events, hipError_t> {
    let runtime = runtime()?;
    if runtime.devices.is_empty() { Err(hipErrorInvalidDevice) } else { Ok(&runtime.events) }
}

/// The calling thread's current device. There is one whenever there is [`memory`].
pub(crate) fn current_device() -> u32 {
    CURRENT_DEVICE.get()
}

/// Makes a device current for the calling thread.
pub(crate) fn set_current_device(device: u32) {
    CURRENT_DEVICE.set(device);
}

#[cold]
fn start_from_env() -> Option<Runtime> {
    let started = Config::read(|name| std::env::var_os(name)).map_err(Into::into).and_then(Runtime::start);
    match started {
        Ok(runtime) => Some(runtime),
        Err(error) => {
            // Without a place to write to, the error code has to do.
            let _ = writeln!(io::stderr(), "soft-rocm: {error}");
            None
        }
    }
}

impl Runtime {
    fn start(config: Config) -> Result<Runtime, Box<dyn Error>> {
        let (readable, explains) = (config.strict == Strict::Readable, config.strict == Strict::Abort);
        let backing = match (config.made_of, config.devices) {
            (_, Some(0)) => None,
            (MadeOf::Host, _) => {
                let (devices, per_device) = config.on_host();
                Some(Backing::Host(Host::new(devices, per_device, readable)?))
            }
            (MadeOf::Cuda, devices) => {
                Some(Backing::Gpus(Box::new(Gpus::start(devices, config.device_memory)?)))
            }
        };
        // NVIDIA's driver may have none.
        let backing = backing.filter(|backing| backing.devices() > 0);
        let names = backing.as_ref().map(Backing::names).unwrap_or_default();
        let devices = names.len() as u32;
        let memory = backing.map(|backing| Memory::new(backing, explains));
        if explains {
            touch::watch();
        }
        Ok(Runtime {
            devices: names.into_iter().map(Device::new).collect(),
            device_memory: memory.as_ref().map_or(0, Memory::per_device),
            leaks: config.leaks,
            file_alignment: config.file_alignment,
            memory,
            streams: Streams::new(devices, config.lazy_streams),
            events: Events::new(),
        })
    }

    /// Number of devices.
    pub(crate) fn devices(&self) -> u32 {
        self.devices.len() as u32
    }

    /// The memory, if there is a device.
    #[inline]
    pub(crate) fn memory(&self) -> Option<&Memory> {
        self.memory.as_ref()
    }

    /// What is to be done about memory that was not freed.
    pub(crate) fn leaks(&self) -> Leaks {
        self.leaks
    }

    /// What offsets, sizes and addresses of file functions have to be multiples of.
    #[cfg_attr(not(feature = "ais"), allow(dead_code, reason = "there are no file functions"))]
    pub(crate) fn file_alignment(&self) -> u64 {
        self.file_alignment
    }

    /// Memory of each device.
    pub(crate) fn device_memory(&self) -> usize {
        self.device_memory
    }

    /// The calling thread's current device.
    pub(crate) fn current(&self) -> Result<&Device, hipError_t> {
        self.devices.get(current_device() as usize).ok_or(hipErrorInvalidDevice)
    }

    /// What a device is called.
    pub(crate) fn name(&self, device: u32) -> &str {
        self.devices.get(device as usize).map_or("", Device::name)
    }

    /// The device with that ordinal, as a program writes it.
    pub(crate) fn device(&self, ordinal: i32) -> Result<u32, hipError_t> {
        u32::try_from(ordinal).ok().filter(|device| *device < self.devices()).ok_or(hipErrorInvalidDevice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runtime(devices: u32) -> Runtime {
        Runtime::start(Config { devices: Some(devices), device_memory: Some(4096), ..Config::DEFAULT })
            .unwrap()
    }

    #[test]
    fn ordinals_end_at_the_number_of_devices() {
        let three = runtime(3);
        assert_eq!(three.devices(), 3);
        assert_eq!([0, 2].map(|ordinal| three.device(ordinal)), [Ok(0), Ok(2)]);
        for wrong in [3, -1, i32::MIN, i32::MAX] {
            assert_eq!(three.device(wrong), Err(hipErrorInvalidDevice));
        }
    }

    #[test]
    fn without_devices_there_is_no_memory_and_no_ordinal() {
        let none = runtime(0);
        assert!(none.memory.is_none());
        assert_eq!(none.device(0), Err(hipErrorInvalidDevice));
    }

    #[test]
    fn every_thread_starts_with_the_first_device() {
        set_current_device(1);
        assert_eq!(std::thread::spawn(current_device).join().unwrap(), 0);
        assert_eq!(current_device(), 1);
        set_current_device(0);
    }
}
