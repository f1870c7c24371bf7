//! SND-03: a slice of memory that is not registered cannot outlive it either.
use hipfile::alloc::DeviceBuffer;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let memory = DeviceBuffer::zeroed(4096)?;
    let slice = memory.slice(16..32)?;
    drop(memory); // refused
    assert_eq!(slice.to_vec()?, [0; 16]);
    Ok(())
}
