//! SND-15: what was submitted is gone.
use hipfile::alloc::DeviceBuffer;
use hipfile::{Batch, Driver, OpenOptions, Request};
use std::sync::Arc;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let driver = Driver::open()?;
    let file = Arc::new(OpenOptions::new().read(true).open(&driver, "/proc/self/exe")?);
    let region = driver.register(DeviceBuffer::new(4096)?)?.into_region();
    let mut batch = Batch::new(&driver, 2)?;
    let request = Request::read(&file, region, 0);
    batch.submit([request])?;
    batch.submit([request])?; // refused
    Ok(())
}
