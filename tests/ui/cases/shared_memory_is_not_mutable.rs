//! SND-03, SND-19: memory shared by `Arc` gives no mutable slice.
use std::sync::Arc;

use hipfile::Driver;
use hipfile::alloc::DeviceBuffer;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let driver = Driver::open()?;
    let mut registered = driver.register(Arc::new(DeviceBuffer::new(4096)?))?;
    registered.slice_mut(..)?; // refused
    assert_eq!(registered.slice(..)?.len(), 4096);
    registered = driver.register(Arc::new(DeviceBuffer::new(16)?))?;
    assert_eq!(registered.len(), 16);
    Ok(())
}
