//! What a process prints.

use std::io::{Read, Seek};
use std::os::fd::AsRawFd;

/// What `body`, and the libraries below it, write to standard output and standard error.
pub fn captured(body: impl FnOnce()) -> String {
    let mut sink = tempfile::tempfile().expect("a temporary file");
    let saved = [1, 2].map(|fd| {
        // SAFETY: requires a descriptor; the process was started with it open.
        crate::file::own(unsafe { libc::dup(fd) })
    });
    for fd in [1, 2] {
        // SAFETY: requires descriptors; holds because both are open.
        assert!(unsafe { libc::dup2(sink.as_raw_fd(), fd) } >= 0);
    }
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body));
    for (fd, saved) in [1, 2].into_iter().zip(saved) {
        // SAFETY: requires descriptors; holds because both are open.
        assert!(unsafe { libc::dup2(saved.as_raw_fd(), fd) } >= 0);
    }
    let mut said = String::new();
    sink.rewind().expect("the sink is a file");
    sink.read_to_string(&mut said).expect("text");
    if let Err(panic) = outcome {
        // The message of the panic went into the sink.
        eprintln!("{said}");
        std::panic::resume_unwind(panic);
    }
    said
}
