//! A file in the page cache, and device memory to read it into.

use std::error::Error;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use hip_alloc::DeviceBuffer;
use hipfile::{Driver, FileHandle, OpenOptions};

/// The driver, and a file of bytes that are not all equal.
pub struct Scene {
    pub driver: Driver,
    pub handle: Arc<FileHandle>,
    /// The same file for pread.
    #[allow(dead_code, reason = "not every benchmark compares with pread")]
    pub file: File,
    // Removed with its file when the scene goes.
    _folder: tempfile::TempDir,
}

impl Scene {
    /// A file of `len` bytes, read once so that the page cache holds it.
    pub fn new(len: usize) -> Result<Self, Box<dyn Error>> {
        let folder = tempfile::tempdir_in(Path::new(env!("CARGO_TARGET_TMPDIR")))?;
        let path = folder.path().join("file");
        let bytes: Vec<u8> = (0..len).map(|i| (i % 251) as u8).collect();
        std::fs::write(&path, &bytes)?;
        let file = File::open(&path)?;
        let mut back = vec![0; len];
        file.read_exact_at(&mut back, 0)?;
        let driver = Driver::open()?;
        let handle = Arc::new(OpenOptions::new().read(true).open(&driver, &path)?);
        Ok(Self { driver, handle, file, _folder: folder })
    }

    /// Whether the first `len` bytes of the memory are those of the file.
    pub fn arrived(&self, memory: &DeviceBuffer, len: usize) -> bool {
        let there = memory.to_vec().unwrap_or_default();
        there
            .get(..len)
            .is_some_and(|there| there.iter().enumerate().all(|(i, byte)| *byte == (i % 251) as u8))
    }
}
