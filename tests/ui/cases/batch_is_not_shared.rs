//! SND-15, SND-19: who shared a batch would have to say who gets whose events.
use hipfile::{Batch, Driver};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let driver = Driver::open()?;
    let batch = Batch::new(&driver, 1)?;
    std::thread::scope(|threads| {
        threads.spawn(|| println!("another thread"));
        threads.spawn(|| println!("{}", batch.room())); // refused
    });
    Ok(())
}
