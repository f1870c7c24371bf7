//! Loads tensors that lie at odd offsets of a file into one pool of GPU memory, with progress: `tensors FILE`.
//!
//! A loader of a real format has names, offsets and lengths from the file's header; this one makes them up.

use std::error::Error;
use std::sync::Arc;

use hipfile::alloc::DeviceBuffer;
use hipfile::transfer::Options;
use hipfile::{Driver, FileHandle, OpenOptions, Region, Request};

const PAGE: usize = 4096;

struct Tensor {
    name: String,
    offset: u64,
    len: usize,
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: tensors FILE")?;
    let driver = Driver::open()?;
    let file = Arc::new(OpenOptions::new().read(true).open(&driver, path)?);
    for (tensor, region) in load(&driver, &file, index(file.len()?))? {
        let mut start = [0; 4];
        region.slice(..start.len())?.as_device().copy_to_host(0, &mut start)?;
        println!("{}: {} bytes at {:p}, {start:02x?} …", tensor.name, region.len(), region.as_ptr());
    }
    Ok(())
}

/// Tensors with a length of their own each, one behind the other.
fn index(size: u64) -> Vec<Tensor> {
    let mut offset = 1003;
    let lens = (1..).map(|n| n * 77_777).map_while(|len| {
        let start = offset;
        offset += len as u64;
        (offset <= size).then_some((start, len))
    });
    lens.zip(0..).map(|((offset, len), n)| Tensor { name: format!("layer {n}"), offset, len }).collect()
}

/// Nothing is allocated or registered for a tensor: each has a piece of the pool, as far behind a page as it is in the file,
/// so that all but its edges can take the fast path.
fn load(
    driver: &Driver,
    file: &Arc<FileHandle>,
    tensors: Vec<Tensor>,
) -> Result<Vec<(Tensor, Region)>, Box<dyn Error>> {
    let skip = |tensor: &Tensor| tensor.offset as usize % PAGE;
    let room = |tensor: &Tensor| (skip(tensor) + tensor.len).next_multiple_of(PAGE);
    let pool = DeviceBuffer::with_alignment(tensors.iter().map(room).sum::<usize>().max(PAGE), PAGE)?;
    let mut pool = driver.register(pool)?.into_region();
    let mut requests = Vec::new();
    for tensor in &tensors {
        let mut region = pool.split_to(room(tensor))?.split_off(skip(tensor))?;
        drop(region.split_off(tensor.len)?); // up to the next page
        requests.push(Request::read(file, region, tensor.offset));
    }
    let percent = |bytes: u64, total: u64| bytes * 100 / total;
    let job = Options::new().progress(move |p| eprintln!("{} %", percent(p.bytes, p.total))).spawn(requests);
    let ended = job.wait();
    let report = ended.result.inspect_err(|stopped| {
        let report = stopped.report();
        eprintln!("{} of {} bytes are loaded", report.bytes, report.asked);
    })?;
    println!("{} bytes in {:?}, {:?} of CPU time", report.bytes, report.wall, report.cpu);
    Ok(tensors.into_iter().zip(ended.regions).collect())
}
