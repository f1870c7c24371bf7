//! Copies a file by a plain loop of direct reads and writes, and syncs it: what `hipfile cp` is measured against by
//! `cargo xtask bench cp`.
//!
//! ```sh
//! cargo run --release -p hipfile-cli --example direct_copy -- SOURCE DESTINATION
//! ```

use std::error::Error;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::{env, io};

/// How much is moved at once.
const CHUNK: usize = 16 << 20;

/// What direct I/O may ask of lengths.
const BLOCK: usize = 4096;

/// A huge page, of which storage takes more at once than of small ones.
const PAGE: usize = 2 << 20;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args_os().skip(1);
    let (Some(source), Some(destination)) = (arguments.next(), arguments.next()) else {
        return Err("usage: direct_copy SOURCE DESTINATION".into());
    };
    let from = OpenOptions::new().read(true).custom_flags(libc::O_DIRECT).open(source)?;
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).custom_flags(libc::O_DIRECT);
    let to = options.open(destination)?;
    copy(&from, &to)?;
    to.sync_all()?;
    Ok(())
}

fn copy(from: &File, to: &File) -> io::Result<()> {
    let len = from.metadata()?.len();
    let mut memory = vec![0; CHUNK + PAGE];
    let start = memory.as_ptr().align_offset(PAGE);
    let chunk = memory.get_mut(start..).and_then(|aligned| aligned.get_mut(..CHUNK)).unwrap_or_default();
    // SAFETY: requires memory of this process, whose content stays what it is; holds because `chunk` is borrowed.
    unsafe { libc::madvise(chunk.as_mut_ptr().cast(), CHUNK, libc::MADV_HUGEPAGE) };
    let mut offset = 0;
    while offset < len {
        let read = from.read_at(chunk, offset)?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        // A whole block at the end, of which too much is cut off below.
        let block = read.next_multiple_of(BLOCK);
        to.write_all_at(chunk.get(..block).unwrap_or_default(), offset)?;
        offset += read as u64;
    }
    to.set_len(len)
}
