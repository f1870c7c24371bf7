//! Whether direct I/O works somewhere, proven by opening a file.
#![allow(unsafe_code, reason = "asks the system about files")]

use std::ffi::CString;
use std::fs::{File, OpenOptions};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use serde::Serialize;

use crate::size::Size;

/// What direct I/O asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Alignment {
    /// Addresses are multiples of this.
    pub memory: Size,
    /// Offsets and lengths are multiples of this.
    pub offset: Size,
}

/// What came of opening a file with `O_DIRECT`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DirectIo {
    /// It opened. The kernel may not say what it asks for.
    Works(Option<Alignment>),
    /// The file system has none.
    Missing,
    /// No file could be opened, for another reason.
    Unverified(String),
}

/// How it is found out.
pub trait Direct {
    /// In a folder, by a file without a name, or one that is gone at once.
    fn folder(&self, folder: &Path) -> DirectIo;
    /// On a file or block device, by opening it for reading.
    fn file(&self, file: &Path) -> DirectIo;
    /// Whether this process may write there.
    fn writable(&self, path: &Path) -> bool;
}

/// This machine's files.
#[derive(Clone, Copy, Debug)]
pub struct Disk;

impl Direct for Disk {
    fn folder(&self, folder: &Path) -> DirectIo {
        let mut options = OpenOptions::new();
        options.write(true).mode(0o600);
        let nameless = options.clone().custom_flags(libc::O_DIRECT | libc::O_TMPFILE).open(folder);
        match nameless.as_ref().map_err(io::Error::raw_os_error) {
            // Not every file system has files without names.
            Err(Some(libc::EOPNOTSUPP | libc::EISDIR | libc::ENOENT)) => {}
            _ => return answer(nameless),
        }
        named(options, &folder.join(format!(".hipfile-check-{}", std::process::id())))
    }

    fn file(&self, file: &Path) -> DirectIo {
        let flags = libc::O_DIRECT | libc::O_NONBLOCK;
        answer(OpenOptions::new().read(true).custom_flags(flags).open(file))
    }

    fn writable(&self, path: &Path) -> bool {
        let Ok(path) = CString::new(path.as_os_str().as_bytes()) else { return false };
        // SAFETY: requires a C string; holds because `path` is one.
        unsafe { libc::access(path.as_ptr(), libc::W_OK) == 0 }
    }
}

/// By a file that is gone at once, unless there was one.
fn named(mut options: OpenOptions, name: &Path) -> DirectIo {
    let opened = options.create_new(true).custom_flags(libc::O_DIRECT).open(name);
    if !opened.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::AlreadyExists) {
        // Some file systems make the file before they refuse the flag. That it can't be removed shows by its name.
        let _ = std::fs::remove_file(name);
    }
    answer(opened)
}

fn answer(opened: io::Result<File>) -> DirectIo {
    match opened {
        Ok(file) => match alignment(&file) {
            Some(Alignment { memory: Size(0), .. } | Alignment { offset: Size(0), .. }) => DirectIo::Missing,
            known => DirectIo::Works(known),
        },
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => DirectIo::Missing,
        Err(error) => DirectIo::Unverified(error.to_string()),
    }
}

/// What the kernel says; none if it does not, as before Linux 6.1.
fn alignment(file: &File) -> Option<Alignment> {
    let mut answer = MaybeUninit::<libc::statx>::zeroed();
    let flags = libc::AT_EMPTY_PATH;
    // SAFETY: requires a descriptor, a C string and room for a statx; holds for the file's, a literal and a local.
    let status = unsafe {
        libc::statx(file.as_raw_fd(), c"".as_ptr(), flags, libc::STATX_DIOALIGN, answer.as_mut_ptr())
    };
    // SAFETY: requires an initialised value; holds because it began as zeros, which are valid for integers.
    let answer = unsafe { answer.assume_init() };
    let known = status == 0 && answer.stx_mask & libc::STATX_DIOALIGN != 0;
    known.then(|| Alignment {
        memory: Size(answer.stx_dio_mem_align.into()),
        offset: Size(answer.stx_dio_offset_align.into()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_probe_leaves_nothing_behind() {
        let dir = tempfile::tempdir().unwrap();
        let answer = Disk.folder(dir.path());
        assert!(!matches!(answer, DirectIo::Unverified(_)), "{answer:?}");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
        assert!(matches!(Disk.folder(Path::new("/nonexistent")), DirectIo::Unverified(_)));
        assert!(Disk.writable(dir.path()) && !Disk.writable(Path::new("/nonexistent")));
    }

    #[test]
    fn a_file_of_the_same_name_stays() {
        let dir = tempfile::tempdir().unwrap();
        let name = dir.path().join("probe");
        let options = || OpenOptions::new().write(true).clone();
        assert_eq!(named(options(), &name), Disk.folder(dir.path()));
        assert!(!name.exists());
        fs::write(&name, "precious").unwrap();
        assert!(matches!(named(options(), &name), DirectIo::Unverified(_)));
        assert_eq!(fs::read_to_string(&name).unwrap(), "precious");
    }

    #[test]
    fn files_answer_as_their_file_system_does() {
        assert_eq!(Disk.file(Path::new("/proc/self/stat")), DirectIo::Missing);
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a"), "").unwrap();
        assert_eq!(Disk.file(&dir.path().join("a")), Disk.folder(dir.path()));
        let missing = DirectIo::Unverified("No such file or directory (os error 2)".into());
        assert_eq!(Disk.file(Path::new("/nonexistent")), missing);
    }
}
