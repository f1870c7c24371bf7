//! SND-02, SND-15: a batch that is forgotten would give borrowed memory back.
use hipfile::alloc::DeviceBuffer;
use hipfile::{Batch, Driver, OpenOptions, Request};
use std::sync::Arc;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let driver = Driver::open()?;
    let file = Arc::new(OpenOptions::new().read(true).open(&driver, "/proc/self/exe")?);
    let mut batch = Batch::new(&driver, 1)?;
    let mut memory = DeviceBuffer::new(4096)?;
    let registered = driver.register(&mut memory)?;
    batch.submit([Request::read(&file, registered.into_region(), 0)])?; // refused
    Ok(())
}
