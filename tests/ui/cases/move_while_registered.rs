//! SND-03: registered memory cannot be moved.
use hipfile::Driver;
use hipfile::alloc::DeviceBuffer;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let driver = Driver::open()?;
    let mut memory = DeviceBuffer::new(4096)?;
    let registered = driver.register(&mut memory)?;
    let _moved = Box::new(memory); // refused
    assert_eq!(registered.len(), 4096);
    Ok(())
}
