//! Transfers on streams.

mod after;
mod flags;
mod late;
mod outcomes;
mod owned;
mod registration;
mod scoped;

use std::path::PathBuf;
use std::sync::Arc;

use hipfile::alloc::Stream;
use hipfile::{Driver, FileHandle, Region, RegisteredStream, Request, StreamFlags};
use hipfile_tests::soft;

use crate::common::{Scratch, filled, has_ais, open, pattern};

pub const PAGE: usize = 4096;
/// Everything goes through host memory.
pub const FALLBACK: [(&str, &str); 1] = [("HIPFILE_FORCE_COMPAT_MODE", "true")];
const FAST: [(&str, &str); 2] =
    [("HIPFILE_UNSUPPORTED_FILE_SYSTEMS", "true"), ("HIPFILE_ALLOW_COMPAT_MODE", "false")];

/// Runs `body` in a process where what is aligned goes by the fast path, or fails. Without HIP's file functions all would.
pub fn only_fast(test: &str, body: impl FnOnce()) {
    if !has_ais() {
        return println!("{test} skipped: HIP has no file functions");
    }
    soft::only(test, &FAST, body);
}

/// Makes a request of one of the two ways.
pub type Make = fn(&Arc<FileHandle>, Region, u64) -> Request;
/// Both, as errors name them.
pub const WAYS: [(&str, Make); 2] = [("read", Request::read), ("write", Request::write)];

/// A driver, and a file of `len` bytes that is open to read and write.
pub struct World {
    pub driver: Driver,
    pub file: Arc<FileHandle>,
    pub content: Vec<u8>,
    pub path: PathBuf,
    _scratch: Scratch,
}

impl World {
    pub fn new(len: usize) -> Self {
        let scratch = Scratch::new();
        let content = pattern(len, 40);
        let path = scratch.file("data", &content);
        let driver = Driver::open().unwrap();
        let file = Arc::new(open(&driver, &path));
        Self { driver, file, content, path, _scratch: scratch }
    }

    /// Registered memory of `len` bytes, all `value`.
    pub fn region(&self, len: usize, value: u8) -> Region {
        self.driver.register(filled(len, value)).unwrap().into_region()
    }

    /// Registered memory with this content.
    pub fn region_of(&self, content: &[u8]) -> Region {
        let mut memory = filled(content.len(), 0);
        memory.copy_from_host(0, content).unwrap();
        self.driver.register(memory).unwrap().into_region()
    }

    pub fn stream(&self, flags: StreamFlags) -> RegisteredStream {
        RegisteredStream::new(&self.driver, Stream::new().unwrap(), flags).unwrap()
    }

    /// What the file has now.
    pub fn file_content(&self) -> Vec<u8> {
        std::fs::read(&self.path).unwrap()
    }
}

/// The bytes of a region.
pub fn bytes(region: &Region) -> Vec<u8> {
    region.slice(..).unwrap().as_device().to_vec().unwrap()
}

/// Every combination of the three flags, with and without the fourth.
pub fn combinations() -> impl Iterator<Item = StreamFlags> {
    (0..=StreamFlags::all().bits()).map(StreamFlags::from_bits_truncate)
}
