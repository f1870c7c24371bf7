//! SND-03: registered memory cannot be freed.
use hipfile::Driver;
use hipfile::alloc::DeviceBuffer;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let driver = Driver::open()?;
    let mut memory = DeviceBuffer::new(4096)?;
    let registered = driver.register(&mut memory)?;
    memory.free()?; // refused
    assert_eq!(registered.len(), 4096);
    Ok(())
}
