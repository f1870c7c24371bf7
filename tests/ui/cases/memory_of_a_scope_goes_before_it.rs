//! SND-02, SND-20: what a scope borrows is there before its call begins, since it is used until it ends.
use hipfile::alloc::{DeviceBuffer, Stream};
use hipfile::{Driver, OpenOptions};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let driver = Driver::open()?;
    let file = OpenOptions::new().read(true).open(&driver, "/proc/self/exe")?;
    let stream = Stream::new()?;
    stream.scope(|scope| -> Result<(), Box<dyn std::error::Error>> {
        let mut memory = DeviceBuffer::new(4096)?;
        let slice = memory.slice_mut(..)?;
        let transfer = file.read_at_in(scope, slice, 0)?; // refused
        Ok(())
    })?;
    Ok(())
}
