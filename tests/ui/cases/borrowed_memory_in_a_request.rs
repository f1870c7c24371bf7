//! SND-02: slices borrow, and a request may be kept for longer.
use hipfile::alloc::DeviceBuffer;
use hipfile::{Driver, OpenOptions, Request};
use std::sync::Arc;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let driver = Driver::open()?;
    let file = Arc::new(OpenOptions::new().read(true).open(&driver, "/proc/self/exe")?);
    let mut registered = driver.register(DeviceBuffer::new(4096)?)?;
    let slice = registered.slice_mut(..)?;
    let request = Request::read(&file, slice, 0); // refused
    Ok(())
}
