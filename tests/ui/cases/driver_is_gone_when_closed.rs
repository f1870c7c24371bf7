//! SND-07: a driver that was closed is not used again.
use hipfile::Driver;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let driver = Driver::open()?;
    assert!(driver.use_count()? >= 1);
    driver.close()?;
    driver.use_count()?; // refused
    Ok(())
}
