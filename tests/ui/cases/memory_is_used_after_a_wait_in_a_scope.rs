//! SND-02: what a scope was lent is lent until it ends, also after a wait in the middle.
use hipfile::alloc::{DeviceBuffer, Stream};
use hipfile::{Driver, OpenOptions};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let driver = Driver::open()?;
    let file = OpenOptions::new().read(true).open(&driver, "/proc/self/exe")?;
    let stream = Stream::new()?;
    let mut memory = DeviceBuffer::new(4096)?;
    stream.scope(|scope| -> Result<(), Box<dyn std::error::Error>> {
        let slice = memory.slice_mut(..)?;
        let transfer = file.read_at_in(scope, slice, 0)?;
        scope.synchronize()?;
        memory.fill(0)?; // refused
        Ok(())
    })?;
    Ok(())
}
