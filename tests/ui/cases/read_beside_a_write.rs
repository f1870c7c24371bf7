//! SND-19: a read into a region from which a write is under way.
use hipfile::alloc::DeviceBuffer;
use hipfile::{Driver, OpenOptions};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let driver = Driver::open()?;
    let file = OpenOptions::new().read(true).open(&driver, "/proc/self/exe")?;
    let mut registered = driver.register(DeviceBuffer::new(4096)?)?;
    file.read_at(registered.slice_mut(..)?, 0)?;
    let to_write = registered.slice(..)?;
    file.read_at(registered.slice_mut(..)?, 0)?; // refused
    assert_eq!(to_write.as_device().to_vec()?.len(), 4096);
    Ok(())
}
