//! SND-19: two mutable slices of one registration at once, even of different parts. `split_at_mut` gives those.
use hipfile::Driver;
use hipfile::alloc::DeviceBuffer;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let driver = Driver::open()?;
    let mut registered = driver.register(DeviceBuffer::new(4096)?)?;
    let first = registered.slice_mut(..2048)?;
    let _second = registered.slice_mut(2048..)?; // refused
    let (low, high) = first.split_at_mut(1024)?;
    assert_eq!((low.len(), high.len()), (1024, 1024));
    Ok(())
}
