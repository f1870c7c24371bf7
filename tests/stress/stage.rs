//! What the threads share.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;

use hip_alloc::DeviceBuffer;
use hipfile_tests::raw;

/// The bytes of a thread's own range, in files and in device memory.
pub const RANGE: usize = 8192;

/// Files that several threads register, so that they meet.
pub const SHARED: usize = 8;

/// Files and device memory, filled so that each byte says where it belongs.
pub struct Stage {
    folder: tempfile::TempDir,
    shared: Vec<File>,
    memory: DeviceBuffer,
    pub threads: usize,
}

impl Stage {
    pub fn new(threads: usize) -> Self {
        let folder = tempfile::Builder::new()
            .prefix("stress-")
            .tempdir_in(env!("CARGO_TARGET_TMPDIR"))
            .expect("a folder");
        let path = folder.path().join("file");
        let bytes: Vec<u8> = (0..threads * RANGE).map(byte).collect();
        std::fs::write(&path, bytes).expect("the file");
        let shared = (0..SHARED).map(|_| open(&path)).collect();
        let memory = DeviceBuffer::zeroed(threads * RANGE).expect("device memory");
        Self { folder, shared, memory, threads }
    }

    /// Another descriptor of the file.
    pub fn open(&self) -> File {
        open(&self.folder.path().join("file"))
    }

    /// The descriptor of one of the shared files.
    pub fn shared(&self, which: usize) -> i32 {
        self.shared[which % SHARED].as_raw_fd()
    }

    /// The start of a thread's range of device memory.
    pub fn range(&self, thread: usize) -> usize {
        self.memory.as_ptr() as usize + thread * RANGE
    }

    /// Device memory of a thread's range.
    pub fn contents(&self, thread: usize) -> Vec<u8> {
        let mut bytes = vec![0; RANGE];
        self.memory.copy_to_host(thread * RANGE, &mut bytes).expect("a copy from the device");
        bytes
    }

    /// Closes the driver, however often it is open.
    pub fn close(&self) {
        while raw::count() > 0 {
            // Another thread may be the one that closes it.
            raw::driver_close();
        }
    }
}

/// The byte that belongs at an offset of the file.
pub fn byte(offset: usize) -> u8 {
    (offset % 251) as u8
}

fn open(path: &std::path::Path) -> File {
    let file = File::options().read(true).write(true).open(path).expect("the file");
    let mut first = [0];
    file.read_exact_at(&mut first, 0).expect("a byte");
    file
}
