//! What a thread transfers with: a file, and memory in one or more slots.

mod batch;
mod mapping;
mod posix;
mod streams;
mod sync;
mod transfer;

use hipfile::alloc::Device;
use hipfile::{Driver, Predicted};

use super::mode::Mode;
use super::plan::{Case, Settings};
use super::target::Target;
use super::work::Piece;
use crate::failure::Failure;

/// Transfers, of which several may be under way, each with memory of its own.
pub trait Lane {
    /// How many may be under way.
    fn depth(&self) -> usize {
        1
    }

    /// Begins a transfer between a piece of the file and the memory of a slot that is free.
    fn begin(&mut self, slot: usize, piece: Piece) -> Result<(), Failure>;

    /// Waits for some of those under way, and adds the slots that are free again. By default there is one slot, whose transfer
    /// ends before `begin` returns.
    fn finish(&mut self, free: &mut Vec<usize>) -> Result<(), Failure> {
        free.push(0);
        Ok(())
    }

    /// Puts bytes into the memory of a slot.
    fn put(&mut self, slot: usize, bytes: &[u8]) -> Result<(), Failure>;

    /// Takes bytes out of the memory of a slot.
    fn take(&mut self, slot: usize, bytes: &mut [u8]) -> Result<(), Failure>;

    /// The path that a piece would take by libhipfile's rules; none if it has no part in it. No transfer is under way.
    fn predict(&self, _: Piece) -> Option<Predicted> {
        None
    }

    /// Lets go of pages of the file, so that they can leave the page cache.
    fn release(&mut self) {}
}

/// What lanes on a GPU have in common.
#[derive(Clone, Debug)]
pub struct Gpu {
    pub driver: Driver,
    pub device: Device,
}

/// What a lane is made for.
#[derive(Clone, Copy, Debug)]
pub struct Plan<'a> {
    pub settings: &'a Settings,
    pub case: Case,
    pub target: &'a Target,
    pub layout: Layout,
    /// The longest piece.
    pub longest: usize,
}

/// How a measurement is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Threads of bench.
    pub lanes: usize,
    /// Threads that `hipfile::transfer` uses for each.
    pub threads: usize,
    /// The length of pieces.
    pub piece: u64,
}

impl Layout {
    /// `hipfile::transfer` has threads of its own for one file.
    pub fn of(case: &Case, own_files: bool) -> Self {
        if case.mode != Mode::Transfer {
            return Self { lanes: case.threads, threads: 1, piece: case.block };
        }
        let (lanes, threads) = if own_files { (case.threads, 1) } else { (1, case.threads) };
        Self { lanes, threads, piece: case.block.saturating_mul(threads as u64).saturating_mul(CHUNKS) }
    }
}

/// Chunks for each thread in one call of `hipfile::transfer`.
const CHUNKS: u64 = 4;

/// Opens the file and gets memory. The thread that calls is the one that will use it.
pub fn open(plan: &Plan<'_>, gpu: Option<&Gpu>) -> Result<Box<dyn Lane>, Failure> {
    let no_gpu = || Failure::new("this mode needs a GPU");
    if plan.case.mode == Mode::Host {
        return Ok(Box::new(posix::Host::open(plan)?));
    }
    let gpu = gpu.ok_or_else(no_gpu)?;
    Ok(match plan.case.mode {
        Mode::Sync => Box::new(sync::Sync::open(plan, gpu)?),
        Mode::Async => Box::new(streams::Streams::open(plan, gpu)?),
        Mode::Batch => Box::new(batch::Batches::open(plan, gpu)?),
        Mode::Transfer => Box::new(transfer::Large::open(plan, gpu)?),
        Mode::Mmap => Box::new(mapping::Mapped::open(plan, gpu)?),
        Mode::Posix | Mode::Host => Box::new(posix::Copied::open(plan)?),
    })
}

/// The file, for hipFile.
fn hipfile(plan: &Plan<'_>, gpu: &Gpu) -> Result<hipfile::FileHandle, Failure> {
    let writes = plan.settings.operation.writes();
    Ok(hipfile::OpenOptions::new().read(!writes).write(writes).open(&gpu.driver, plan.target.path())?)
}

/// The first `len` of some bytes.
fn head(bytes: &[u8], len: usize) -> &[u8] {
    bytes.get(..len).unwrap_or(bytes)
}

/// The first `len` of some bytes.
fn head_mut(bytes: &mut [u8], len: usize) -> &mut [u8] {
    let len = len.min(bytes.len());
    bytes.get_mut(..len).unwrap_or_default()
}
