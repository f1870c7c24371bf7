//! SND-10: the current device belongs to a thread, and so does what restores it.
use hipfile::alloc::Device;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let guard = Device::current()?.make_current()?;
    std::thread::scope(|scope| {
        scope.spawn(|| println!("another thread"));
        scope.spawn(|| drop(guard)); // refused
    });
    Ok(())
}
