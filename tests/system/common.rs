//! What the tests of this target share.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use hipfile::alloc::DeviceBuffer;
use hipfile::{Driver, FileHandle, OpenOptions, Stats};
use hipfile_tests::library;
use tempfile::TempDir;

/// A folder of one test, gone with it.
pub struct Scratch(TempDir);

impl Scratch {
    pub fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder can be made"))
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A file with this content.
    pub fn file(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, content).expect("a temporary file can be written");
        path
    }
}

/// `len` bytes that repeat nowhere near: a wrong offset shows.
pub fn pattern(len: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut bytes = Vec::with_capacity(len + 8);
    while bytes.len() < len {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.to_le_bytes());
    }
    bytes.truncate(len);
    bytes
}

/// Opens an existing file to read and write.
pub fn open(driver: &Driver, path: &Path) -> FileHandle {
    OpenOptions::new().read(true).write(true).open(driver, path).unwrap()
}

/// Device memory of `len` bytes, all `value`, aligned so that alignment never keeps a transfer off the fast path.
pub fn filled(len: usize, value: u8) -> DeviceBuffer {
    let mut memory = DeviceBuffer::with_alignment(len, 4096).unwrap();
    memory.fill(value).unwrap();
    memory
}

/// Whether libhipfile is the software one: AMD's brings libmount into the process.
pub fn software() -> bool {
    symbol(c"mnt_new_context").is_none()
}

/// Whether HIP is the software one, which can be told how many devices there are. Says so if not.
pub fn software_devices() -> bool {
    let software = symbol(c"softrocm_host_address").is_some();
    if !software {
        println!("skipped: only the software HIP can be told how many devices there are");
    }
    software
}

/// Whether HIP has the functions that the fast path needs.
pub fn has_ais() -> bool {
    symbol(c"hipAmdFileRead").is_some() && symbol(c"hipAmdFileWrite").is_some()
}

fn symbol(name: &std::ffi::CStr) -> Option<*mut libc::c_void> {
    // SAFETY: requires a terminated name; holds for a C string.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!address.is_null()).then_some(address)
}

/// What was counted while `body` ran. Only in a process of its own do others not count too.
pub fn counted(body: impl FnOnce()) -> Stats {
    counted_if_any(body).expect("the library has statistics")
}

/// [`counted`]; none if the library counts nothing.
pub fn counted_if_any(body: impl FnOnce()) -> Option<Stats> {
    let before = library::has_0_5().then(|| hipfile::stats().unwrap());
    body();
    before.map(|before| hipfile::stats().unwrap().since(before))
}

/// Number of open descriptors of this process.
pub fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").expect("procfs is mounted").count()
}

/// The positions of a transfer that moved all of its bytes, or the first `len`.
pub fn whole(len: u64) -> Vec<Range<u64>> {
    std::iter::once(0..len).collect()
}
