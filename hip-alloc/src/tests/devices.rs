//! SND-10: the current device is the same before and after, whatever fails.

use super::fake;
use crate::{Device, DeviceAttribute, DeviceBuffer, ErrorKind, PinnedBuffer, Stream, StreamRef};

type Operation = fn(&mut DeviceBuffer);

/// Every public operation that calls HIP, on a buffer of device 1.
fn operations() -> Vec<(&'static str, Operation)> {
    vec![
        ("count", |_| _ = Device::count()),
        ("new", |_| _ = Device::new(1)),
        ("all", |_| _ = Device::all()),
        ("current", |_| _ = Device::current()),
        ("make_current", |buffer| drop(buffer.device().make_current())),
        ("memory_info", |buffer| _ = buffer.device().memory_info()),
        ("DeviceBuffer::new", |_| drop(DeviceBuffer::new(10))),
        ("zeroed", |_| drop(DeviceBuffer::zeroed(10))),
        ("with_alignment", |_| drop(DeviceBuffer::with_alignment(10, 4096))),
        ("from_host", |_| drop(DeviceBuffer::from_host(b"abc"))),
        ("copy_to_host", |buffer| _ = buffer.copy_to_host(0, &mut [0; 3])),
        ("copy_from_host", |buffer| _ = buffer.copy_from_host(0, &[0; 3])),
        ("to_vec", |buffer| _ = buffer.to_vec()),
        ("fill", |buffer| _ = buffer.fill(1)),
        ("slice", |buffer| _ = buffer.slice(..3).and_then(|slice| slice.to_vec())),
        ("slice_mut", |buffer| _ = buffer.slice_mut(..3).and_then(|mut slice| slice.fill(1))),
        ("free", |buffer| _ = core::mem::replace(buffer, on_second()).free()),
        ("into_raw", |buffer| _ = core::mem::replace(buffer, on_second()).into_raw()),
        ("drop", |buffer| *buffer = on_second()),
        ("attribute", |buffer| _ = buffer.device().attribute(DeviceAttribute::WARP_SIZE)),
        ("PinnedBuffer", |_| drop(PinnedBuffer::zeroed(3))),
        ("new_on", |buffer| drop(DeviceBuffer::new_on(&stream_of(buffer), 10))),
        ("owned fill", |buffer| {
            let stream = stream_of(buffer);
            _ = stream.fill(core::mem::replace(buffer, on_second()), .., 1).wait();
        }),
        ("scope", |buffer| {
            _ = stream_of(buffer).scope(|scope| scope.fill(buffer.as_mut_slice(), 1));
        }),
    ]
}

/// A stream of a buffer's device.
fn stream_of(buffer: &DeviceBuffer) -> Stream {
    StreamRef::default_of(buffer.device()).into()
}

/// A buffer on device 1, whatever is scripted to fail.
fn on_second() -> DeviceBuffer {
    let before = fake::current_device();
    fake::fail_no_more();
    fake::set_current_device(1);
    let buffer = DeviceBuffer::new(16).unwrap();
    fake::set_current_device(before);
    buffer
}

#[test]
fn the_current_device_is_kept_by_every_operation_and_every_failure() {
    let _alone = fake::leaking_alone();
    for (operation, run) in operations() {
        for function in [
            "none",
            "hipDeviceGetAttribute",
            "hipFree",
            "hipFreeAsync",
            "hipGetDevice",
            "hipGetDeviceCount",
            "hipHostMalloc",
            "hipMalloc",
            "hipMallocAsync",
            "hipMemGetInfo",
            "hipMemcpy",
            "hipMemset",
            "hipMemsetAsync",
            "hipSetDevice",
            "hipStreamSynchronize",
        ] {
            for nth in 1..=3 {
                // The second switch of a call is the way back: nothing can be done if that fails.
                if function == "hipSetDevice" && nth > 1 {
                    continue;
                }
                // The closing wait of a scope that fails ends the process.
                if operation == "scope"
                    && matches!((function, nth), ("hipStreamSynchronize", 1) | ("hipGetDevice", 2))
                {
                    continue;
                }
                for current in [0, 1] {
                    fake::install();
                    let mut buffer = on_second();
                    fake::set_current_device(current);
                    fake::fail(function, nth, 719);
                    run(&mut buffer);
                    assert_eq!(
                        fake::current_device(),
                        current,
                        "{operation} with {function} failing at call {nth}"
                    );
                    fake::fail_no_more();
                }
            }
        }
    }
}

#[test]
fn one_call_when_the_device_is_current_already() {
    fake::install();
    let device = Device::current().unwrap();
    fake::calls();
    drop(device.make_current().unwrap());
    assert_eq!(fake::calls(), ["hipGetDevice"]);
}

#[test]
fn guards_nest_and_unwinding_restores() {
    fake::install();
    fake::set_devices(3);
    let [_, one, two] = [0, 1, 2].map(|ordinal| Device::new(ordinal).unwrap());
    let outer = one.make_current().unwrap();
    let inner = two.make_current().unwrap();
    assert_eq!(Device::current().unwrap(), two);
    drop(inner);
    assert_eq!(Device::current().unwrap(), one);
    drop(outer);
    assert_eq!(fake::current_device(), 0);
    let unwound = std::panic::catch_unwind(|| {
        let _guard = two.make_current().unwrap();
        panic!("as planned");
    });
    assert!(unwound.is_err());
    assert_eq!(fake::current_device(), 0);
}

#[test]
fn devices_that_are_not_there() {
    fake::install();
    for ordinal in [2, 3, u32::MAX, 1 << 31] {
        let error = Device::new(ordinal).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NoDevice);
        assert_eq!(
            error.to_string(),
            format!("Device::new: there is no device {ordinal}: HIP has devices 0 to 1")
        );
    }
    assert_eq!(Device::all().unwrap().map(Device::ordinal).collect::<Vec<_>>(), [0, 1]);
    fake::set_devices(0);
    assert_eq!(Device::count().unwrap(), 0);
    assert_eq!(Device::all().unwrap().len(), 0);
    assert_eq!(
        Device::new(0).unwrap_err().to_string(),
        "Device::new: there is no device 0: HIP has no device"
    );
    fake::set_devices(-1);
    assert_eq!(Device::count().unwrap(), 0);
}

#[test]
fn a_negative_current_device_is_no_device() {
    fake::install();
    fake::set_current_device(-1);
    assert_eq!(Device::current().unwrap_err().kind(), ErrorKind::NoDevice);
    assert_eq!(DeviceBuffer::new(1).unwrap_err().kind(), ErrorKind::NoDevice);
}
