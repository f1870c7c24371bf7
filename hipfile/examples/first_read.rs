//! Reads the start of a file into GPU memory: `first_read FILE`.

use hipfile::alloc::DeviceBuffer;
use hipfile::{Driver, OpenOptions};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: first_read FILE")?;
    let driver = Driver::open()?;
    let file = OpenOptions::new().read(true).open(&driver, path)?;
    let mut memory = DeviceBuffer::new(1 << 20)?; // 1 MiB on the current GPU
    let mut registered = driver.register(&mut memory)?;
    let n = file.read_at(&mut registered, 0)?; // short at the end of the file, like pread
    println!("{n} bytes are in GPU memory at {:p}", registered.as_ptr());
    Ok(())
}
