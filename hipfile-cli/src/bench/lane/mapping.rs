//! A mapping of the file, from or to which a GPU copies.
#![allow(unsafe_code, reason = "maps a file")]

use std::ffi::c_void;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::ptr;
use std::slice;

use hipfile::alloc::DeviceBuffer;

use super::{Gpu, Lane, Plan};
use crate::bench::target::failed;
use crate::bench::work::Piece;
use crate::failure::Failure;

/// A file's pages from its beginning on.
struct Map {
    start: *mut c_void,
    len: usize,
}

impl Map {
    fn new(file: &File, len: usize, writes: bool) -> io::Result<Self> {
        let protection = if writes { libc::PROT_READ | libc::PROT_WRITE } else { libc::PROT_READ };
        let flags = libc::MAP_SHARED;
        // SAFETY: requires nothing: the system chooses where new pages go.
        let start = unsafe { libc::mmap(ptr::null_mut(), len, protection, flags, file.as_raw_fd(), 0) };
        if start == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(Self { start, len }) }
    }

    fn at(&self, piece: Piece) -> Option<*mut u8> {
        let offset = usize::try_from(piece.offset).ok()?;
        let fits = offset.checked_add(piece.len).is_some_and(|end| end <= self.len);
        fits.then(|| self.start.cast::<u8>().wrapping_add(offset))
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        // SAFETY: requires a mapping that nobody uses any more; holds because it is ours and slices of it do not outlive
        // a transfer.
        unsafe { libc::munmap(self.start, self.len) };
    }
}

pub struct Mapped {
    file: File,
    path: std::path::PathBuf,
    len: usize,
    map: Option<Map>,
    device: DeviceBuffer,
    writes: bool,
}

impl Mapped {
    pub fn open(plan: &Plan<'_>, _: &Gpu) -> Result<Self, Failure> {
        let (path, writes) = (plan.target.path().to_owned(), plan.settings.operation.writes());
        let file = OpenOptions::new().read(true).write(writes).open(&path);
        let file = file.map_err(|error| failed("open", &path, &error))?;
        let end = usize::try_from(plan.settings.offset + plan.target.size);
        let len = end.map_err(|_| Failure::new(format!("{} is too long to be mapped", path.display())))?;
        let device = DeviceBuffer::new(plan.longest)?;
        Ok(Self { file, path, len, map: None, device, writes })
    }
}

impl Lane for Mapped {
    fn begin(&mut self, _: usize, piece: Piece) -> Result<(), Failure> {
        let map = match &mut self.map {
            Some(map) => map,
            none => {
                let map = Map::new(&self.file, self.len, self.writes);
                none.insert(map.map_err(|error| failed("map", &self.path, &error))?)
            }
        };
        let start = map.at(piece).ok_or_else(|| Failure::new("a piece beyond the end of the mapping"))?;
        if self.writes {
            // SAFETY: requires as many bytes that are mapped to be written, while nobody else uses them; holds because they are
            // inside the mapping, which only this thread has. That a file is not changed by others is up to the user.
            let bytes = unsafe { slice::from_raw_parts_mut(start, piece.len) };
            Ok(self.device.copy_to_host(0, bytes)?)
        } else {
            // SAFETY: requires as many bytes that are mapped to be read; holds because they are inside the mapping. That
            // the file is not changed by others is up to the user.
            let bytes = unsafe { slice::from_raw_parts(start, piece.len) };
            Ok(self.device.copy_from_host(0, bytes)?)
        }
    }

    fn put(&mut self, _: usize, bytes: &[u8]) -> Result<(), Failure> {
        Ok(self.device.copy_from_host(0, bytes)?)
    }

    fn take(&mut self, _: usize, bytes: &mut [u8]) -> Result<(), Failure> {
        Ok(self.device.copy_to_host(0, bytes)?)
    }

    fn release(&mut self) {
        self.map = None;
    }
}
