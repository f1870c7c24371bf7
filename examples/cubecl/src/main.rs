//! Reads a file into a pool that cubecl's HIP bindings allocated, in order with a stream that they made.
//!
//! The pool is registered once. Pointers into it, as a framework has them for its tensors, meet that registration; so do
//! regions, which own their bytes and can be stored.
#![allow(unsafe_code, reason = "vouches for the memory and the stream of the framework")]

mod framework;

use std::env;
use std::error::Error;
use std::fs;

use framework::{Handle, Pool, Queue};
use hipfile::alloc::{Device, StreamRef};
use hipfile::{Driver, FileHandle, OpenOptions, Region, Registered, RegisteredSliceMut};

/// Length of a region.
const PIECE: usize = 4096;
/// What the pool has beside the file's length.
const ROOM: usize = 16 << 10;

fn main() -> Result<(), Box<dyn Error>> {
    let path = env::args_os().nth(1).ok_or("usage: cubecl_pool FILE")?;
    let content = fs::read(&path)?;
    if !cubecl_hip_sys::is_available() {
        return Err("cubecl-hip-sys finds no HIP: it needs libamdhip64 and libhiprtc".into());
    }

    // The framework's. Dropped last.
    let mut pool = Pool::new(content.len().saturating_add(ROOM))?;
    let queue = Queue::new()?;

    let driver = Driver::open()?;
    let device = Device::current()?;
    let file = OpenOptions::new().read(true).open(&driver, &path)?;
    // SAFETY: the pool is device memory of the current device and outlives the guard; its bytes are used in one way at a
    // time below.
    let registered = unsafe { Registered::from_raw(&driver, pool.as_ptr(), pool.len(), 0) }?;
    // SAFETY: the stream is of this device, is not captured, and outlives everything that is put on it.
    let stream = unsafe { StreamRef::from_raw(queue.raw().cast(), device) };

    // A blocking read into a tensor that the stream writes: it has to wait for the stream.
    let tensor = pool.take(content.len().min(5000))?;
    queue.fill(&tensor, 0xff)?;
    file.read_at_after(stream, whole(&tensor, device), 0)?;
    same("a read after the stream", &queue.download(&tensor)?, &content)?;

    // Reads in the order of the stream, between a fill before and a copy after, with nothing to wait for between.
    let (left, right) = (pool.take(content.len().min(700))?, pool.take(content.len().min(3001))?);
    queue.fill(&right, 0xff)?;
    let (first, second) = stream.scope(|scope| -> hipfile::Result<_> {
        let first = file.read_at_in(scope, whole(&left, device), 0)?;
        Ok((first, file.read_at_in(scope, whole(&right, device), 0)?))
    })?;
    for transfer in [first, second] {
        transfer.result().ok_or("the scope has ended")??;
    }
    same("the first read in the scope", &queue.download(&left)?, &content)?;
    same("the second read in the scope", &queue.download(&right)?, &content)?;

    // Regions of the pool: they own their bytes, so from here on the framework has none to give out.
    let regions = registered.into_regions(PIECE)?;
    let pieces = content.chunks(PIECE).zip(regions).enumerate();
    let pieces = pieces.map(|(index, (expected, region))| (index, expected, region));
    for (index, expected, region) in pieces {
        let region = read(&file, region, (index * PIECE) as u64, expected.len())?;
        let bytes = Handle { ptr: region.as_ptr(), len: expected.len() };
        same("a region", &queue.download(&bytes)?, expected)?;
    }
    println!("{} bytes read through a pool of cubecl-hip-sys: all are right", content.len());
    Ok(())
}

/// The memory of a tensor, to read files into.
fn whole(tensor: &Handle, device: Device) -> RegisteredSliceMut<'_> {
    // SAFETY: the bytes are device memory of that device in the pool, which outlives all tensors, and this program does
    // nothing else with a tensor while a slice of it is in use.
    unsafe { RegisteredSliceMut::from_raw_parts(tensor.ptr, tensor.len, device) }
}

/// Reads `len` bytes at `offset`.
fn read(file: &FileHandle, mut region: Region, offset: u64, len: usize) -> hipfile::Result<Region> {
    file.read_exact_at(region.slice_mut(..len)?, offset)?;
    Ok(region)
}

/// Whether these bytes are the first of the file.
fn same(what: &str, bytes: &[u8], content: &[u8]) -> Result<(), String> {
    if content.starts_with(bytes) { Ok(()) } else { Err(format!("{what} has other bytes than the file")) }
}
