//! Reads a whole file into GPU memory by batches: `batch FILE`.
//!
//! A batch owns the regions of its reads until it reports them, in whatever order they are done.

use std::fs;
use std::sync::Arc;

use hipfile::alloc::DeviceBuffer;
use hipfile::{Batch, Driver, Feature, OpenOptions, Request};

const BLOCK: usize = 256 << 10;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: batch FILE")?;
    let size = usize::try_from(fs::metadata(&path)?.len())?;
    if !hipfile::supports(Feature::Batch)? {
        println!("libhipfile {} runs no batches", hipfile::version()?);
        return Ok(());
    }
    let driver = Driver::open()?;
    let file = Arc::new(OpenOptions::new().read(true).open(&driver, path)?);
    let memory = driver.register(DeviceBuffer::new(size.next_multiple_of(BLOCK).max(BLOCK))?)?;

    let mut batch = Batch::new(&driver, 32)?;
    let mut regions = memory.into_regions(BLOCK)?.enumerate();
    let (mut bytes, mut blocks) = (0, 0);
    loop {
        // As many more as there is room for; the tag tells later which it was.
        let more = regions.by_ref().take(batch.room());
        batch.submit(
            more.map(|(index, region)| {
                Request::read(&file, region, (index * BLOCK) as u64).tag(index as u64)
            }),
        )?;
        if batch.outstanding() == 0 {
            break;
        }
        batch.wait(1, None)?;
        while let Some(completion) = batch.try_next()? {
            let n = completion.result?;
            println!("block {}: {n} bytes at {:p}", completion.tag, completion.region.as_ptr());
            bytes += n;
            blocks += 1;
        }
    }
    println!("{bytes} bytes of {blocks} blocks");
    Ok(())
}
