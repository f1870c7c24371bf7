//! SND-02, SND-20: an outer scope waits later than an inner one, so it borrows nothing that lives in the inner one.
use hipfile::alloc::{DeviceBuffer, Stream};
use hipfile::{Driver, OpenOptions};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let driver = Driver::open()?;
    let file = OpenOptions::new().read(true).open(&driver, "/proc/self/exe")?;
    let stream = Stream::new()?;
    stream.scope(|outer| {
        let mut memory = DeviceBuffer::new(4096)?;
        stream.scope(|inner| -> Result<(), Box<dyn std::error::Error>> {
            let slice = memory.slice_mut(..)?;
            let transfer = file.read_at_in(outer, slice, 0)?; // refused
            inner.synchronize()?;
            Ok(())
        })
    })?;
    Ok(())
}
