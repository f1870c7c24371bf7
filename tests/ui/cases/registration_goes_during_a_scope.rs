//! SND-03: registered memory stays registered while a scope has transfers on it.
use hipfile::alloc::{DeviceBuffer, Stream};
use hipfile::{Driver, OpenOptions};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let driver = Driver::open()?;
    let file = OpenOptions::new().read(true).open(&driver, "/proc/self/exe")?;
    let stream = Stream::new()?;
    let mut registered = driver.register(DeviceBuffer::new(4096)?)?;
    stream.scope(|scope| -> Result<(), Box<dyn std::error::Error>> {
        let transfer = file.read_at_in(scope, registered.slice_mut(..)?, 0)?;
        drop(registered); // refused
        Ok(())
    })?;
    Ok(())
}
