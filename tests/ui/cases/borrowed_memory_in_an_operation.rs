//! SND-02: an operation that is forgotten would give borrowed memory back.
use hipfile::alloc::{DeviceBuffer, Stream};
use hipfile::{Driver, OpenOptions};
use std::sync::Arc;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let driver = Driver::open()?;
    let file = Arc::new(OpenOptions::new().read(true).open(&driver, "/proc/self/exe")?);
    let stream = Stream::new()?;
    let mut memory = DeviceBuffer::new(4096)?;
    let registered = driver.register(&mut memory)?;
    let transfer = file.read_owned(&stream, registered.into_region(), 0); // refused
    Ok(())
}
