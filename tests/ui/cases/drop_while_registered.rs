//! SND-03: registered memory cannot be dropped.
use hipfile::Driver;
use hipfile::alloc::DeviceBuffer;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let driver = Driver::open()?;
    let mut memory = DeviceBuffer::new(4096)?;
    let registered = driver.register(&mut memory)?;
    drop(memory); // refused
    assert_eq!(registered.len(), 4096);
    Ok(())
}
