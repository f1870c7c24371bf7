//! SND-18: files are read into device memory, which is bytes.
use hipfile::alloc::DeviceBuffer;
use hipfile::{Driver, OpenOptions};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let driver = Driver::open()?;
    let file = OpenOptions::new().read(true).open(&driver, "/proc/self/exe")?;
    let mut memory = DeviceBuffer::new(4)?;
    let mut host = [false; 4];
    file.read_at(&mut host, 0)?; // refused
    file.read_at(memory.slice_mut(..)?, 0)?;
    host[0] = memory.to_vec()? == b"\x7fELF";
    assert!(host[0]);
    Ok(())
}
