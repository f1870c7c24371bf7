//! SND-02: a region owns its memory, so that forgetting what holds the region gives no memory back.
use hipfile::Driver;
use hipfile::alloc::DeviceBuffer;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let driver = Driver::open()?;
    let mut memory = DeviceBuffer::new(4096)?;
    let registered = driver.register(&mut memory)?;
    let region = registered.into_region(); // refused
    Ok(())
}
