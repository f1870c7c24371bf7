//! SND-01: a stream that was deregistered is not a registered one.
use hipfile::alloc::Stream;
use hipfile::{Driver, RegisteredStream, StreamFlags};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let driver = Driver::open()?;
    let registered = RegisteredStream::new(&driver, Stream::new()?, StreamFlags::empty())?;
    let stream = registered.deregister()?;
    assert!(registered.flags().is_empty()); // refused
    stream.synchronize()?;
    Ok(())
}
