//! SND-08: a descriptor borrowed from a file cannot outlive it.
use std::os::fd::AsFd;

use hipfile::{Driver, OpenOptions};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let driver = Driver::open()?;
    let file = OpenOptions::new().read(true).open(&driver, "/proc/self/exe")?;
    let borrowed = file.as_fd();
    drop(file); // refused
    borrowed.try_clone_to_owned()?;
    Ok(())
}
