//! Reads a whole file into GPU memory with at most eight reads in flight, without an async runtime: `owned FILE`.
//!
//! Each read owns its region of the memory until it is done, and gives it back.

use std::fs;
use std::sync::Arc;

use hipfile::alloc::{DeviceBuffer, InFlight, Stream};
use hipfile::{Driver, OpenOptions, RegisteredStream, Request, StreamFlags};

const BLOCK: usize = 256 << 10;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: owned FILE")?;
    let size = usize::try_from(fs::metadata(&path)?.len())?;
    let driver = Driver::open()?;
    let file = Arc::new(OpenOptions::new().read(true).open(&driver, path)?);
    let stream = RegisteredStream::new(&driver, Stream::new()?, StreamFlags::FIXED_VALUES)?;
    let memory = driver.register(DeviceBuffer::new(size.next_multiple_of(BLOCK).max(BLOCK))?)?;

    let in_flight = InFlight::new(8);
    let mut offset = 0;
    let mut reads = Vec::new();
    for region in memory.into_regions(BLOCK)? {
        let place = in_flight.acquire(); // waits while eight reads are in flight
        let len = region.len() as u64;
        reads.push(Request::read(&file, region, offset).place(place).submit(&stream));
        offset += len;
    }

    let mut whole = None;
    let mut bytes = 0;
    for read in reads {
        let done = read.wait()?;
        bytes += done.bytes;
        whole = match whole {
            None => Some(done.region),
            Some(mut before) => {
                before.unsplit(done.region).map(|()| Some(before)).map_err(|_| "not adjacent")?
            }
        };
    }
    let memory = whole.and_then(|region| region.try_into_registered::<DeviceBuffer>().ok());
    let memory = memory.ok_or("all of the memory has come back")?;
    println!("{bytes} bytes are in GPU memory at {:p}", memory.as_ptr());
    Ok(())
}
