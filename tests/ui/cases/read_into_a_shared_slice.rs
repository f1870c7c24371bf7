//! SND-19: files are read into exclusive slices alone.
use hipfile::alloc::DeviceBuffer;
use hipfile::{Driver, OpenOptions};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let driver = Driver::open()?;
    let file = OpenOptions::new().read(true).open(&driver, "/proc/self/exe")?;
    let mut registered = driver.register(DeviceBuffer::new(4096)?)?;
    file.read_at(registered.slice(..)?, 0)?; // refused
    file.read_at(registered.slice_mut(..)?, 0)?;
    Ok(())
}
