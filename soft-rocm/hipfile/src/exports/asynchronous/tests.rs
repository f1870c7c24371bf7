use std::cell::Cell;
use std::os::fd::AsRawFd;
use std::ptr;

use super::*;
use crate::file::File;
use crate::hip::test::Mock;
use hipfile_sys::hipError_t;

thread_local! {
    static HIP: Cell<Option<&'static Hip>> = const { Cell::new(None) };
}

fn hip() -> Result<&'static Hip, Failure> {
    HIP.get().ok_or(Failure::INTERNAL)
}

/// A submission that passes every check, until something is changed.
struct Case {
    mock: &'static Mock,
    driver: Driver,
    _caller: std::fs::File,
    handle: hipFileHandle_t,
    base: *mut c_void,
    size: usize,
    file_offset: hoff_t,
    buffer_offset: hoff_t,
    bytes: isize,
}

impl Case {
    fn new() -> Self {
        Self::with(|_| ())
    }

    fn with(change: impl FnOnce(&mut Mock)) -> Self {
        let mut mock = Mock::new(4096);
        change(&mut mock);
        let mock: &'static Mock = Box::leak(Box::new(mock));
        HIP.set(Some(&mock.hip));
        let driver = Driver::new();
        let caller = std::fs::File::open("/dev/zero").unwrap();
        let handle = driver.register_file(File::new(caller.as_raw_fd()).unwrap()).unwrap();
        let base = mock.pointer().cast_mut();
        Self {
            mock,
            driver,
            _caller: caller,
            handle,
            base,
            size: 4096,
            file_offset: 0,
            buffer_offset: 0,
            bytes: 77,
        }
    }

    fn values(&mut self) -> Values {
        Values {
            size_p: &mut self.size,
            file_offset_p: &mut self.file_offset,
            buffer_offset_p: &mut self.buffer_offset,
            bytes_p: &mut self.bytes,
        }
    }

    fn submit(&mut self) -> Failure {
        let values = self.values();
        self.submit_values(values)
    }

    /// Submits to the default stream. HF-ASYNC-07: no failure touches the result.
    fn submit_values(&mut self, values: Values) -> Failure {
        let Self { driver, handle, base, .. } = self;
        let failures = [Direction::Read, Direction::Write]
            .map(|direction| submit(driver, hip, direction, *handle, *base, values, ptr::null_mut()));
        let [Err(read), Err(write)] = failures else { panic!("nothing can be submitted yet: {failures:?}") };
        assert_eq!(read, write);
        assert_eq!(self.bytes, 77);
        read
    }
}

#[test]
fn a_closed_driver_is_opened_and_the_call_fails() {
    // HF-DRV-26
    let mut case = Case::new();
    case.driver.close().unwrap();
    let values = case.values();
    let submit = |values| {
        submit(&case.driver, hip, Direction::Read, ptr::null_mut(), ptr::null_mut(), values, ptr::null_mut())
    };
    assert_eq!(submit(values), Err(Failure::INVALID_VALUE));
    assert_eq!(case.driver.use_count(), 1);
    assert_eq!(submit(values), Err(Failure::INVALID_VALUE));
    assert_eq!(case.driver.use_count(), 1);
}

#[test]
fn nulls_come_first_then_the_handle() {
    // HF-ASYNC-01, HF-ASYNC-02
    let mut case = Case::new();
    assert_eq!(case.submit(), Failure::INTERNAL, "all is well but for the engine");
    let good = case.values();
    case.handle = ptr::null_mut();
    for values in [
        Values { size_p: ptr::null_mut(), ..good },
        Values { file_offset_p: ptr::null_mut(), ..good },
        Values { buffer_offset_p: ptr::null_mut(), ..good },
        Values { bytes_p: ptr::null_mut(), ..good },
    ] {
        assert_eq!(case.submit_values(values), Failure::INVALID_VALUE);
    }
    let base = std::mem::replace(&mut case.base, ptr::null_mut());
    assert_eq!(case.submit(), Failure::INVALID_VALUE);
    case.base = base;
    assert_eq!(case.submit(), Failure::FILE_NOT_REGISTERED);
}

#[test]
fn memory_that_is_no_devices() {
    // HF-ASYNC-03
    let mut case = Case::new();
    case.base = ptr::from_mut(&mut case).cast();
    case.size = usize::MAX;
    assert_eq!(case.submit(), Failure::INTERNAL);
    case.mock.fail("hipPointerGetAttributes", 1);
    assert_eq!(case.submit(), Failure::Hip(hipError_t(1)));
}

#[test]
fn ranges() {
    // HF-ASYNC-04
    let changes: [fn(&mut Case); 5] = [
        |case| case.size = 4097,
        |case| case.size = usize::MAX,
        |case| case.file_offset = -1,
        |case| case.buffer_offset = -1,
        |case| (case.buffer_offset, case.size) = (4096, 0),
    ];
    for change in changes {
        let mut case = Case::new();
        change(&mut case);
        assert_eq!(case.submit(), Failure::INVALID_VALUE);
    }
}

#[test]
fn the_stream_comes_before_the_range() {
    let mut case = Case::new();
    case.size = 4097;
    case.mock.fail("hipStreamGetDevice", 400);
    assert_eq!(case.submit(), Failure::Hip(hipError_t(400)));
    case.mock.fail("hipPointerGetAttributes", 719);
    assert_eq!(case.submit(), Failure::Hip(hipError_t(719)), "and the buffer before the stream");
}

#[test]
fn another_device_than_the_streams() {
    // HF-ASYNC-05: without hipStreamGetDevice the default stream is that of the current device, which is 0.
    let mut case = Case::with(|mock| mock.hip.stream_get_device = None);
    assert_eq!(case.submit(), Failure::INVALID_VALUE);
}
