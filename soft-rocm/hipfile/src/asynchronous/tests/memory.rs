//! What an operation holds, and the host memory it needs.

use super::*;
use crate::asynchronous::operation::Operation;

#[test]
fn file_and_buffer_are_held_until_the_result_is_there() {
    // HF-ASYNC-16
    let mut case = Case::new();
    case.register_buffer();
    let handle = case.handle;
    let result = case.ends(Read, |case| {
        assert_eq!(case.driver.deregister_buffer(case.base), Err(Failure::INTERNAL));
        case.driver.deregister_file(case.handle);
    });
    assert_eq!(result, 100);
    assert_eq!(case.ends(Read, |_| ()), 100, "the file is still registered");
    assert_eq!(case.driver.deregister_buffer(case.base), Ok(()));
    case.driver.deregister_file(handle);
    assert_eq!(case.submit(Read), Err(Failure::FILE_NOT_REGISTERED));
}

#[test]
fn an_operation_outlives_a_close() {
    let mut case = Case::new();
    case.register_buffer();
    let result = case.ends(Read, |case| {
        case.driver.close().unwrap();
        case.driver.open();
        case.register_buffer();
        assert_eq!(case.driver.deregister_buffer(case.base), Ok(()), "not the one that is held");
    });
    assert_eq!(result, 100);
    assert_eq!(case.mock.memory()[..100], pattern(100));
}

#[test]
fn memory_out_of_the_hosts_reach() {
    for registered in [false, true] {
        let mut case = Case::on(Mock::new(LEN), |_| ());
        if registered {
            case.register_stream(0).unwrap();
        }
        (case.file_offset, case.buffer_offset) = (3, 5);
        assert_eq!(case.ends(Read, |case| case.size = 90), 90);
        assert_eq!(case.mock.memory()[5..95], pattern(LEN)[3..93]);
        if let Some(stream) = case.driver.stream(STREAM) {
            let mut bounce = stream.bounce.as_ref().unwrap().lock().unwrap();
            assert_eq!(bounce.bytes()[..90], pattern(LEN)[3..93], "through the memory of the stream");
        }
        case.file_offset = 1000;
        assert_eq!(case.ends(ToFile, |_| ()), 90);
        let content = std::fs::read(format!("/proc/self/fd/{}", case.caller.as_raw_fd())).unwrap();
        assert_eq!(content[1000..1090], pattern(LEN)[3..93]);
        case.file_offset = i64::MAX;
        assert_eq!(case.ends(Read, |_| ()), -1);
        let calls = case.mock.calls();
        assert!(
            !calls.iter().any(|call| call.starts_with("hipMemcpy")),
            "not by the stream's thread: {calls:?}"
        );
        let pinned = calls.iter().filter(|call| *call == "hipHostMalloc 16777216 0").count();
        assert_eq!(pinned, usize::from(registered));
    }
}

#[test]
fn a_hip_that_can_neither_be_reached_nor_copy_beside_the_stream() {
    let mut mock = Mock::new(LEN);
    mock.hip.streams.memcpy_with_stream = None;
    let mut case = Case::on(mock, |_| ());
    assert_eq!(case.submit(Read), Err(Failure::Hip(hipfile_sys::hipErrorNotSupported)));
    assert_eq!(case.mock.queued(), 0);
}

#[test]
fn pinned_memory_for_a_stream() {
    let failure = Err(Failure::Hip(hipError_t(2)));
    let case = |mock: Mock, version, quirks| {
        let case = Case::on(mock, |_| ()).behaving(version, quirks);
        case.mock.fail("hipHostMalloc", 2);
        case
    };
    let register = |case: Case| case.register_stream(0);
    assert_eq!(register(case(Mock::new(LEN), Version::V0_5, false)), failure);
    assert_eq!(register(case(Mock::with_alias(LEN), Version::V0_5, true)), failure);
    assert_eq!(register(case(Mock::with_alias(LEN), Version::V0_5, false)), Ok(()), "it needs none");
    assert_eq!(register(case(Mock::new(LEN), Version::V0_4, true)), Ok(()), "they took none");

    let mut unregistered = case(Mock::with_alias(LEN), Version::V0_5, true);
    assert_eq!((unregistered.submit(Read), unregistered.result), (failure, 77));
    let mut unregistered = case(Mock::new(LEN), Version::V0_5, false);
    assert_eq!(unregistered.ends(Read, |_| ()), 100);
}

#[test]
fn pinned_memory_for_an_operation_with_amds_quirks() {
    let mut case = Case::new().behaving(Version::V0_4, true);
    case.mock.fail("hipHostMalloc", 719);
    assert_eq!(case.submit(Read), Err(Failure::Hip(hipError_t(2))), "whatever HIP said of the object");
    assert_eq!(case.result, 0);
    case.mock.fail_after(1, "hipHostMalloc", 719);
    assert_eq!(case.submit(Read), Err(Failure::Hip(hipError_t(719))));
    case.mock.fail_after(2, "hipHostMalloc", 719);
    case.mock.calls();
    assert_eq!(case.ends(Read, |_| ()), 100);
    let taken = case.mock.calls().into_iter().filter(|call| call.starts_with("hipHostMalloc"));
    assert_eq!(taken.collect::<Vec<_>>(), ["hipHostMalloc 168 0", "hipHostMalloc 100 0"]);
}

#[test]
fn an_operation_is_small() {
    assert!(size_of::<Operation>() <= 512, "{}", size_of::<Operation>());
}
