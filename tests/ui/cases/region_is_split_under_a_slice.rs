//! SND-19: a region that is sliced stays as it is.
use hipfile::Driver;
use hipfile::alloc::DeviceBuffer;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let driver = Driver::open()?;
    let mut region = driver.register(DeviceBuffer::new(4096)?)?.into_region();
    let slice = region.slice_mut(..)?;
    let head = region.split_to(16)?; // refused
    assert_eq!(slice.len(), 4096);
    Ok(())
}
