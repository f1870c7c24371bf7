//! SND-03: memory cannot be deregistered while a slice of it is in use.
use hipfile::Driver;
use hipfile::alloc::DeviceBuffer;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let driver = Driver::open()?;
    let mut registered = driver.register(DeviceBuffer::new(4096)?)?;
    let slice = registered.slice_mut(..)?;
    let _memory = registered.deregister()?; // refused
    assert_eq!(slice.len(), 4096);
    Ok(())
}
