//! SND-03: memory that a registration owns is nobody else's.
use hipfile::Driver;
use hipfile::alloc::DeviceBuffer;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let driver = Driver::open()?;
    let memory = DeviceBuffer::new(4096)?;
    let registered = driver.register(memory)?;
    memory.to_vec()?; // refused
    assert_eq!(registered.len(), 4096);
    Ok(())
}
