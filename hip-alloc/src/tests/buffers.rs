//! Buffers and slices: content, bounds, and which calls they make. SND-11, SND-12, SND-13.

use super::fake;
use crate::{Device, DeviceBuffer, DeviceSlice, DeviceSliceMut, ErrorKind};

#[test]
fn zero_length_reaches_no_copy_fill_or_allocation() {
    fake::install();
    let mut empty = DeviceBuffer::zeroed(0).unwrap();
    assert!(empty.is_empty());
    assert!(empty.as_ptr().is_null());
    empty.fill(1).unwrap();
    empty.copy_from_host(0, &[]).unwrap();
    empty.copy_to_host(0, &mut []).unwrap();
    assert_eq!(empty.to_vec().unwrap(), []);
    assert!(DeviceBuffer::from_host(&[]).unwrap().is_empty());
    assert!(DeviceBuffer::with_alignment(0, 4096).unwrap().is_empty());
    empty.free().unwrap();
    // Constructors ask for the device alone.
    assert_eq!(fake::calls(), ["hipGetDevice"; 3]);

    let mut buffer = DeviceBuffer::new(8).unwrap();
    fake::calls();
    buffer.copy_from_host(8, &[]).unwrap();
    buffer.copy_to_host(8, &mut []).unwrap();
    buffer.slice_mut(8..).unwrap().fill(1).unwrap();
    assert_eq!(buffer.slice(3..3).unwrap().to_vec().unwrap(), []);
    assert_eq!(fake::calls(), [""; 0]);
}

#[test]
fn transfers_end_with_a_wait_even_after_a_failure() {
    fake::install();
    let mut buffer = DeviceBuffer::zeroed(8).unwrap();
    fake::calls();
    buffer.copy_from_host(0, b"abc").unwrap();
    assert_eq!(fake::calls(), ["hipGetDevice", "hipMemcpy", "hipStreamSynchronize"]);
    for operation in [
        |buffer: &mut DeviceBuffer| buffer.fill(1),
        |buffer: &mut DeviceBuffer| buffer.copy_from_host(0, b"abc"),
        |buffer: &mut DeviceBuffer| buffer.to_vec().map(drop),
    ] {
        for function in ["hipMemcpy", "hipMemset", "hipStreamSynchronize"] {
            fake::fail(function, 1, 719);
            fake::calls();
            let error = operation(&mut buffer).err();
            let calls = fake::calls();
            assert_eq!(error.is_some(), calls.contains(&function));
            assert_eq!(calls.last(), Some(&"hipStreamSynchronize"));
            fake::fail_no_more();
        }
    }
}

#[test]
fn no_length_is_too_hostile() {
    fake::install();
    for len in [usize::MAX, usize::MAX - 1, isize::MAX as usize + 1] {
        for made in [DeviceBuffer::new(len), DeviceBuffer::zeroed(len), DeviceBuffer::with_alignment(len, 1)]
        {
            assert_eq!(made.unwrap_err().kind(), ErrorKind::InvalidInput);
        }
    }
    let padded = DeviceBuffer::with_alignment(isize::MAX as usize, 1 << 20).unwrap_err();
    assert_eq!(padded.kind(), ErrorKind::OutOfMemory);
    // The first try fits, the padding does not.
    let padded = DeviceBuffer::with_alignment(1, 1 << 63).unwrap_err();
    assert_eq!(padded.kind(), ErrorKind::InvalidInput);
    assert_eq!(fake::allocations(), 0);
    assert_eq!(DeviceBuffer::new(isize::MAX as usize).unwrap_err().kind(), ErrorKind::OutOfMemory);
}

#[test]
fn alignment_is_as_asked_and_the_whole_allocation_is_freed() {
    fake::install();
    for shift in 0..16 {
        let align = 1 << shift;
        for len in [1, 4095, 4096, 10_007] {
            let mut buffer = DeviceBuffer::with_alignment(len, align).unwrap();
            assert_eq!(buffer.as_ptr().addr() % align, 0);
            assert_eq!(buffer.len(), len);
            buffer.fill(7).unwrap();
            assert_eq!(buffer.to_vec().unwrap(), vec![7; len]);
            assert_eq!(fake::allocations(), 1);
            buffer.free().unwrap();
            assert_eq!(fake::allocations(), 0);
        }
    }
    for align in [0, 3, 4097, usize::MAX] {
        let error = DeviceBuffer::with_alignment(1, align).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
    }
}

#[test]
fn split_slices_write_their_own_bytes_only() {
    fake::install();
    let mut buffer = DeviceBuffer::from_host(b"0123456789").unwrap();
    let (mut head, mut tail) = buffer.as_mut_slice().split_at_mut(4).unwrap();
    head.copy_from_host(2, b"ab").unwrap();
    tail.fill(b'x').unwrap();
    tail.reborrow().slice_mut(..=0).unwrap().fill(b'y').unwrap();
    assert_eq!(tail.as_slice().to_vec().unwrap(), b"yxxxxx");
    assert_eq!(head.slice(1..).unwrap().to_vec().unwrap(), b"1ab");
    let error = head.copy_from_host(3, b"zz").unwrap_err();
    assert_eq!(error.to_string(), "DeviceSliceMut::copy_from_host: 2 bytes at offset 3 are not within 0..4");
    assert_eq!(head.split_at_mut(5).unwrap_err().kind(), ErrorKind::OutOfRange);
    let all = buffer.as_slice();
    assert_eq!(all.to_vec().unwrap(), b"01abyxxxxx");
    let (none, rest) = all.split_at(0).unwrap();
    assert!(none.is_empty());
    assert_eq!(rest.split_at(10).unwrap().1.len(), 0);
    assert_eq!(rest.split_at(11).unwrap_err().kind(), ErrorKind::OutOfRange);
    assert_eq!(rest.slice(2..6).unwrap().slice(1..3).unwrap().to_vec().unwrap(), b"by");
}

#[test]
fn copies_check_offset_plus_length_without_overflow() {
    fake::install();
    let mut buffer = DeviceBuffer::new(8).unwrap();
    fake::calls();
    let mut bytes = [0; 4];
    for offset in [5, 8, 9, usize::MAX, usize::MAX - 3, isize::MAX as usize] {
        assert_eq!(buffer.copy_to_host(offset, &mut bytes).unwrap_err().kind(), ErrorKind::OutOfRange);
        assert_eq!(buffer.copy_from_host(offset, &bytes).unwrap_err().kind(), ErrorKind::OutOfRange);
    }
    assert_eq!(buffer.copy_to_host(9, &mut []).unwrap_err().kind(), ErrorKind::OutOfRange);
    assert_eq!(fake::calls(), [""; 0]);
}

#[test]
fn raw_parts_make_slices_of_foreign_memory() {
    fake::install();
    let mut buffer = DeviceBuffer::from_host(b"foreign").unwrap();
    let (pointer, device) = (buffer.as_ptr(), buffer.device());
    // SAFETY: requires live memory that is not written; holds because the buffer lives on and is not used meanwhile.
    let slice = unsafe { DeviceSlice::from_raw_parts(pointer, 7, device) };
    assert_eq!(slice.to_vec().unwrap(), b"foreign");
    // SAFETY: requires live memory that nobody else uses; holds because the buffer lives on and is not used meanwhile.
    let mut slice = unsafe { DeviceSliceMut::from_raw_parts(pointer, 7, device) };
    slice.copy_from_host(0, b"F").unwrap();
    assert_eq!(buffer.to_vec().unwrap(), b"Foreign");
    buffer.fill(0).unwrap();
}

#[test]
fn a_buffer_remembers_its_device() {
    fake::install();
    let second = Device::new(1).unwrap();
    let buffer = {
        let _guard = second.make_current().unwrap();
        DeviceBuffer::from_host(b"on the second").unwrap()
    };
    assert_eq!(fake::current_device(), 0);
    assert_eq!(buffer.device(), second);
    assert_eq!(buffer.to_vec().unwrap(), b"on the second");
    fake::calls();
    drop(buffer);
    assert_eq!(fake::calls(), ["hipGetDevice", "hipSetDevice", "hipFree", "hipSetDevice"]);
    assert_eq!(fake::allocations(), 0);
}
