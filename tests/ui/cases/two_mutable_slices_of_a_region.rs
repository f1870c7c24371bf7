//! SND-19: two mutable slices of one region at once.
use hipfile::Driver;
use hipfile::alloc::DeviceBuffer;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let driver = Driver::open()?;
    let mut region = driver.register(DeviceBuffer::new(4096)?)?.into_region();
    let first = region.slice_mut(..16)?;
    let second = region.slice_mut(16..)?; // refused
    assert_eq!(first.len(), 16);
    Ok(())
}
