//! SND-01: an operation gives its region back once.
use hipfile::alloc::{DeviceBuffer, Stream};
use hipfile::{Driver, OpenOptions};
use std::sync::Arc;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let driver = Driver::open()?;
    let file = Arc::new(OpenOptions::new().read(true).open(&driver, "/proc/self/exe")?);
    let region = driver.register(DeviceBuffer::new(4096)?)?.into_region();
    let transfer = file.read_owned(&Stream::new()?, region, 0);
    let done = transfer.wait()?;
    let again = transfer.wait()?; // refused
    Ok(())
}
