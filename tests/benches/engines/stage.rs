//! A file in the page cache, registered, and registered device memory of its size.

use std::cell::RefCell;
use std::ffi::c_void;
use std::os::fd::{AsRawFd, RawFd};
use std::ptr;

use hip_alloc::DeviceBuffer;
use hipfile::Registered;
use hipfile_sys::{Api, hipFileError_t, hipFileHandle_t};

use crate::Result;
use crate::scene::Scene;

pub struct Stage {
    pub api: &'static Api,
    pub scene: Scene,
    /// None while an engine owns it.
    memory: RefCell<Option<Registered<DeviceBuffer>>>,
}

impl Stage {
    pub fn new(len: usize) -> Result<Self> {
        let scene = Scene::new(len)?;
        let memory = RefCell::new(Some(scene.driver.register(DeviceBuffer::zeroed(len)?)?));
        Ok(Self { api: hipfile_sys::api::get()?, scene, memory })
    }

    pub fn handle(&self) -> hipFileHandle_t {
        self.scene.handle.as_raw()
    }

    pub fn base(&self) -> *mut c_void {
        self.memory.borrow().as_ref().map_or(ptr::null_mut(), Registered::as_ptr)
    }

    /// The memory, for an engine that owns what it reads into.
    pub fn take_memory(&self) -> Result<Registered<DeviceBuffer>> {
        self.memory.take().ok_or_else(|| "the memory is in use".into())
    }

    pub fn give_memory_back(&self, memory: Registered<DeviceBuffer>) {
        self.memory.replace(Some(memory));
    }

    /// The same file for pread.
    pub fn fd(&self) -> RawFd {
        self.scene.file.as_raw_fd()
    }

    /// Whether the device memory is what the file is, so that an engine which does nothing does not win.
    pub fn verify(&self) -> Result<()> {
        let memory = self.take_memory()?;
        let arrived = self.scene.arrived(memory.memory(), memory.len());
        self.give_memory_back(memory);
        if arrived { Ok(()) } else { Err("the bytes did not arrive".into()) }
    }
}

/// An error that names the function.
pub fn check(function: &str, status: hipFileError_t) -> Result<()> {
    match (status.err.0, status.hip_drv_err.0) {
        (0, _) => Ok(()),
        (code, hip) => Err(format!("{function} failed: {code}, HIP {hip}").into()),
    }
}
