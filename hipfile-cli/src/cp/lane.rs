//! One job's memory, and how it moves a chunk.

use std::ops::Range;

use hipfile::{FileHandle, Region};

use super::{system, zeros};
use crate::failure::Failure;
use crate::memory;

/// What is copied, and how.
#[derive(Clone, Copy, Debug)]
pub struct Work<'a> {
    pub from: &'a FileHandle,
    pub to: &'a FileHandle,
    /// The blocks whose zeros are left out, if they are.
    pub zeros: Option<usize>,
    /// Whether what the page cache holds of the source is read there, and not from storage.
    pub cache: bool,
}

/// Bytes that were moved.
#[derive(Clone, Copy, Debug, Default)]
pub struct Moved {
    pub bytes: u64,
    /// What of them was read from the page cache beside a file that is read directly.
    pub cached: u64,
}

/// The means of one job.
#[derive(Debug)]
pub enum Lane {
    /// GPU memory, and host memory for what is in the page cache and to look for zeros in.
    Gpu(Region, Vec<u8>),
    /// Host memory.
    Host(Vec<u8>),
    /// None: the kernel moves bytes from page cache to page cache, or has the file system share them. Where it can't this
    /// becomes host memory.
    Kernel,
    /// Host memory for both files, to compare them.
    Compare(Vec<u8>, Vec<u8>),
}

impl Lane {
    /// Moves the bytes of a chunk, or compares them; how many were moved.
    pub fn perform(&mut self, work: &Work<'_>, range: &Range<u64>) -> Result<Moved, Failure> {
        let len = usize::try_from(range.end.saturating_sub(range.start)).unwrap_or(usize::MAX);
        let bytes = match self {
            Self::Gpu(region, memory) => return through_gpu(work, region, memory, range, len),
            Self::Host(memory) => through_host(work, memory, range, len)?,
            Self::Kernel => {
                if !by_kernel(work, range.clone())? {
                    *self = Self::Host(Vec::new());
                    return self.perform(work, range);
                }
                len as u64
            }
            Self::Compare(a, b) => compare(work, a, b, range.start, len).map(|()| len as u64)?,
        };
        Ok(Moved { bytes, cached: 0 })
    }
}

fn through_gpu(
    work: &Work<'_>,
    region: &mut Region,
    host: &mut Vec<u8>,
    range: &Range<u64>,
    len: usize,
) -> Result<Moved, Failure> {
    let cached = work.cache && system::is_cached(work.from, range);
    if cached {
        fit(host, len)?;
        work.from.read_host_exact_at(host, range.start)?;
        region.slice_mut(..len)?.as_device_mut().copy_from_host(0, host)?;
    } else {
        work.from.read_exact_at(region.slice_mut(..len)?, range.start)?;
    }
    if work.zeros.is_some() && !cached {
        fit(host, len)?;
        region.slice(..len)?.as_device().copy_to_host(0, host)?;
    }
    let mut bytes = 0;
    for part in written(work, host, len) {
        bytes += part.len() as u64;
        work.to.write_all_at(region.slice(part.clone())?, range.start + part.start as u64)?;
    }
    Ok(Moved { bytes, cached: if cached { len as u64 } else { 0 } })
}

fn through_host(
    work: &Work<'_>,
    memory: &mut Vec<u8>,
    range: &Range<u64>,
    len: usize,
) -> Result<u64, Failure> {
    fit(memory, len)?;
    work.from.read_host_exact_at(memory, range.start)?;
    let mut moved = 0;
    for part in written(work, memory, len) {
        let at = range.start + part.start as u64;
        moved += part.len() as u64;
        work.to.write_host_all_at(memory.get(part).unwrap_or_default(), at)?;
    }
    system::begin_writing(work.to, range);
    Ok(moved)
}

/// What of a chunk is written: all, or, where zeros are left out, what the bytes have beside them.
fn written(work: &Work<'_>, bytes: &[u8], len: usize) -> Vec<Range<usize>> {
    match work.zeros {
        Some(block) => zeros::data(bytes, block),
        None => std::iter::once(0..len).collect(),
    }
}

/// Gives a job's host memory a length.
fn fit(memory: &mut Vec<u8>, len: usize) -> Result<(), Failure> {
    memory::fit(memory, len).map_err(|failure| failure.advice("give the copy less with --buffer"))
}

/// Whether the kernel copied the chunk; no if it can't, between these file systems or at all.
fn by_kernel(work: &Work<'_>, range: Range<u64>) -> Result<bool, Failure> {
    let mut rest = range.clone();
    while !rest.is_empty() {
        match system::copy_range(work.from, work.to, rest.clone()) {
            Ok(0) => return Ok(false),
            Ok(done) => rest.start += done,
            Err(error) => match error.raw_os_error() {
                Some(libc::EINTR) => {}
                Some(libc::EXDEV | libc::EINVAL | libc::EOPNOTSUPP | libc::ENOSYS | libc::EPERM) => {
                    return Ok(false);
                }
                _ => return Err(failed(work, &rest, &error)),
            },
        }
    }
    system::begin_writing(work.to, &range);
    Ok(true)
}

fn failed(work: &Work<'_>, range: &Range<u64>, error: &std::io::Error) -> Failure {
    let [from, to] = [work.from, work.to].map(name);
    let failure = Failure::new(format!("copy {from} to {to} at offset {}: {error}", range.start));
    if error.raw_os_error() == Some(libc::ENOSPC) {
        failure.advice("make room on the file system")
    } else {
        failure
    }
}

fn compare(
    work: &Work<'_>,
    a: &mut Vec<u8>,
    b: &mut Vec<u8>,
    offset: u64,
    len: usize,
) -> Result<(), Failure> {
    fit(a, len)?;
    fit(b, len)?;
    work.from.read_host_exact_at(a, offset)?;
    work.to.read_host_exact_at(b, offset)?;
    if a == b {
        return Ok(());
    }
    let same = a.iter().zip(&*b).take_while(|(a, b)| a == b).count() as u64;
    let [from, to] = [work.from, work.to].map(name);
    let failure =
        Failure::new(format!("the copy of {from} read back differs from byte {} on", offset + same));
    Err(failure.advice(format!("{to} was not replaced; was {from} changed meanwhile?")))
}

/// What the file was opened by.
pub fn name(file: &FileHandle) -> String {
    file.path().map(|path| path.display().to_string()).unwrap_or_default()
}
