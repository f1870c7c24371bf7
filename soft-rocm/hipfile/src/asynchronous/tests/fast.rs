//! Operations that take the fast path.

use super::*;

#[test]
fn one_call_of_hip_with_the_late_values() {
    // HF-ASYNC-19
    let mut case = Case::fast();
    case.mock.file_functions(0, Some(400));
    let result = case.ends(Read, |case| (case.file_offset, case.buffer_offset) = (512, 3));
    assert_eq!(result, 400, "a short count as it is");
    let call = format!("hipAmdFileRead fd {} at 3 size 512 offset 512", case.caller.as_raw_fd());
    assert_eq!(case.mock.calls().pop(), Some(call));
    case.file_offset = 1024;
    case.ends(ToFile, |_| ());
    let call = format!("hipAmdFileWrite fd {} at 3 size 512 offset 1024", case.caller.as_raw_fd());
    assert_eq!(case.mock.calls().pop(), Some(call));
}

#[test]
fn late_values() {
    type Change = fn(&mut Case);
    let changes: [(Change, isize); 8] = [
        (|case| case.size = 1024, 1024),
        (|case| case.size = 0, 0),
        (|case| case.size = LEN + 512, -5022),
        (|case| case.file_offset = -512, -5022),
        (|case| case.buffer_offset = LEN as i64, -5022),
        (|case| case.size = 511, -5030),
        (|case| case.file_offset = 1, -5030),
        (|case| (case.size, case.file_offset) = (LEN + 1, 1), -5022),
    ];
    for (index, (change, result)) in changes.into_iter().enumerate() {
        let mut case = Case::fast();
        assert_eq!(case.ends(Read, change), result, "change {index}");
    }
}

#[test]
fn every_error_is_5030_and_nothing_is_tried_again() {
    // HF-ASYNC-15, HF-ASYNC-19
    for errno in [libc::ENODEV, libc::EREMOTEIO, libc::EIO, libc::EINVAL] {
        let mut case = Case::fast();
        case.mock.file_functions(-errno, None);
        assert_eq!(case.ends(Read, |_| ()), -5030);
        assert_eq!(case.mock.memory(), [0xee; LEN]);
    }
    for function in ["hipAmdFileRead", "hipInit"] {
        std::thread::spawn(move || {
            let mut case = Case::fast();
            case.mock.fail(function, 999);
            assert_eq!(case.ends(Read, |_| ()), -5030, "{function}");
        })
        .join()
        .unwrap();
    }
}
