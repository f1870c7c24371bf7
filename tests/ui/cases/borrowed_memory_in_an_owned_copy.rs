//! SND-02: copies that outlive the call own their memory.
use hipfile::alloc::{DeviceBuffer, Stream};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let stream = Stream::new()?;
    let mut memory = DeviceBuffer::new(4096)?;
    let operation = stream.fill(&mut memory, .., 1); // refused
    Ok(())
}
