//! Files to test with, in a folder of their own that goes away.

use std::ffi::CString;
use std::fs;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// Where files are made: `HIPFILE_TEST_DIR`, or cargo's folder for such things.
pub fn folder() -> PathBuf {
    std::env::var_os("HIPFILE_TEST_DIR").map_or_else(|| env!("CARGO_TARGET_TMPDIR").into(), PathBuf::from)
}

/// A file and a descriptor of it.
#[derive(Debug)]
pub struct File {
    /// The descriptor.
    pub fd: OwnedFd,
    path: PathBuf,
    _folder: TempDir,
}

/// Opens a path with these flags.
pub fn open(path: &Path, flags: i32) -> OwnedFd {
    let name = CString::new(path.as_os_str().as_bytes()).expect("a path");
    // SAFETY: requires a terminated path; holds because it comes from a CString.
    let fd = unsafe { libc::open(name.as_ptr(), flags | libc::O_CLOEXEC, 0o600) };
    assert!(fd >= 0, "open {}: {}", path.display(), std::io::Error::last_os_error());
    own(fd)
}

/// Takes a descriptor that a system call has just given.
pub fn own(fd: RawFd) -> OwnedFd {
    assert!(fd >= 0, "a descriptor: {}", std::io::Error::last_os_error());
    // SAFETY: requires a descriptor nobody else owns; holds because the caller has just made it.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

impl File {
    /// An empty file, open for reading and writing without O_DIRECT.
    pub fn empty() -> Self {
        Self::of(&[])
    }

    /// A file with these bytes, open for reading and writing without O_DIRECT.
    pub fn of(bytes: &[u8]) -> Self {
        Self::opened(bytes, libc::O_RDWR)
    }

    /// A file with these bytes, opened with these flags.
    pub fn opened(bytes: &[u8], flags: i32) -> Self {
        Self::opened_in(&folder(), bytes, flags)
    }

    /// A file in a folder of another file system.
    pub fn opened_in(parent: &Path, bytes: &[u8], flags: i32) -> Self {
        let folder = tempfile::tempdir_in(parent).expect("a temporary folder");
        let path = folder.path().join("file");
        fs::write(&path, bytes).expect("a file in it");
        Self { fd: open(&path, flags), path, _folder: folder }
    }

    /// The number of the descriptor.
    pub fn number(&self) -> RawFd {
        self.fd.as_raw_fd()
    }

    /// Registers the descriptor with hipFile.
    pub fn registered(&self) -> usize {
        crate::raw::registered(self.number())
    }

    /// The path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What is in the file now, through the page cache.
    pub fn bytes(&self) -> Vec<u8> {
        fs::read(&self.path).expect("the file can be read")
    }

    /// Its size.
    pub fn size(&self) -> u64 {
        fs::metadata(&self.path).expect("the file is there").len()
    }

    /// Closes the descriptor by its number, as a careless program does.
    pub fn close(self) -> RawFd {
        let number = self.number();
        drop(self);
        number
    }

    /// Closes the descriptor and keeps the file.
    pub fn close_keeping(self) -> (RawFd, TempDir) {
        let number = self.fd.as_raw_fd();
        drop(self.fd);
        (number, self._folder)
    }
}

/// Bytes that differ from place to place, so that a shift or a swap shows.
pub fn pattern(size: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut bytes = Vec::with_capacity(size + 8);
    while bytes.len() < size {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.to_le_bytes());
    }
    bytes.truncate(size);
    bytes
}

/// Registers the file and closes the descriptors that the library opened for it.
pub fn registered_then_robbed(file: &File) -> usize {
    let before = open_descriptors();
    let handle = file.registered();
    for fd in open_descriptors().into_iter().filter(|fd| !before.contains(fd)) {
        // SAFETY: requires nothing of ours; taking the library's descriptor away is what this is about.
        assert_eq!(unsafe { libc::close(fd) }, 0);
    }
    handle
}

/// The descriptors this process has open.
pub fn open_descriptors() -> Vec<RawFd> {
    let listing = fs::read_dir("/proc/self/fd").expect("/proc is mounted");
    let mut numbers: Vec<RawFd> =
        listing.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect();
    // The listing's own descriptor was among them and is closed now.
    // SAFETY: requires nothing; a closed descriptor is an error.
    numbers.retain(|number| unsafe { libc::fcntl(*number, libc::F_GETFD) } >= 0);
    numbers.sort_unstable();
    numbers
}

/// The bytes of one page, which every alignment of direct I/O divides.
pub const PAGE: usize = 4096;

/// `MAX_RW`: the most one call moves, with 4 KiB pages.
pub const MAX_RW: usize = 0x7fff_f000;
