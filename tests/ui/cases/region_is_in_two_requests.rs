//! SND-15, SND-19: a region is in one request at a time.
use hipfile::alloc::DeviceBuffer;
use hipfile::{Driver, OpenOptions, Request};
use std::sync::Arc;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let driver = Driver::open()?;
    let file = Arc::new(OpenOptions::new().read(true).open(&driver, "/proc/self/exe")?);
    let region = driver.register(DeviceBuffer::new(4096)?)?.into_region();
    let first = Request::read(&file, region, 0);
    let second = Request::read(&file, region, 0); // refused
    Ok(())
}
