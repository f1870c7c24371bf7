//! A file in the page cache, registered, and registered device memory of its size.

use std::ffi::c_void;
use std::os::fd::{AsRawFd, RawFd};

use hip_alloc::DeviceBuffer;
use hipfile::Registered;
use hipfile_sys::{Api, hipFileError_t, hipFileHandle_t};

use crate::Result;
use crate::scene::Scene;

pub struct Stage {
    pub api: &'static Api,
    scene: Scene,
    memory: Registered<DeviceBuffer>,
}

impl Stage {
    pub fn new(len: usize) -> Result<Self> {
        let scene = Scene::new(len)?;
        let memory = scene.driver.register(DeviceBuffer::zeroed(len)?)?;
        Ok(Self { api: hipfile_sys::api::get()?, scene, memory })
    }

    pub fn handle(&self) -> hipFileHandle_t {
        self.scene.handle.as_raw()
    }

    pub fn base(&self) -> *mut c_void {
        self.memory.as_ptr()
    }

    /// The same file for pread.
    pub fn fd(&self) -> RawFd {
        self.scene.file.as_raw_fd()
    }

    /// Whether the device memory is what the file is, so that an engine which does nothing does not win.
    pub fn verify(&self) -> Result<()> {
        let arrived = self.scene.arrived(self.memory.memory(), self.memory.len());
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
