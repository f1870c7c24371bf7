//! SND-01: a scope keeps its stream.
use hipfile::alloc::Stream;
use hipfile::{Driver, RegisteredStream, StreamFlags};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let driver = Driver::open()?;
    let stream = RegisteredStream::new(&driver, Stream::new()?, StreamFlags::empty())?;
    stream.stream().scope(|scope| -> Result<(), Box<dyn std::error::Error>> {
        drop(stream); // refused
        Ok(())
    })?;
    Ok(())
}
