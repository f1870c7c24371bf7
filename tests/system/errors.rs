//! Errors as callers meet them.

use hipfile::alloc::{Device, DeviceBuffer};
use hipfile::{Driver, ErrorKind, OpError, Registered};

use crate::common::{Scratch, open};

/// Everything converts into what callers return.
#[test]
fn errors_fit_the_usual_results() {
    fn boxed() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let driver = Driver::open()?;
        let mut memory = DeviceBuffer::new(16)?;
        let mut registered = driver.register(&mut memory)?;
        registered.slice_mut(..17)?;
        Ok(())
    }
    fn io() -> std::io::Result<()> {
        let driver = Driver::open()?;
        hipfile::OpenOptions::new().read(true).open(&driver, "/no/such/file")?;
        driver.close()?;
        Ok(())
    }
    fn own() -> hipfile::Result<()> {
        let driver = Driver::open()?;
        driver.register(DeviceBuffer::new(16)?)?.slice(17..)?;
        driver.close()?;
        Ok(())
    }
    assert_eq!(boxed().unwrap_err().to_string(), "Registered::slice_mut: bytes ..17 are not within 0..16");
    let error = io().unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
    assert_eq!(error.to_string(), "open /no/such/file: no such file or directory (2 ENOENT)");
    let error = own().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OutOfRange);
    assert_eq!(error.to_string(), "Registered::slice: bytes 17.. are not within 0..16");
}

/// HF-BUF-06, HF-READ-07: host memory is not device memory, whoever vouches for it.
#[test]
fn host_memory_is_refused() {
    let driver = Driver::open().unwrap();
    let mut host = vec![0u8; 4096];
    let pointer = host.as_mut_ptr().cast();
    // SAFETY: requires device memory, which this is not; the library is to notice, and does before it touches anything.
    let error = unsafe { Registered::from_raw(&driver, pointer, host.len(), 0) }.unwrap_err();
    assert_eq!(
        (error.kind(), error.op_error()),
        (ErrorKind::UnsupportedMemory, Some(OpError::HipMemoryTypeInvalid))
    );
    assert_eq!(
        error.to_string(),
        "register memory: memory is not device memory (5013 hipFileHipMemoryTypeInvalid)"
    );

    let scratch = Scratch::new();
    let file = open(&driver, &scratch.file("data", b"x"));
    let device = Device::current().unwrap();
    // SAFETY: requires device memory, which this is not; as above.
    let slice = unsafe { hipfile::alloc::DeviceSliceMut::from_raw_parts(pointer, host.len(), device) };
    let error = file.read_at(slice, 0).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnsupportedMemory);
}

/// HF-BUF-09, HF-BUF-03.
#[test]
fn raw_memory_is_checked_by_the_library() {
    let driver = Driver::open().unwrap();
    let memory = DeviceBuffer::new(4096).unwrap();
    // SAFETY: requires memory of that length, which is too long; the library is to notice.
    let error = unsafe { Registered::from_raw(&driver, memory.as_ptr(), 1 << 30, 0) }.unwrap_err();
    assert_eq!(
        (error.kind(), error.op_error()),
        (ErrorKind::OutOfRange, Some(OpError::HipPointerRangeError))
    );
    // SAFETY: requires memory, of which there is none; the library is to notice.
    let error = unsafe { Registered::from_raw(&driver, std::ptr::null_mut(), 1, 0) }.unwrap_err();
    assert_eq!((error.kind(), error.op_error()), (ErrorKind::InvalidInput, Some(OpError::InvalidValue)));
    // SAFETY: requires nothing of no memory.
    let error = unsafe { Registered::from_raw(&driver, memory.as_ptr(), 0, 0) }.unwrap_err();
    assert_eq!(
        error.to_string(),
        "register memory: memory of 0 bytes can't be registered, at least 1 is needed"
    );
}
