//! SND-01, SND-12, SND-13: copies that own their memory give it back, or leak it and say so.

use std::sync::Arc;

use super::fake;
use crate::{CopyError, Device, DeviceBuffer, ErrorKind, PinnedBuffer, Stream, leaked};

fn pinned(bytes: &[u8]) -> PinnedBuffer {
    PinnedBuffer::from_slice(bytes).unwrap()
}

#[test]
fn bytes_arrive_and_inputs_come_back() {
    fake::install();
    let stream = Stream::new().unwrap();
    let buffer = DeviceBuffer::from_host(b"0123456789").unwrap();
    let (address, host) = (buffer.as_ptr(), pinned(b"abc"));
    let host_address = host.as_ptr();
    fake::calls();
    let operation = stream.copy_from_host(buffer, 2, host);
    assert_eq!(
        fake::calls().iter().filter(|call| call.ends_with("Async")).collect::<Vec<_>>(),
        [&"hipMemcpyAsync"]
    );
    let (buffer, mut host) = operation.wait().unwrap();
    assert_eq!((buffer.as_ptr(), host.as_ptr()), (address, host_address));
    assert_eq!(buffer.to_vec().unwrap(), b"01abc56789");
    let buffer = stream.fill(buffer, 7.., b'z').wait().unwrap();
    host.fill(0);
    // Memory that is shared can be read.
    let shared = Arc::new(buffer);
    let (_, host) = stream.copy_to_host(shared.clone(), 6, host).wait().unwrap();
    assert_eq!(*host, *b"6zz");
    let (twin, shared) = stream.copy(DeviceBuffer::zeroed(12).unwrap(), 1, shared).wait().unwrap();
    assert_eq!(twin.to_vec().unwrap(), b"\x0001abc56zzz\0");
    assert_eq!(Arc::strong_count(&shared), 1, "what the operations held is gone");
    drop((twin, shared));
    assert_eq!(fake::allocations(), 0);
}

#[test]
fn what_is_not_within_the_memory_is_refused_before_hip_is_asked() {
    fake::install();
    let stream = Stream::new().unwrap();
    let (mut buffer, mut host) = (DeviceBuffer::zeroed(4).unwrap(), pinned(b"abc"));
    fake::calls();
    for offset in [2, 4, 5, usize::MAX, usize::MAX - 2, isize::MAX as usize] {
        let copies = [
            ("Stream::copy_to_host", Stream::copy_to_host as fn(&Stream, _, _, _) -> _),
            ("Stream::copy_from_host", Stream::copy_from_host),
        ];
        for (operation, copy) in copies {
            let failed: CopyError<(DeviceBuffer, PinnedBuffer)> =
                copy(&stream, buffer, offset, host).wait().unwrap_err();
            assert_eq!(failed.error().operation(), operation);
            assert_eq!(
                failed.to_string(),
                format!("{operation}: 3 bytes at offset {offset} are not within 0..4")
            );
            let (error, inputs) = failed.into_parts();
            assert_eq!(error.kind(), ErrorKind::OutOfRange);
            (buffer, host) = inputs.unwrap();
        }
        let failed = stream.fill(buffer, offset.., 1).wait();
        buffer = match failed {
            Ok(buffer) => buffer,
            Err(failed) => {
                assert!(offset > 4 && failed.error().kind() == ErrorKind::OutOfRange, "{failed:?}");
                failed.into_parts().1.unwrap()
            }
        };
        let (_, inputs) =
            stream.copy(DeviceBuffer::new(0).unwrap(), offset, buffer).wait().unwrap_err().into_parts();
        buffer = inputs.unwrap().1;
    }
    let asked = fake::calls();
    let fills = asked.iter().filter(|call| **call == "hipMemsetAsync").count();
    assert_eq!(fills, 1, "two bytes at 2");
    assert!(!asked.contains(&"hipMemcpyAsync"), "{asked:?}");
}

#[test]
fn empty_memory_is_given_to_no_stream() {
    fake::install();
    let stream = Stream::new().unwrap();
    let buffer = DeviceBuffer::new(4).unwrap();
    fake::calls();
    let (buffer, host) = stream.copy_to_host(buffer, 4, pinned(b"")).wait().unwrap();
    let (buffer, _) = stream.copy_from_host(buffer, 0, host).wait().unwrap();
    let buffer = stream.fill(buffer, 4.., 1).wait().unwrap();
    let (empty, _) = stream
        .copy(DeviceBuffer::new(0).unwrap(), 0, Arc::new(DeviceBuffer::new(0).unwrap()))
        .wait()
        .unwrap();
    assert!(empty.is_empty());
    drop(buffer);
    let asked = fake::calls();
    assert!(!asked.iter().any(|call| call.ends_with("Async") || *call == "hipLaunchHostFunc"), "{asked:?}");
}

#[test]
fn memory_of_another_device_comes_back() {
    fake::install();
    let stream = Stream::new().unwrap();
    let there = {
        let _guard = Device::new(1).unwrap().make_current().unwrap();
        DeviceBuffer::zeroed(4).unwrap()
    };
    let here = DeviceBuffer::zeroed(4).unwrap();
    fake::calls();
    let failed = stream.fill(there, .., 1).wait().unwrap_err();
    assert_eq!(failed.to_string(), "Stream::fill: a stream of device 0 can't use memory of device 1");
    let there = failed.into_parts().1.unwrap();
    let failed = stream.copy(here, 0, there).wait().unwrap_err();
    assert_eq!(crate::Error::from(failed).kind(), ErrorKind::InvalidInput);
    assert!(!fake::calls().iter().any(|call| call.ends_with("Async")));
    assert_eq!((fake::allocations(), fake::current_device()), (0, 0));
}

#[test]
fn a_failed_submission_gives_the_inputs_back_after_the_stream_has_passed() {
    fake::install();
    let stream = Stream::new().unwrap();
    let buffer = DeviceBuffer::zeroed(3).unwrap();
    fake::fail("hipMemcpyAsync", 1, 719);
    fake::calls();
    let failed = stream.copy_from_host(buffer, 0, pinned(b"abc")).wait().unwrap_err();
    assert!(fake::calls().contains(&"hipLaunchHostFunc"), "it may be in the stream");
    assert_eq!(failed.error().kind(), ErrorKind::Hip);
    assert!(format!("{failed:?}").ends_with("inputs: \"returned\" }"), "{failed:?}");
    assert_eq!(failed.inputs().map(|(buffer, host)| (buffer.len(), host.len())), Some((3, 3)));
}

#[test]
fn inputs_that_nobody_knows_about_are_leaked_and_counted() {
    let _alone = fake::leaking_alone();
    fake::install();
    let stream = Stream::new().unwrap();
    let buffer = DeviceBuffer::zeroed(100).unwrap();
    let before = leaked();
    for function in ["hipMemcpyAsync", "hipLaunchHostFunc", "hipEventCreateWithFlags", "hipStreamSynchronize"]
    {
        fake::fail(function, 1, 719);
    }
    let failed = stream.copy_to_host(buffer, 0, pinned(&[1; 28])).wait().unwrap_err();
    let after = leaked();
    assert_eq!((after.allocations - before.allocations, after.bytes - before.bytes), (1, 128));
    assert!(failed.inputs().is_none());
    assert!(format!("{failed:?}").ends_with("inputs: \"leaked\" }"), "{failed:?}");
    assert_eq!(failed.into_parts().0.kind(), ErrorKind::Hip);
    assert_eq!(fake::allocations(), 1);
}
