//! SND-19, SND-20: the frame that opened a scope waits for it, so nobody else puts work into it.
use hipfile::alloc::Stream;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let stream = Stream::new()?;
    stream.scope(|scope| -> Result<(), Box<dyn std::error::Error>> {
        std::thread::scope(|threads| {
            threads.spawn(|| println!("another thread"));
            threads.spawn(|| scope.synchronize()); // refused
        });
        Ok(())
    })?;
    Ok(())
}
