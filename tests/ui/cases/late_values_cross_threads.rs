//! SND-19: the closure for late values is called by a thread of HIP.
use std::rc::Rc;
use std::sync::Arc;

use hipfile::alloc::DeviceBuffer;
use hipfile::{Driver, OpenOptions, Request, LateValues};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let driver = Driver::open()?;
    let file = Arc::new(OpenOptions::new().read(true).open(&driver, "/proc/self/exe")?);
    let region = driver.register(DeviceBuffer::new(4096)?)?.into_region();
    let len = Rc::new(16);
    let request = Request::read(&file, region, 0);
    let request = request.late(move |values| LateValues { len: *len, ..values }); // refused
    drop(request);
    Ok(())
}
