//! SND-19: two transfers of a scope into the same memory.
use hipfile::alloc::{DeviceBuffer, Stream};
use hipfile::{Driver, OpenOptions};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let driver = Driver::open()?;
    let file = OpenOptions::new().read(true).open(&driver, "/proc/self/exe")?;
    let stream = Stream::new()?;
    let mut memory = DeviceBuffer::new(4096)?;
    stream.scope(|scope| -> Result<(), Box<dyn std::error::Error>> {
        let first = file.read_at_in(scope, memory.slice_mut(..)?, 0)?;
        let second = file.read_at_in(scope, memory.slice_mut(..)?, 0)?; // refused
        Ok(())
    })?;
    Ok(())
}
