//! Copies one file after the other, in the same memory.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use hipfile::alloc::{Device, DeviceBuffer};
use hipfile::{Driver, FileHandle, OpenOptions, Replacement};

use super::extents::{self, Ranges};
use super::lane::{self, Lane, Work};
use super::report::{Copied, Counts};
use super::route::{Paths, Route};
use super::span::{Clock, Span};
use super::{Args, Direct, Sparse, keep, pool, system};
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::Progress;

/// What all copies share.
#[derive(Debug)]
pub struct Copier<'a> {
    args: &'a Args,
    output: &'a Output,
    driver: Driver,
    chunk: usize,
    /// GPU memory for each job, once a file had a use for it.
    gpu: Vec<Lane>,
}

/// Blocks that holes are made of, where direct I/O does not ask for larger ones.
const BLOCK: u64 = 4096;

/// Alignment of GPU memory: that of a huge page, which is more than any file asks for.
const ALIGNMENT: usize = 2 << 20;

/// How much is compared at once, at most.
const COMPARED: u64 = 4 << 20;

impl<'a> Copier<'a> {
    pub fn new(args: &'a Args, chunk: usize, output: &'a Output) -> Result<Self, Failure> {
        Ok(Self { args, output, driver: Driver::open()?, chunk, gpu: Vec::new() })
    }

    /// Copies a file. If this fails the destination is what it was.
    pub fn copy(&mut self, source: &Path, destination: &Path) -> Result<Copied, Failure> {
        let clock = Clock::start();
        let from = OpenOptions::new().read(true).open(&self.driver, source)?;
        let found = metadata(&from).map_err(|error| named(source, &error))?;
        // As those in /proc: a copy without a byte would pass for one.
        if found.len() == 0 && from.read_host_at(&mut [0], 0)? > 0 {
            let failure = Failure::new(format!("{} has content but no length", source.display()));
            return Err(failure.advice("the system's cp copies it"));
        }
        let replaced = fs::metadata(destination).ok();
        // libhipfile opens the new file a second time, by the permissions that it has.
        let mode = found.mode() & 0o777 | 0o600;
        let new = OpenOptions::new().read(true).mode(mode).replace(&self.driver, destination)?;
        let before = hipfile::stats().ok();
        let (route, counts) = self.bytes(&from, &new, found.len())?;
        let observed = if matches!(route, Route::Gpu) { Paths::observed(before) } else { None };
        let verifying =
            if self.args.verify { self.verify(&from, &new, found.len())? } else { Span::default() };
        self.unchanged(source, &found, &from)?;
        self.attributes(&found, replaced.as_ref(), &new, destination)
            .map_err(|error| named(destination, &error))?;
        let work = Work { from: &from, to: new.file(), zeros: None, cache: false };
        if let Some(interrupted) = pool::interrupted(work) {
            return Err(interrupted);
        }
        new.commit().map_err(|failed| failed.into_error())?;
        Ok(Copied::new(counts, clock.span().without(verifying), self.args.verify, route, observed))
    }

    /// Refuses the copy of a source that has lost bytes meanwhile, for which there would be zeros; tells of one that was written.
    fn unchanged(&self, source: &Path, found: &Metadata, from: &FileHandle) -> Result<(), Failure> {
        let now = metadata(from).map_err(|error| named(source, &error))?;
        let shown = source.display();
        if now.len() < found.len() {
            return Err(Failure::new(format!("{shown} was cut short while it was copied")));
        }
        if (now.mtime(), now.mtime_nsec()) != (found.mtime(), found.mtime_nsec()) {
            self.output
                .warning(format!("{shown} was written while it was copied: the copy may have some of it"));
        }
        Ok(())
    }

    /// Gives the copy its mode, and what else it keeps; says what it can't keep.
    fn attributes(
        &self,
        source: &Metadata,
        replaced: Option<&Metadata>,
        new: &Replacement,
        destination: &Path,
    ) -> io::Result<()> {
        let shown = destination.display();
        match replaced {
            _ if self.args.preserve => {
                if !keep::all(source, new.file())? {
                    self.output.note(format!("the owner of {shown} is not that of its source"));
                }
            }
            Some(replaced) => {
                if let Some(change) = keep::of_replaced(replaced, new.file())? {
                    self.output.warning(format!("{shown} gets another {change}, which can't be kept here"));
                }
            }
            None => keep::no_more_rights(source, new.file())?,
        }
        Ok(())
    }

    /// Copies the content.
    fn bytes(&mut self, from: &FileHandle, new: &Replacement, len: u64) -> Result<(Route, Counts), Failure> {
        let to = new.file();
        let data = match self.args.sparse {
            Sparse::Never => extents::whole(len),
            Sparse::Auto | Sparse::Always => extents::data(from, len)
                .map_err(|error| named(from.path().unwrap_or(Path::new("")), &error))?,
        };
        let block = block(from)?.max(block(to)?);
        let (direct, odd) = extents::split(&data, block);
        let route = self.route(from, to, len, &direct)?;
        to.set_len(len)?;
        // Blocks in one piece, and a full file system shows at once. Not where zeros may be left out.
        let reserve = matches!(route, Route::Gpu) && self.args.sparse != Sparse::Always;
        for range in data.iter().filter(|_| reserve) {
            to.preallocate(range.start, range.end.saturating_sub(range.start))?;
        }
        let zeros =
            (self.args.sparse == Sparse::Always).then(|| usize::try_from(block).unwrap_or(usize::MAX));
        let work = Work { from, to, zeros, cache: self.args.direct == Direct::Auto };
        let progress = self.progress(extents::bytes(&data), from);
        let (moved, odd, cached) = match route {
            Route::Gpu => {
                let chunks = self.chunks(&direct);
                let moved = pool::run(work, &mut self.gpu, chunks, &progress)?;
                // After what is direct: no page is written through the page cache while its neighbours are written directly.
                let odd = pool::run(work, &mut [Lane::Host(Vec::new())], self.chunks(&odd), &progress)?;
                (moved.bytes + odd.bytes, odd.bytes, moved.cached)
            }
            Route::Host { .. } => {
                (pool::run(work, &mut self.host(), self.chunks(&data), &progress)?.bytes, 0, 0)
            }
        };
        Ok((route, Counts { bytes: len, moved, odd, cached }))
    }

    fn route(
        &mut self,
        from: &FileHandle,
        to: &FileHandle,
        len: u64,
        direct: &Ranges,
    ) -> Result<Route, Failure> {
        let how = self.args.direct;
        if let Some(route) = Route::without_asking(how, len, extents::bytes(direct)) {
            return Ok(route);
        }
        if self.gpu.is_empty() {
            match self.gpu_memory() {
                Ok(lanes) => self.gpu = lanes,
                Err(error) => return Route::without_memory(how, error),
            }
        }
        match (self.gpu.first(), self.chunks(direct).next()) {
            (Some(Lane::Gpu(memory, _)), Some(chunk)) => Route::by_rules(how, from, to, memory, &chunk),
            _ => Err(Failure::new("there is no memory for a job")),
        }
    }

    fn gpu_memory(&self) -> hipfile::Result<Vec<Lane>> {
        // Where there is none this says so best.
        Device::new(0)?;
        let room = self.chunk.saturating_mul(self.args.jobs.into());
        let memory = self.driver.register(DeviceBuffer::with_alignment(room, ALIGNMENT)?)?;
        Ok(memory.into_regions(self.chunk)?.map(|region| Lane::Gpu(region, Vec::new())).collect())
    }

    /// Lanes of host memory. Where all is copied the kernel may know a better way, which it goes alone.
    fn host(&self) -> Vec<Lane> {
        match self.args.sparse {
            Sparse::Always => (0..self.args.jobs).map(|_| Lane::Host(Vec::new())).collect(),
            Sparse::Auto | Sparse::Never => vec![Lane::Kernel],
        }
    }

    fn chunks(&self, ranges: &Ranges) -> impl Iterator<Item = std::ops::Range<u64>> + Send + use<> {
        extents::chunks(ranges.clone(), self.chunk as u64)
    }

    /// Compares the copy, as it is on the storage device, with its source. What that took.
    fn verify(&self, from: &FileHandle, new: &Replacement, len: u64) -> Result<Span, Failure> {
        new.file().sync_data()?;
        let clock = Clock::start();
        system::forget_pages(new.file());
        let work = Work { from, to: new.file(), zeros: None, cache: false };
        let mut lanes: Vec<_> = (0..self.args.jobs).map(|_| Lane::Compare(Vec::new(), Vec::new())).collect();
        let progress = self.progress(len, from);
        // A job has its share of the buffer for both files together.
        let compared = COMPARED.min(self.chunk as u64 / 2);
        pool::run(work, &mut lanes, extents::chunks(extents::whole(len), compared), &progress)?;
        Ok(clock.span())
    }

    fn progress(&self, total: u64, from: &FileHandle) -> Progress {
        Progress::new(self.output.shows_progress(), total, lane::name(from))
    }
}

fn metadata(file: &FileHandle) -> io::Result<Metadata> {
    File::from(file.as_fd().try_clone_to_owned()?).metadata()
}

fn named(path: &Path, error: &io::Error) -> Failure {
    Failure::new(format!("{}: {error}", path.display()))
}

/// What direct I/O on the file asks for, and at least a block.
fn block(file: &FileHandle) -> Result<u64, Failure> {
    Ok(file.alignment()?.map_or(BLOCK, |found| found.offset.max(found.memory)).max(BLOCK))
}
