//! SND-08: a registered descriptor is the file's alone.
use std::fs::File;

use hipfile::{Driver, FileHandle};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let driver = Driver::open()?;
    let file = File::open("/proc/self/exe")?;
    let handle = FileHandle::new(&driver, file)?;
    drop(file); // refused
    drop(handle.into_fd());
    Ok(())
}
