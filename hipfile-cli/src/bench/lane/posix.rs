//! `pread` and `pwrite` with host memory, with and without a copy to or from a GPU.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};

use hipfile::alloc::{DeviceBuffer, PinnedBuffer};

use super::{Lane, Plan, head, head_mut};
use crate::bench::target::failed;
use crate::bench::work::Piece;
use crate::failure::Failure;
use crate::memory;

/// The file, with what is needed to say what failed.
struct Plain {
    file: File,
    path: std::path::PathBuf,
    writes: bool,
}

impl Plain {
    fn open(plan: &Plan<'_>) -> Result<Self, Failure> {
        let (path, writes) = (plan.target.path().to_owned(), plan.settings.operation.writes());
        let flags = if plan.settings.direct { libc::O_DIRECT } else { 0 };
        let file = OpenOptions::new().read(!writes).write(writes).custom_flags(flags).open(&path);
        let file = file.map_err(|error| match error.raw_os_error() {
            Some(libc::EINVAL) => Failure::new(format!("{} can't be opened with O_DIRECT", path.display()))
                .advice("leave --direct out"),
            _ => failed("open", &path, &error),
        })?;
        Ok(Self { file, path, writes })
    }

    fn read(&self, bytes: &mut [u8], offset: u64) -> Result<(), Failure> {
        self.file.read_exact_at(bytes, offset).map_err(|error| self.failed("read", offset, &error))
    }

    fn write(&self, bytes: &[u8], offset: u64) -> Result<(), Failure> {
        self.file.write_all_at(bytes, offset).map_err(|error| self.failed("write", offset, &error))
    }

    fn failed(&self, doing: &str, offset: u64, error: &io::Error) -> Failure {
        failed(&format!("{doing} at offset {offset} of"), &self.path, error)
    }
}

/// Data that stays in host memory.
pub struct Host {
    file: Plain,
    memory: Vec<u8>,
    /// The first page of it, for O_DIRECT.
    start: usize,
}

const PAGE: usize = 4096;

impl Host {
    pub fn open(plan: &Plan<'_>) -> Result<Self, Failure> {
        let memory = memory::zeroed(plan.longest + PAGE)?;
        let start = memory.as_ptr().align_offset(PAGE).min(PAGE);
        Ok(Self { file: Plain::open(plan)?, memory, start })
    }

    fn memory(&mut self) -> &mut [u8] {
        self.memory.get_mut(self.start..).unwrap_or_default()
    }
}

impl Lane for Host {
    fn begin(&mut self, _: usize, Piece { offset, len, .. }: Piece) -> Result<(), Failure> {
        let memory = self.memory.get_mut(self.start..).unwrap_or_default();
        if self.file.writes {
            self.file.write(head(memory, len), offset)
        } else {
            self.file.read(head_mut(memory, len), offset)
        }
    }

    fn put(&mut self, _: usize, bytes: &[u8]) -> Result<(), Failure> {
        head_mut(self.memory(), bytes.len()).copy_from_slice(bytes);
        Ok(())
    }

    fn take(&mut self, _: usize, bytes: &mut [u8]) -> Result<(), Failure> {
        bytes.copy_from_slice(head(self.memory(), bytes.len()));
        Ok(())
    }
}

/// Data that goes on to a GPU, or comes from it.
pub struct Copied {
    file: Plain,
    host: PinnedBuffer,
    device: DeviceBuffer,
}

impl Copied {
    pub fn open(plan: &Plan<'_>) -> Result<Self, Failure> {
        Ok(Self {
            file: Plain::open(plan)?,
            host: PinnedBuffer::zeroed(plan.longest)?,
            device: DeviceBuffer::new(plan.longest)?,
        })
    }
}

impl Lane for Copied {
    fn begin(&mut self, _: usize, Piece { offset, len, .. }: Piece) -> Result<(), Failure> {
        let host = head_mut(&mut self.host, len);
        if self.file.writes {
            self.device.copy_to_host(0, host)?;
            self.file.write(host, offset)
        } else {
            self.file.read(host, offset)?;
            Ok(self.device.copy_from_host(0, host)?)
        }
    }

    fn put(&mut self, _: usize, bytes: &[u8]) -> Result<(), Failure> {
        Ok(self.device.copy_from_host(0, bytes)?)
    }

    fn take(&mut self, _: usize, bytes: &mut [u8]) -> Result<(), Failure> {
        Ok(self.device.copy_to_host(0, bytes)?)
    }
}
