//! Reads the start of a file into GPU memory in order on a stream, block by block: `scoped FILE`.
//!
//! The blocks are borrowed, so the reads are in a scope: it returns when the stream has done them all.

use hipfile::alloc::{DeviceBuffer, Stream};
use hipfile::{Driver, OpenOptions, RegisteredStream, StreamFlags};

const BLOCK: usize = 256 << 10;
const BLOCKS: usize = 4;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: scoped FILE")?;
    let driver = Driver::open()?;
    let file = OpenOptions::new().read(true).open(&driver, path)?;
    // A stream that the library knows is faster, above all if no value of a transfer changes after it was submitted.
    let stream = RegisteredStream::new(&driver, Stream::new()?, StreamFlags::FIXED_VALUES)?;
    let mut memory = driver.register(DeviceBuffer::zeroed(BLOCKS * BLOCK)?)?;

    let mut rest = memory.slice_mut(..)?;
    let transfers = stream.stream().scope(|scope| {
        let mut transfers = Vec::new();
        for index in 0..BLOCKS {
            let (block, others) = rest.split_at_mut(BLOCK)?;
            transfers.push(file.read_at_in(scope, block, (index * BLOCK) as u64)?);
            rest = others;
            // Kernels that work on the block would be launched here: the stream keeps the order.
        }
        Ok::<_, hipfile::Error>(transfers)
    })?;

    let mut bytes = 0;
    for transfer in transfers {
        bytes += transfer.result().ok_or("the scope has waited")??;
    }
    println!("{bytes} bytes are in GPU memory at {:p}", memory.as_ptr());
    Ok(())
}
