//! SND-01, SND-02: the closure for late values is called after the function that made it has returned.
use std::sync::Arc;

use hipfile::alloc::DeviceBuffer;
use hipfile::{Driver, OpenOptions, Request, LateValues};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let driver = Driver::open()?;
    let file = Arc::new(OpenOptions::new().read(true).open(&driver, "/proc/self/exe")?);
    let region = driver.register(DeviceBuffer::new(4096)?)?.into_region();
    let lens = vec![16];
    let request = Request::read(&file, region, 0);
    let request = request.late(|values| LateValues { len: lens[0], ..values }); // refused
    drop(request);
    assert_eq!(lens, [16]);
    Ok(())
}
