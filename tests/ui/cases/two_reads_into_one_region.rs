//! SND-19: two reads into one region at once.
use hipfile::alloc::DeviceBuffer;
use hipfile::{Driver, OpenOptions};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let driver = Driver::open()?;
    let file = OpenOptions::new().read(true).open(&driver, "/proc/self/exe")?;
    let mut registered = driver.register(DeviceBuffer::new(4096)?)?;
    std::thread::scope(|scope| {
        scope.spawn(|| file.read_exact_at(registered.slice_mut(..).unwrap(), 0).unwrap());
        scope.spawn(|| file.read_exact_at(registered.slice_mut(..).unwrap(), 0).unwrap()); // refused
    });
    Ok(())
}
