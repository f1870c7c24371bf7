//! SND-02: pieces of a registration own their memory as the whole does.
use hipfile::Driver;
use hipfile::alloc::DeviceBuffer;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let driver = Driver::open()?;
    let mut memory = DeviceBuffer::new(4096)?;
    let registered = driver.register(&mut memory)?;
    let regions = registered.into_regions(1024)?; // refused
    Ok(())
}
