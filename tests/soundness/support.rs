//! What the tests of this target share.

use std::ffi::c_void;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};

use hipfile::alloc::{
    Device, DeviceBuffer, DeviceMemory, DeviceMemoryMut, DeviceSlice, Stream, StreamOptions,
};
use hipfile::{Driver, FileHandle, OpenOptions};
use tempfile::TempDir;

/// A file in a folder of its own, opened by hipFile to read and write.
pub struct Prepared {
    pub driver: Driver,
    pub file: Arc<FileHandle>,
    pub path: PathBuf,
    _folder: TempDir,
}

/// Device memory that sends its content when it goes.
pub struct Watched {
    memory: DeviceBuffer,
    gone: Sender<Vec<u8>>,
}

impl Watched {
    /// So many zeros, and where the content will come.
    pub fn new(size: usize) -> (Self, Receiver<Vec<u8>>) {
        let (gone, content) = std::sync::mpsc::channel();
        (Self { memory: DeviceBuffer::zeroed(size).unwrap(), gone }, content)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        // Nobody may want to know.
        let _ = self.gone.send(self.memory.to_vec().unwrap());
    }
}

// SAFETY: requires a stable description of memory that goes only with the value and is written through `&mut` only; holds as
// for the buffer, which nothing takes out.
unsafe impl DeviceMemory for Watched {
    fn as_ptr(&self) -> *mut c_void {
        self.memory.as_ptr()
    }

    fn len(&self) -> usize {
        self.memory.len()
    }

    fn device(&self) -> Device {
        self.memory.device()
    }
}

// SAFETY: requires exclusive memory; holds because the buffer's is, and nothing hands it out.
unsafe impl DeviceMemoryMut for Watched {}

/// Not ordered with the default stream, so that nothing waits for it by the way.
pub fn stream() -> Stream {
    StreamOptions::new().non_blocking(true).create().unwrap()
}

/// Opens the driver and a file with these bytes.
pub fn prepared(bytes: &[u8]) -> Prepared {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = folder.path().join("file");
    fs::write(&path, bytes).unwrap();
    let driver = Driver::open().unwrap();
    let file = OpenOptions::new().read(true).write(true).open(&driver, &path).unwrap().into();
    Prepared { driver, file, path, _folder: folder }
}

/// Bytes that differ from place to place.
pub fn pattern(size: usize, seed: u8) -> Vec<u8> {
    (0..size).map(|index| (index ^ (index >> 8) ^ (index >> 16)) as u8 ^ seed).collect()
}

/// Whether the library has a registration at exactly this address. It has none afterwards that it had not before.
pub fn library_knows(address: *mut c_void) -> bool {
    let api = hipfile::sys::api::get().unwrap();
    // SAFETY: requires nothing; memory that is not the device's is refused, and a registration made here is undone.
    let answer = unsafe { (api.hipFileBufRegister)(address, 1, 0) };
    match answer.err.0 {
        5023 => true,
        0 => {
            // SAFETY: requires nothing; the registration is the one just made.
            let undone = unsafe { (api.hipFileBufDeregister)(address) };
            assert_eq!(undone.err.0, 0);
            false
        }
        // Not device memory (any more), so surely not registered under this check's eyes; ask the other way.
        _ => {
            // SAFETY: requires nothing; an unknown base is an error.
            let removed = unsafe { (api.hipFileBufDeregister)(address) };
            assert_ne!(removed.err.0, 0, "freed memory was still registered");
            false
        }
    }
}

/// Allocates until the address comes again, as it does at once in a runtime that reuses freed memory.
pub fn allocate_at(address: *mut c_void, size: usize) -> Option<DeviceBuffer> {
    let mut others = Vec::new();
    for _ in 0..16 {
        let memory = DeviceBuffer::new(size).unwrap();
        if memory.as_ptr() == address {
            return Some(memory);
        }
        others.push(memory);
    }
    println!("HIP does not give the address out again");
    None
}

/// What is in memory that safe code has let go of.
pub fn content(address: usize, size: usize) -> Vec<u8> {
    let (address, device) = (std::ptr::without_provenance_mut(address), Device::current().unwrap());
    // SAFETY: requires allocated device memory of that size; holds because it was leaked or is held by the caller.
    let slice = unsafe { DeviceSlice::from_raw_parts(address, size, device) };
    slice.to_vec().unwrap()
}

/// New allocations do not meet this memory. They are returned, since HIP frees nothing while a stream is held.
pub fn assert_never_given_out(address: usize, size: usize) -> Vec<DeviceBuffer> {
    let others: Vec<_> = (0..16).map(|_| DeviceBuffer::new(size).unwrap()).collect();
    for other in &others {
        assert!(other.as_ptr().addr().abs_diff(address) >= size);
    }
    others
}
