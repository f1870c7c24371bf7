//! Reads a whole file into GPU memory by tasks of an async runtime, eight reads at a time: `tokio FILE`.
//!
//! hipfile needs no runtime and knows none: a transfer is a future that any executor can poll.

use std::fs;
use std::sync::Arc;

use hipfile::alloc::{DeviceBuffer, InFlight, Stream};
use hipfile::{Driver, FileHandle, OpenOptions, Region, RegisteredStream, Request, StreamFlags};

const BLOCK: usize = 256 << 10;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

fn main() -> Result<()> {
    let path = std::env::args().nth(1).ok_or("usage: tokio FILE")?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build()?;
    let (blocks, sum) = runtime.block_on(load(path))?;
    println!("{blocks} blocks were in GPU memory; the sum of their bytes is {sum}");
    Ok(())
}

async fn load(path: String) -> Result<(usize, u64)> {
    let size = usize::try_from(fs::metadata(&path)?.len())?;
    let driver = Driver::open()?;
    let file = Arc::new(OpenOptions::new().read(true).open(&driver, path)?);
    let stream = RegisteredStream::new(&driver, Stream::new()?, StreamFlags::FIXED_VALUES)?;
    let memory = driver.register(DeviceBuffer::new(size.next_multiple_of(BLOCK).max(BLOCK))?)?;
    let in_flight = InFlight::new(8);

    let blocks = memory.into_regions(BLOCK)?.enumerate();
    let tasks: Vec<_> = blocks
        .map(|(index, region)| {
            let offset = (index * BLOCK) as u64;
            tokio::spawn(block(Arc::clone(&file), stream.clone(), in_flight.clone(), region, offset))
        })
        .collect();
    let mut sum = 0;
    let blocks = tasks.len();
    for task in tasks {
        sum += task.await??;
    }
    Ok((blocks, sum))
}

/// Reads one block, and adds up its bytes in place of a kernel that would use them.
async fn block(
    file: Arc<FileHandle>,
    stream: RegisteredStream,
    in_flight: InFlight,
    region: Region,
    offset: u64,
) -> Result<u64> {
    let place = in_flight.acquire_async().await; // others may run while eight reads are in flight
    let done = Request::read(&file, region, offset).place(place).submit(&stream).await?;
    let bytes = done.region.slice(..done.bytes)?.as_device().to_vec()?;
    Ok(bytes.into_iter().map(u64::from).sum())
}
