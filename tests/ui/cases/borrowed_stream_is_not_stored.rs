//! SND-02: an operation keeps its stream, which a borrow cannot.
use hipfile::alloc::Stream;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let stream = Stream::new()?;
    let borrowed = stream.as_ref();
    let stored = Stream::from(borrowed); // refused
    Ok(())
}
