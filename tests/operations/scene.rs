//! What the tests of this target share: a file, memory, streams, and what the process has of each.

use std::ffi::c_void;
use std::fs;
use std::process;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use hipfile::alloc::{self, Device, DeviceBuffer, Leaked, Stream};
use hipfile::{Driver, FileHandle, OpenOptions, Region, RegisteredStream, StreamFlags};
use tempfile::TempDir;

/// A file of a pattern that no two aligned places share, open to read.
pub struct Scene {
    pub driver: Driver,
    pub file: Arc<FileHandle>,
    pub content: Vec<u8>,
    _folder: TempDir,
}

impl Scene {
    pub fn new(size: usize) -> Self {
        // What blocks although it must not would block for ever.
        thread::spawn(|| {
            thread::sleep(Duration::from_secs(300));
            eprintln!("still not done");
            process::abort();
        });
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let path = folder.path().join("file");
        let content: Vec<u8> =
            (0..size as u64 / 8).flat_map(|word| (word * 0x9e37_79b9 + 1).to_le_bytes()).collect();
        fs::write(&path, &content).unwrap();
        let driver = Driver::open().unwrap();
        let file = Arc::new(OpenOptions::new().read(true).open(&driver, &path).unwrap());
        Self { driver, file, content, _folder: folder }
    }

    /// Registered memory in `count` regions of `len` bytes.
    pub fn regions(&self, count: usize, len: usize) -> Vec<Region> {
        let memory = self.driver.register(DeviceBuffer::new(count * len).unwrap()).unwrap();
        memory.into_regions(len).unwrap().collect()
    }

    pub fn stream(&self) -> RegisteredStream {
        RegisteredStream::new(&self.driver, Stream::new().unwrap(), StreamFlags::default()).unwrap()
    }

    /// What the process holds, once everything that is made at the first use, of the stream too, has been made.
    pub fn held(&self, stream: &RegisteredStream) -> Held {
        let free = free_device_memory();
        let read = || self.file.read_owned(stream, self.regions(1, 4096).remove(0), 0);
        let done = read().wait().unwrap();
        assert!(self.has(&done.region, 0));
        drop((done, read()));
        while free_device_memory() != free {
            thread::yield_now();
        }
        let held = Held::now();
        assert_eq!(held.threads, 1, "one thread completes operations");
        held
    }

    /// Whether the region has the bytes of the file at `offset`.
    pub fn has(&self, region: &Region, offset: usize) -> bool {
        let mut bytes = vec![0; region.len()];
        region.slice(..).unwrap().as_device().copy_to_host(0, &mut bytes).unwrap();
        bytes == self.content[offset..][..region.len()]
    }
}

/// What this process holds, to be the same before and after.
#[derive(Debug, PartialEq, Eq)]
pub struct Held {
    descriptors: usize,
    /// Those that complete operations. The software ROCm has as many as it likes.
    threads: usize,
    free_device_memory: usize,
    leaked: Leaked,
}

impl Held {
    pub fn now() -> Self {
        let names = fs::read_dir("/proc/self/task").unwrap().flatten();
        // A thread may end meanwhile.
        let names = names.filter_map(|thread| fs::read_to_string(thread.path().join("comm")).ok());
        Self {
            descriptors: fs::read_dir("/proc/self/fd").unwrap().count(),
            threads: names.filter(|name| name == "hip-completion\n").count(),
            free_device_memory: free_device_memory(),
            leaked: alloc::leaked(),
        }
    }

    /// Asserts that it is so again, within a while: what was dropped unfinished is taken apart by another thread.
    pub fn again(&self) {
        let end = Instant::now() + Duration::from_secs(60);
        while Self::now() != *self && Instant::now() < end {
            thread::yield_now();
        }
        assert_eq!(Self::now(), *self);
        assert_eq!(self.leaked, Leaked::default());
    }
}

fn free_device_memory() -> usize {
    Device::current().unwrap().memory_info().unwrap().free
}

/// Whether the library has a registration at exactly this address, where there is no device memory any more.
pub fn library_knows(address: *mut c_void) -> bool {
    let api = hipfile::sys::api::get().unwrap();
    // SAFETY: requires nothing: an unknown base is an error.
    unsafe { (api.hipFileBufDeregister)(address) }.err.0 == 0
}
