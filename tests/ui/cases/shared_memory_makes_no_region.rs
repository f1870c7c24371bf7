//! SND-19: a region has its bytes to itself, which memory in an `Arc` has not.
use hipfile::Driver;
use hipfile::alloc::DeviceBuffer;
use std::sync::Arc;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let driver = Driver::open()?;
    let registered = driver.register(Arc::new(DeviceBuffer::new(4096)?))?;
    let region = registered.into_region(); // refused
    Ok(())
}
