//! SND-03: registered memory cannot be read into behind the registration.
use hipfile::alloc::DeviceBuffer;
use hipfile::{Driver, OpenOptions};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let driver = Driver::open()?;
    let file = OpenOptions::new().read(true).open(&driver, "/proc/self/exe")?;
    let mut memory = DeviceBuffer::new(4096)?;
    file.read_at(memory.slice_mut(..)?, 0)?;
    let registered = driver.register(&mut memory)?;
    file.read_at(memory.slice_mut(..)?, 0)?; // refused
    assert_eq!(registered.len(), 4096);
    Ok(())
}
