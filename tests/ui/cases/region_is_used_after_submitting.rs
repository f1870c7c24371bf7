//! SND-01: a region that is under way is the operation's.
use hipfile::alloc::{DeviceBuffer, Stream};
use hipfile::{Driver, OpenOptions};
use std::sync::Arc;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let driver = Driver::open()?;
    let file = Arc::new(OpenOptions::new().read(true).open(&driver, "/proc/self/exe")?);
    let region = driver.register(DeviceBuffer::new(4096)?)?.into_region();
    let transfer = file.read_owned(&Stream::new()?, region, 0);
    region.slice(..)?; // refused
    assert_eq!(transfer.wait()?.bytes, 4096);
    Ok(())
}
