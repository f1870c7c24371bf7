//! One process at a time: an advisory lock on a file.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

/// Held until dropped; the kernel releases it also when the process dies.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

/// Waits until no other process holds the lock on `path`, then holds it.
pub fn exclusive(path: &Path) -> io::Result<Lock> {
    let file = File::options().create(true).append(true).open(path)?;
    loop {
        // SAFETY: requires an open descriptor; holds because `file` lives until after the call.
        if unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX) } == 0 {
            return Ok(Lock { _file: file });
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}
