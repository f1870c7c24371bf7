//! Loads tensors at odd offsets of a file into one pool of GPU memory, with progress: `tensors FILE INDEX`.
//!
//! Each line of the index has the name of a tensor, its offset and its length in bytes.

use std::error::Error;
use std::sync::Arc;

use hipfile::alloc::DeviceBuffer;
use hipfile::transfer::Options;
use hipfile::{Driver, FileHandle, OpenOptions, Region, Request};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

struct Tensor {
    name: String,
    offset: u64,
    len: usize,
}

fn main() -> Result<()> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [path, index] = &arguments[..] else { return Err("usage: tensors FILE INDEX".into()) };
    let index = std::fs::read_to_string(index)?;
    let tensors: Vec<_> = index.lines().map(tensor).collect::<Result<_>>()?;
    let driver = Driver::open()?;
    let file = Arc::new(OpenOptions::new().read(true).open(&driver, path)?);
    for (Tensor { name, len, .. }, region) in tensors.iter().zip(load(&driver, &file, &tensors)?) {
        let start = region.slice(..4.min(*len))?.as_device().to_vec()?;
        println!("{name}: {len} bytes at {:p} begin with {start:?}", region.as_ptr());
    }
    Ok(())
}

fn tensor(line: &str) -> Result<Tensor> {
    let wrong = || format!("not a name, an offset and a length: {line}");
    let [name, offset, len] = line.split_whitespace().collect::<Vec<_>>()[..] else {
        return Err(wrong().into());
    };
    let (offset, len) = (offset.parse().map_err(|_| wrong())?, len.parse().map_err(|_| wrong())?);
    Ok(Tensor { name: name.into(), offset, len })
}

/// A piece of one pool for each tensor, without an allocation or a registration of its own.
fn load(driver: &Driver, file: &Arc<FileHandle>, tensors: &[Tensor]) -> Result<Vec<Region>> {
    let room = tensors.iter().map(|tensor| tensor.len + Region::STEP).sum();
    let mut pool = driver.register(DeviceBuffer::new(room)?)?.into_region();
    let mut requests = Vec::new();
    for tensor in tensors {
        let region = pool.split_in_step(tensor.offset, tensor.len)?;
        requests.push(Request::read(file, region, tensor.offset));
    }
    let options = Options::new().progress(|now| eprintln!("{} %", now.bytes * 100 / now.total));
    let ended = options.spawn(requests).wait();
    let report = ended.result.inspect_err(|stopped| {
        let (report, at) = (stopped.report(), stopped.error().offset());
        let stuck =
            tensors.iter().find(|tensor| Some(tensor.offset) == at).map_or("none", |tensor| &tensor.name);
        eprintln!("stopped at {stuck}: {} of {} bytes are there", report.bytes, report.asked);
    })?;
    println!("{} bytes in {:?}, {:?} of CPU time", report.bytes, report.wall, report.cpu);
    Ok(ended.regions)
}
