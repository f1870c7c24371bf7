//! SND-02: host memory that a scope copies to is the scope's until it ends.
use hipfile::alloc::{DeviceBuffer, Stream};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let stream = Stream::new()?;
    let memory = DeviceBuffer::zeroed(16)?;
    let mut host = [1; 16];
    stream.scope(|scope| -> Result<(), Box<dyn std::error::Error>> {
        scope.copy_to_host(memory.slice(..)?, &mut host)?;
        assert_eq!(host[0], 0); // refused
        Ok(())
    })?;
    Ok(())
}
