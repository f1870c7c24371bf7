//! SND-03: a registration cannot outlive its memory.
use hipfile::alloc::DeviceBuffer;
use hipfile::{Driver, Registered};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let driver = Driver::open()?;
    let mut kept: Vec<Registered<&mut DeviceBuffer>> = Vec::new();
    {
        let mut memory = DeviceBuffer::new(4096)?;
        let registered = driver.register(&mut memory)?;
        assert_eq!(registered.len(), 4096);
        kept.push(registered); // refused
    }
    kept.clear();
    Ok(())
}
