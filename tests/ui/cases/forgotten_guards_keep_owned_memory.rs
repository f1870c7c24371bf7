//! SND-02: a guard that owns its memory takes it along when it is forgotten.
use hipfile::Driver;
use hipfile::alloc::DeviceBuffer;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let driver = Driver::open()?;
    let memory = DeviceBuffer::new(4096)?;
    std::mem::forget(driver.register(memory)?);
    memory.free()?; // refused
    Ok(())
}
