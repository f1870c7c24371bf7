//! SND-02, SND-20: a scope borrows; memory by value would go when the call ends, before the scope does.
use hipfile::alloc::{DeviceBuffer, Stream};
use hipfile::{Driver, OpenOptions};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let driver = Driver::open()?;
    let file = OpenOptions::new().read(true).open(&driver, "/proc/self/exe")?;
    let stream = Stream::new()?;
    let mut memory = DeviceBuffer::new(4)?;
    stream.scope(|scope| -> Result<(), Box<dyn std::error::Error>> {
        file.read_at_in(scope, DeviceBuffer::new(4096)?, 0)?; // refused
        file.read_at_in(scope, &mut memory, 0)?;
        Ok(())
    })?;
    assert_eq!(memory.to_vec()?, b"\x7fELF");
    Ok(())
}
