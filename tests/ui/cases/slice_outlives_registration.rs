//! SND-03: a slice cannot outlive its registration.
use hipfile::Driver;
use hipfile::alloc::DeviceBuffer;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let driver = Driver::open()?;
    let registered = driver.register(DeviceBuffer::new(4096)?)?;
    let slice = registered.slice(..)?;
    drop(registered); // refused
    assert_eq!(slice.len(), 4096);
    Ok(())
}
