use std::fs::File as StdFile;
use std::os::fd::AsRawFd;
use std::ptr;

use super::*;
use crate::hip::test::{DEVICE, Mock};
use hipfile_sys::{hipError_t, hipErrorNotInitialized};

fn file() -> (StdFile, File) {
    let caller = StdFile::open("/dev/null").unwrap();
    let file = File::new(caller.as_raw_fd()).unwrap();
    (caller, file)
}

fn mock(len: usize) -> &'static Mock {
    Box::leak(Box::new(Mock::new(len)))
}

fn no_hip() -> Result<&'static Hip, Failure> {
    Err(Failure::Hip(hipErrorNotInitialized))
}

fn unasked() -> Result<&'static Hip, Failure> {
    panic!("HIP was asked")
}

#[test]
fn opens_and_closes_are_counted() {
    let driver = Driver::new();
    assert_eq!(driver.use_count(), 0);
    assert_eq!(driver.close(), Err(Failure::NOT_INITIALIZED));
    driver.open();
    driver.open();
    assert_eq!(driver.use_count(), 2);
    assert!(!driver.open_if_closed());
    assert_eq!(driver.use_count(), 2);
    assert_eq!((driver.close(), driver.close()), (Ok(()), Ok(())));
    assert_eq!(driver.close(), Err(Failure::NOT_INITIALIZED));
    assert!(driver.open_if_closed());
    assert_eq!(driver.use_count(), 1);
}

#[test]
fn files() {
    let driver = Driver::new();
    let (caller, first) = file();
    let handle = driver.register_file(first).unwrap();
    assert_eq!(driver.use_count(), 1, "opened by the success");
    assert!(!handle.is_null());
    assert_eq!(driver.descriptor(handle), Some(caller.as_raw_fd()));
    assert_eq!(driver.descriptor(ptr::null_mut()), None);
    let again = File::new(caller.as_raw_fd()).unwrap();
    assert_eq!(driver.register_file(again), Err(Failure::FILE_REGISTERED));

    driver.deregister_file(ptr::null_mut());
    driver.deregister_file(handle.wrapping_byte_add(1));
    let again = || File::new(caller.as_raw_fd()).unwrap();
    assert_eq!(driver.register_file(again()), Err(Failure::FILE_REGISTERED), "still there");
    driver.deregister_file(handle);
    let second = driver.register_file(again()).unwrap();
    assert_ne!(second, handle, "an old handle is no handle");

    driver.close().unwrap();
    driver.open();
    let gone = driver.resolve(unasked, second, ptr::dangling()).map(|_| ());
    assert_eq!(gone, Err(Failure::FILE_NOT_REGISTERED));
    driver.register_file(again()).unwrap();
}

#[test]
fn a_file_in_use_stays_registered() {
    let driver = Driver::new();
    let mock = mock(64);
    let (caller, registered) = file();
    let handle = driver.register_file(registered).unwrap();
    let (held, _) = driver.resolve(|| Ok(&mock.hip), handle, mock.pointer()).unwrap();
    driver.deregister_file(handle);
    let again = || File::new(caller.as_raw_fd()).unwrap();
    assert_eq!(driver.register_file(again()), Err(Failure::FILE_REGISTERED));
    drop(held);
    driver.deregister_file(handle);
    driver.register_file(again()).unwrap();
}

#[test]
fn buffers() {
    let driver = Driver::new();
    let mock = mock(64);
    let hip = || Ok(&mock.hip);
    assert_eq!(driver.register_buffer(unasked, ptr::null(), 1), Err(Failure::INVALID_VALUE));
    assert_eq!(driver.use_count(), 1, "opened by the failure");
    assert_eq!(driver.register_buffer(hip, mock.pointer(), 65), Err(Failure::POINTER_RANGE));
    assert_eq!(driver.register_buffer(hip, mock.pointer(), 64), Ok(()));
    assert_eq!(driver.register_buffer(unasked, mock.pointer(), 65), Err(Failure::BUFFER_REGISTERED));
    assert_eq!(driver.register_buffer(hip, mock.pointer().wrapping_byte_add(1), 63), Ok(()));

    assert_eq!(driver.deregister_buffer(ptr::null()), Err(Failure::BUFFER_NOT_REGISTERED));
    assert_eq!(driver.deregister_buffer(mock.pointer()), Ok(()));
    assert_eq!(driver.deregister_buffer(mock.pointer()), Err(Failure::BUFFER_NOT_REGISTERED));
    driver.close().unwrap();
    assert_eq!(driver.deregister_buffer(mock.pointer()), Err(Failure::CLOSING));
    assert_eq!(driver.register_buffer(hip, mock.pointer().wrapping_byte_add(1), 63), Ok(()), "dropped");
}

#[test]
fn a_buffer_in_use_stays_registered_but_not_through_a_close() {
    let driver = Driver::new();
    let mock = mock(64);
    driver.register_buffer(|| Ok(&mock.hip), mock.pointer(), 64).unwrap();
    let (_caller, registered) = file();
    let handle = driver.register_file(registered).unwrap();
    let (file, held) = driver.resolve(unasked, handle, mock.pointer()).unwrap();
    assert!(matches!(held, Memory::Registered(_)));
    assert_eq!(driver.deregister_buffer(mock.pointer()), Err(Failure::INTERNAL));
    driver.close().unwrap();
    assert_eq!((held.len, held.device), (64, DEVICE), "an operation is not disturbed");
    drop((file, held));
}

#[test]
fn what_a_transfer_names_in_order() {
    let driver = Driver::new();
    let mock = mock(64);
    let resolve = |handle, base| driver.resolve(|| Ok(&mock.hip), handle, base).map(|(_, memory)| *memory);
    assert_eq!(resolve(ptr::null_mut(), ptr::null()), Err(Failure::Os(libc::EINVAL)));
    assert_eq!(driver.use_count(), 0, "not opened");
    let (_caller, registered) = file();
    let handle = driver.register_file(registered).unwrap();
    assert_eq!(resolve(ptr::null_mut(), ptr::null()), Err(Failure::FILE_NOT_REGISTERED));
    assert_eq!(resolve(handle, ptr::null()), Err(Failure::INVALID_VALUE));
    assert_eq!(resolve(handle, ptr::from_ref(&driver).cast()), Err(Failure::MEMORY_TYPE));
    assert_eq!(resolve(handle, mock.pointer()).map(|buffer| buffer.len), Ok(64));

    driver.register_buffer(|| Ok(&mock.hip), mock.pointer(), 10).unwrap();
    assert_eq!(resolve(handle, mock.pointer()).map(|buffer| buffer.len), Ok(10));
    let inside = mock.pointer().wrapping_byte_add(4);
    assert_eq!(resolve(handle, inside).map(|buffer| buffer.len), Ok(60), "the base alone is registered");
}

#[test]
fn without_hip() {
    let driver = Driver::new();
    let not_initialized = Failure::Hip(hipErrorNotInitialized);
    assert_eq!(driver.register_buffer(no_hip, ptr::dangling(), 1), Err(not_initialized));
    assert_eq!(driver.register_stream(no_hip, &Behaviour::DEFAULT, ptr::null_mut(), 0), Err(not_initialized));
    let (_caller, registered) = file();
    let handle = driver.register_file(registered).unwrap();
    assert_eq!(driver.resolve(no_hip, handle, ptr::dangling()).map(|_| ()), Err(not_initialized));
    assert_eq!(driver.deregister_buffer(ptr::dangling()), Err(Failure::BUFFER_NOT_REGISTERED));
}

#[test]
fn streams_outlive_the_driver() {
    // HF-DRV-27, HF-DRV-28, HF-STREAM-01, HF-STREAM-02, HF-STREAM-03, HF-STREAM-04, HF-STREAM-05, HF-STREAM-06,
    // HF-STREAM-07
    let driver = Driver::new();
    let mock = mock(1);
    let register =
        |stream, flags| driver.register_stream(|| Ok(&mock.hip), &Behaviour::DEFAULT, stream, flags);
    let (null, other) = (ptr::null_mut(), ptr::without_provenance_mut(64));
    assert_eq!(
        driver.register_stream(unasked, &Behaviour::DEFAULT, other, 0x10),
        Err(Failure::INVALID_VALUE)
    );
    assert_eq!(register(null, 0xf), Ok(()));
    assert_eq!(
        driver.register_stream(unasked, &Behaviour::DEFAULT, null, 0),
        Err(Failure::INVALID_VALUE),
        "twice"
    );
    assert_eq!(register(other, 0), Ok(()));
    assert_eq!(driver.use_count(), 0, "not opened");

    driver.open();
    driver.close().unwrap();
    assert_eq!(driver.stream(other).map(|stream| stream.device), Some(DEVICE));
    assert_eq!((driver.deregister_stream(null), driver.deregister_stream(other)), (Ok(()), Ok(())));
    assert_eq!(driver.deregister_stream(other), Err(Failure::INVALID_VALUE));

    mock.fail("hipStreamGetDevice", 400);
    assert_eq!(register(other, 0), Err(Failure::Hip(hipError_t(400))));
    assert!(driver.stream(other).is_none());
}

#[test]
fn a_hip_that_cannot_tell_the_device_of_a_stream() {
    let driver = Driver::new();
    let mut mock = Mock::new(1);
    mock.hip.stream_get_device = None;
    let hip: &'static Hip = &Box::leak(Box::new(mock)).hip;
    assert_eq!(driver.register_stream(|| Ok(hip), &Behaviour::DEFAULT, ptr::null_mut(), 0), Ok(()));
    let unsupported = Failure::Hip(hipfile_sys::hipErrorNotSupported);
    assert_eq!(
        driver.register_stream(|| Ok(hip), &Behaviour::DEFAULT, ptr::without_provenance_mut(64), 0),
        Err(unsupported)
    );
}

#[test]
fn one_driver_for_64_threads() {
    let driver = Driver::new();
    let callers: Vec<_> = (0..64).map(|_| StdFile::open("/dev/null").unwrap()).collect();
    std::thread::scope(|scope| {
        for caller in &callers {
            scope.spawn(|| driver.register_file(File::new(caller.as_raw_fd()).unwrap()).unwrap().addr());
        }
    });
    assert_eq!(driver.use_count(), 1);
}
