//! What a submission is refused for.

use super::*;

/// HF-ASYNC-07: whatever is refused here leaves the result's place as it was, and the queue.
fn refused(case: &mut Case, pointers: Pointers) -> Failure {
    let failures = [Read, ToFile].map(|direction| case.submit_with(direction, pointers));
    let [Err(read), Err(write)] = failures else { panic!("not refused: {failures:?}") };
    assert_eq!((read, case.result, case.mock.queued()), (write, 77, 0));
    read
}

impl Case {
    fn is_refused(&mut self) -> Failure {
        let pointers = self.pointers();
        refused(self, pointers)
    }
}

#[test]
fn a_closed_driver_is_opened_and_the_call_fails() {
    // HF-DRV-26
    let mut case = Case::new();
    case.driver.close().unwrap();
    (case.handle, case.base) = (ptr::null_mut(), ptr::null_mut());
    assert_eq!(case.is_refused(), Failure::INVALID_VALUE);
    assert_eq!(case.driver.use_count(), 1);
    assert_eq!(case.is_refused(), Failure::INVALID_VALUE);
    assert_eq!(case.driver.use_count(), 1);
}

#[test]
fn nulls_come_first_then_the_handle() {
    // HF-ASYNC-01, HF-ASYNC-02
    let mut case = Case::new();
    let good = case.pointers();
    case.handle = ptr::null_mut();
    for pointers in [
        Pointers { size: ptr::null_mut(), ..good },
        Pointers { file_offset: ptr::null_mut(), ..good },
        Pointers { buffer_offset: ptr::null_mut(), ..good },
        Pointers { result: ptr::null_mut(), ..good },
    ] {
        assert_eq!(refused(&mut case, pointers), Failure::INVALID_VALUE);
    }
    let base = std::mem::replace(&mut case.base, ptr::null_mut());
    assert_eq!(case.is_refused(), Failure::INVALID_VALUE);
    case.base = base;
    assert_eq!(case.is_refused(), Failure::FILE_NOT_REGISTERED);
}

#[test]
fn memory_that_is_no_devices() {
    // HF-ASYNC-03
    let mut case = Case::new();
    case.base = ptr::from_mut(&mut case).cast();
    case.size = usize::MAX;
    assert_eq!(case.is_refused(), Failure::INTERNAL);
    case.mock.fail("hipPointerGetAttributes", 1);
    assert_eq!(case.is_refused(), Failure::Hip(hipError_t(1)));
}

#[test]
fn ranges() {
    // HF-ASYNC-04
    let changes: [fn(&mut Case); 7] = [
        |case| case.size = LEN + 1,
        |case| case.size = usize::MAX,
        |case| case.file_offset = -1,
        |case| case.file_offset = i64::MIN,
        |case| case.buffer_offset = -1,
        |case| case.buffer_offset = i64::MAX,
        |case| (case.buffer_offset, case.size) = (LEN as i64, 0),
    ];
    for change in changes {
        for new in [Case::new, Case::fast] {
            let mut case = new();
            change(&mut case);
            assert_eq!(case.is_refused(), Failure::INVALID_VALUE);
        }
    }
}

#[test]
fn no_path_comes_before_the_range() {
    let mut case = Case::new().sized(LEN + 1);
    case.config = || &NO_FALLBACK;
    assert_eq!(case.is_refused(), Failure::INTERNAL);
    let mut case = Case::fast().sized(LEN + 512);
    case.config = || &NO_FALLBACK;
    assert_eq!(case.is_refused(), Failure::INVALID_VALUE, "the fast path takes it");
}

#[test]
fn before_0_5_the_fallback_is_used_whatever_is_configured() {
    for version in [Version::V0_2, Version::V0_4] {
        let mut case = Case::fast().behaving(version, false);
        case.config = || &NO_FALLBACK;
        assert_eq!(case.ends(Read, |_| ()), 512);
        assert_eq!(case.mock.memory()[..512], pattern(512));
        assert!(!case.mock.calls().iter().any(|call| call.starts_with("hipAmdFile")));
    }
}

#[test]
fn the_stream_comes_before_the_range() {
    let mut case = Case::new().sized(LEN + 1);
    case.mock.fail("hipStreamGetDevice", 400);
    assert_eq!(case.is_refused(), Failure::Hip(hipError_t(400)));
    case.mock.fail("hipPointerGetAttributes", 719);
    assert_eq!(case.is_refused(), Failure::Hip(hipError_t(719)), "and the buffer before the stream");
}

#[test]
fn another_device_than_the_streams() {
    // HF-ASYNC-05: without hipStreamGetDevice the default stream is that of the current device, which is 0.
    let mut mock = Mock::with_alias(LEN);
    mock.hip.stream_get_device = None;
    let mut case = Case::on(mock, |_| ());
    case.stream = ptr::null_mut();
    assert_eq!(case.is_refused(), Failure::INVALID_VALUE);
}

#[test]
fn a_stream_that_takes_nothing() {
    for flags in [None, Some(0), Some(7)] {
        let mut mock = Mock::with_alias(LEN);
        mock.runs_side_by_side();
        let mut case = Case::on(mock, |_| ());
        case.register_buffer();
        if let Some(flags) = flags {
            case.register_stream(flags).unwrap();
        }
        case.mock.fail("hipLaunchHostFunc", 709);
        for direction in [Read, ToFile] {
            assert_eq!(case.submit(direction), Err(Failure::Hip(hipError_t(709))));
        }
        assert_eq!((case.result, case.mock.queued()), (0, 0), "set before the stream was asked");
        assert_eq!(case.driver.deregister_buffer(case.base), Ok(()), "nothing is held");
    }
}

#[test]
fn a_hip_without_host_functions() {
    let mut mock = Mock::with_alias(LEN);
    mock.hip.streams = crate::hip::Streams::default();
    let mut case = Case::on(mock, |_| ());
    assert_eq!(case.submit(Read), Err(Failure::Hip(hipfile_sys::hipErrorNotSupported)));
}
