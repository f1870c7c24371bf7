//! A registered file, registered device memory, and plans for both libraries.

use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, Ordering};

use hip_alloc::DeviceBuffer;
use hipfile_tests::raw::{self, Moved};
use hipfile_tests::soft;
pub use hipfile_tests::soft::{held_by_hip, held_by_hipfile, plan_hip, plan_hipfile, set_faults, symbol};

pub const LEN: usize = 64 << 10;

/// Runs `body` in a process of its own under this plan, unless the ROCm has no plans.
pub fn planned(test: &str, plan: &str, variables: &[(&str, &str)], body: impl FnOnce()) {
    let mut environment = vec![("SOFT_ROCM_FAULTS", plan)];
    environment.extend(variables);
    soft::only(test, &environment, body);
}

/// A file of [`LEN`] bytes with a handle, and device memory as long.
pub struct Scene {
    pub file: tempfile::NamedTempFile,
    pub handle: usize,
    pub memory: DeviceBuffer,
}

/// Tells threads to stop when it is dropped, so that a failed test ends.
pub struct StopAtEnd<'a>(pub &'a AtomicBool);

impl Drop for StopAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// All of a transfer moved.
pub const ALL: Moved = Moved::Number(LEN as isize);

/// Bytes that differ from one another.
pub fn pattern(seed: u32) -> Vec<u8> {
    (0..LEN as u32).map(|n| ((n ^ seed).wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

impl Scene {
    pub fn new() -> Self {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), pattern(0)).unwrap();
        assert_eq!(raw::driver_open(), raw::OK);
        let handle = raw::registered(file.as_file().as_raw_fd());
        let memory = DeviceBuffer::zeroed(LEN).unwrap();
        assert_eq!(raw::buffer_register(memory.as_ptr() as usize, LEN), raw::OK);
        Self { file, handle, memory }
    }

    /// The device address.
    pub fn address(&self) -> usize {
        self.memory.as_ptr() as usize
    }

    /// `hipFileRead` of everything.
    pub fn read(&self) -> Moved {
        raw::read(self.handle, self.address(), LEN, 0, 0)
    }

    /// `hipFileWrite` of everything.
    pub fn write(&self) -> Moved {
        raw::write(self.handle, self.address(), LEN, 0, 0)
    }
}
