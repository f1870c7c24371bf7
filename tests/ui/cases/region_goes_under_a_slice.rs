//! SND-03: a slice cannot outlive its region.
use hipfile::Driver;
use hipfile::alloc::DeviceBuffer;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let driver = Driver::open()?;
    let region = driver.register(DeviceBuffer::new(4096)?)?.into_region();
    let slice = region.slice(..)?;
    drop(region); // refused
    assert_eq!(slice.len(), 4096);
    Ok(())
}
