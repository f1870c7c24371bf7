//! Device memory as elements of a type.

use std::ops::Bound;

use hip_alloc::{DeviceBuffer, DeviceSlice, ErrorKind, TypedSlice, TypedSliceMut};

#[test]
fn memory_that_is_no_elements_is_refused() {
    let buffer = DeviceBuffer::zeroed(64).unwrap();
    let bytes = buffer.as_slice();
    let address = buffer.as_ptr().addr();

    let error = bytes.slice(..12).unwrap().typed::<u64>().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    let expected = format!(
        "DeviceSlice::typed: 12 bytes at {address:#x} are no whole number of elements of 8 bytes that are aligned to 8"
    );
    assert_eq!(error.to_string(), expected);

    let error = bytes.slice(2..10).unwrap().typed::<u32>().unwrap_err();
    let expected = format!(
        "DeviceSlice::typed: 8 bytes at {:#x} are no whole number of elements of 4 bytes that are aligned to 4",
        address + 2
    );
    assert_eq!(error.to_string(), expected);
    assert_eq!(bytes.slice(2..10).unwrap().typed::<[u8; 4]>().unwrap().len(), 2);

    let error = bytes.typed::<()>().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);

    let mut buffer = DeviceBuffer::zeroed(3).unwrap();
    let error = buffer.as_mut_slice().typed::<u16>().unwrap_err();
    assert!(error.to_string().starts_with("DeviceSliceMut::typed: 3 bytes at 0x"), "{error}");
}

#[test]
fn memory_of_no_bytes_is_no_elements_anywhere() {
    let buffer = DeviceBuffer::zeroed(8).unwrap();
    let empty = buffer.slice(3..3).unwrap().typed::<u64>().unwrap();
    assert!(empty.is_empty());
    assert_eq!(empty.to_vec().unwrap(), [0_u64; 0]);
}

#[test]
fn ranges_count_elements() {
    let numbers: Vec<u32> = (0..8).collect();
    let buffer = DeviceBuffer::from_host(bytemuck::cast_slice(&numbers)).unwrap();
    let typed = buffer.as_slice().typed::<u32>().unwrap();
    assert_eq!(typed.slice(2..5).unwrap().to_vec().unwrap(), [2, 3, 4]);
    assert_eq!(typed.slice(6..=7).unwrap().to_vec().unwrap(), [6, 7]);
    assert_eq!(typed.slice((Bound::Excluded(5), Bound::Unbounded)).unwrap().to_vec().unwrap(), [6, 7]);
    assert_eq!(typed.slice(..).unwrap().to_vec().unwrap(), numbers);

    let text = |error: hip_alloc::Error| {
        assert_eq!(error.kind(), ErrorKind::OutOfRange);
        error.to_string()
    };
    let range = typed.slice(7..9).unwrap_err();
    assert_eq!(text(range), "DeviceSlice::slice: bytes 28..36 are not within 0..32");
    let mut two = [0_u32; 2];
    let copy = typed.copy_to_host(7, &mut two).unwrap_err();
    assert_eq!(text(copy), "TypedSlice::copy_to_host: 8 bytes at offset 28 are not within 0..32");
    // What overflows in bytes is out of range, and no small number.
    let wraps = usize::MAX / 4 + 2;
    assert_eq!(typed.copy_to_host(wraps, &mut two).unwrap_err().kind(), ErrorKind::OutOfRange);
    assert_eq!(typed.slice(wraps..).unwrap_err().kind(), ErrorKind::OutOfRange);
    assert_eq!(typed.slice(..=usize::MAX).unwrap_err().kind(), ErrorKind::OutOfRange);
}

#[test]
fn writing_stays_within_the_elements() {
    let mut buffer = DeviceBuffer::zeroed(16).unwrap();
    let mut typed = buffer.slice_mut(4..12).unwrap().typed::<u16>().unwrap();
    let error = typed.copy_from_host(3, &[1, 2]).unwrap_err();
    assert_eq!(error.to_string(), "TypedSliceMut::copy_from_host: 4 bytes at offset 6 are not within 0..8");
    typed.copy_from_host(2, &[0x0101, 0x0202]).unwrap();
    typed.slice_mut(..1).unwrap().copy_from_host(0, &[u16::MAX]).unwrap();
    assert_eq!(buffer.to_vec().unwrap(), [0, 0, 0, 0, 255, 255, 0, 0, 1, 1, 2, 2, 0, 0, 0, 0]);
}

#[test]
fn typed_memory_crosses_threads_as_bytes_do() {
    fn both<T: Send + Sync>(_: &T) {}
    let mut buffer = DeviceBuffer::zeroed(4).unwrap();
    let bytes: DeviceSlice<'_> = buffer.as_slice();
    let typed: TypedSlice<'_, u32> = bytes.typed().unwrap();
    both(&typed);
    assert!(format!("{typed:?}").starts_with("TypedSlice { of: \"u32\", bytes: DeviceSlice"), "{typed:?}");
    let typed: TypedSliceMut<'_, u32> = buffer.as_mut_slice().typed().unwrap();
    both(&typed);
    assert!(format!("{typed:?}").starts_with("TypedSliceMut { of: \"u32\","), "{typed:?}");
}
