//! SND-09, SND-13, SND-18: pinned memory, and what it leaks.

use super::fake;
use crate::{Device, DeviceAttribute, ErrorKind, PinnedBuffer, leaked};

#[test]
fn pinned_memory_is_zeroed_and_freed() {
    fake::install();
    let mut buffer = PinnedBuffer::zeroed(1000).unwrap();
    assert_eq!(*buffer, [0; 1000]);
    buffer[999] = 1;
    buffer.as_mut()[0] = 2;
    assert_eq!((buffer.as_ref()[999], buffer[0], buffer.len()), (1, 2, 1000));
    assert!(format!("{buffer:?}").ends_with("len: 1000 }"), "{buffer:?}");
    drop(buffer);
    assert_eq!(fake::calls(), ["hipHostMalloc", "hipHostFree"]);
    assert_eq!(*PinnedBuffer::from_slice(b"abc").unwrap(), *b"abc");
}

#[test]
fn an_empty_one_calls_nothing_and_no_length_is_too_hostile() {
    fake::install();
    let mut empty = PinnedBuffer::zeroed(0).unwrap();
    assert!(empty.is_empty());
    empty.fill(1);
    drop(empty);
    assert!(PinnedBuffer::from_slice(&[]).unwrap().is_empty());
    for len in [usize::MAX, isize::MAX as usize + 1] {
        let error = PinnedBuffer::zeroed(len).unwrap_err();
        assert_eq!((error.kind(), error.operation()), (ErrorKind::InvalidInput, "PinnedBuffer::zeroed"));
    }
    assert_eq!(fake::calls(), [""; 0]);
}

#[test]
fn failures_name_the_length_and_what_cannot_be_freed_is_counted() {
    let _alone = fake::leaking_alone();
    fake::install();
    for code in [2, 0] {
        fake::fail("hipHostMalloc", 1, code);
        let error = PinnedBuffer::zeroed(64).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::OutOfMemory, "success with a null address is one too");
        assert_eq!(
            error.to_string(),
            "PinnedBuffer::zeroed: hipHostMalloc of 64 bytes failed: hipErrorOutOfMemory (2): out of memory"
        );
    }
    let buffer = PinnedBuffer::zeroed(64).unwrap();
    let before = leaked();
    fake::fail("hipHostFree", 1, 719);
    drop(buffer);
    let after = leaked();
    assert_eq!((after.allocations - before.allocations, after.bytes - before.bytes), (1, 64));
}

#[test]
fn attributes_are_asked_of_the_device_by_number() {
    fake::install();
    let device = Device::new(1).unwrap();
    fake::calls();
    assert_eq!(device.attribute(DeviceAttribute::WARP_SIZE).unwrap(), 871);
    assert_eq!(fake::calls(), ["hipDeviceGetAttribute"]);
    for (code, kind) in [(1001, ErrorKind::InvalidInput), (u32::MAX, ErrorKind::InvalidInput)] {
        let error = device.attribute(DeviceAttribute::from(code)).unwrap_err();
        assert_eq!((error.kind(), error.operation()), (kind, "Device::attribute"));
    }
    fake::set_devices(1);
    assert_eq!(device.attribute(DeviceAttribute::from(0)).unwrap_err().kind(), ErrorKind::NoDevice);
    assert_eq!(u32::from(DeviceAttribute::IS_LARGE_BAR), DeviceAttribute::IS_LARGE_BAR.code());
}
