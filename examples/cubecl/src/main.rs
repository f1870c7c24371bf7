//! Reads a file into a pool that cubecl's HIP bindings allocated, in order with a stream that they made.
//!
//! The pool is registered once. Pointers into it, as a framework has them for its tensors, meet that registration; so do
//! regions, which own their bytes, so that reads into them can be left to themselves.
#![allow(unsafe_code, reason = "vouches for the memory and the stream of the framework")]

mod framework;

use std::env;
use std::error::Error;
use std::fs;
use std::sync::Arc;

use framework::{Handle, Pool, Queue};
use hipfile::alloc::{Device, Stream, StreamRef};
use hipfile::{
    Driver, OpenOptions, OwnedTransfer, Registered, RegisteredSliceMut, RegisteredStream, StreamFlags,
};

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

    // The framework's.
    let mut pool = Pool::new(content.len().saturating_add(ROOM))?;
    let queue = Queue::new()?;

    let driver = Driver::open()?;
    let device = Device::current()?;
    let file = OpenOptions::new().read(true).open(&driver, &path)?;
    // SAFETY: the pool is device memory of the current device, is freed at the end of `main` alone, when nothing is left of
    // the registration, and its bytes are used in one way at a time.
    let registered = unsafe { Registered::from_raw(&driver, pool.as_ptr(), pool.len(), 0) }?;
    // SAFETY: the stream is of this device, is not captured, and is never destroyed.
    let stream: StreamRef<'static> = unsafe { StreamRef::from_raw(queue.raw().cast(), device) };

    // A blocking read into a tensor that the stream writes: it has to wait for the stream.
    let tensor = pool.take(content.len().min(5000))?;
    queue.fill(&tensor, 0xff)?;
    file.read_at_after(stream, whole(&tensor, device), 0)?;
    same("a read after the stream", &queue.download(&tensor)?, content.get(..tensor.len))?;

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
    same("the first read in the scope", &queue.download(&left)?, content.get(..left.len))?;
    same("the second read in the scope", &queue.download(&right)?, content.get(..right.len))?;

    // Reads that own file and region. The framework's copies follow on the same stream, so they find the bytes.
    let file = Arc::new(file);
    let stream = RegisteredStream::new(&driver, Stream::from(stream), StreamFlags::FIXED_VALUES)?;
    let mut transfers: Vec<OwnedTransfer> = Vec::new();
    let mut tensors = Vec::new();
    for (index, (bytes, mut region)) in content.chunks(PIECE).zip(registered.into_regions(PIECE)?).enumerate()
    {
        drop(region.split_off(bytes.len())?);
        tensors.push(Handle { ptr: region.as_ptr(), len: region.len() });
        transfers.push(file.read_owned(&stream, region, (index * PIECE) as u64));
    }
    for (tensor, bytes) in tensors.iter().zip(content.chunks(PIECE)) {
        same("an owned read", &queue.download(tensor)?, Some(bytes))?;
    }
    for (transfer, bytes) in transfers.into_iter().zip(content.chunks(PIECE)) {
        let done = transfer.wait()?;
        same("a region", &done.region.slice(..done.bytes)?.as_device().to_vec()?, Some(bytes))?;
    }
    // SAFETY: every transfer has ended and its region is gone, and with the last one the registration.
    unsafe { pool.free() }?;
    println!("{} bytes read through a pool of cubecl-hip-sys: all are right", content.len());
    Ok(())
}

/// The memory of a tensor, to read files into.
fn whole(tensor: &Handle, device: Device) -> RegisteredSliceMut<'_> {
    // SAFETY: the bytes are device memory of that device in the pool, which outlives all tensors, and this program does
    // nothing else with a tensor while a slice of it is in use.
    unsafe { RegisteredSliceMut::from_raw_parts(tensor.ptr, tensor.len, device) }
}

/// Whether these are the bytes of the file that were asked for.
fn same(what: &str, bytes: &[u8], expected: Option<&[u8]>) -> Result<(), String> {
    if Some(bytes) == expected { Ok(()) } else { Err(format!("{what} has other bytes than the file")) }
}
