//! SND-03: memory that is registered exclusively cannot be registered again.
use hipfile::Driver;
use hipfile::alloc::DeviceBuffer;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let driver = Driver::open()?;
    let mut memory = DeviceBuffer::new(4096)?;
    let registered = driver.register(&mut memory)?;
    let _again = driver.register_range(&mut memory, ..16)?; // refused
    assert_eq!(registered.len(), 4096);
    Ok(())
}
