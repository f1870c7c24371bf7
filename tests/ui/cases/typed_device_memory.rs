//! SND-18: device memory holds bytes, not values that some bytes are not.
use hipfile::alloc::DeviceBuffer;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let memory = DeviceBuffer::from_host(&[2, 3])?;
    let mut host = [true; 2];
    memory.copy_to_host(0, &mut host)?; // refused
    host[0] = memory.to_vec()? == [2, 3];
    assert_eq!(host, [true, true]);
    Ok(())
}
