//! SND-10: the current device belongs to the thread and stays what it was.

use std::thread;

use hip_alloc::{Device, DeviceBuffer, ErrorKind};
use hipfile_tests::isolate::isolated;

/// Runs `body` in a process with two devices, or says why it can't.
fn with_two_devices(test: &str, body: impl FnOnce(Device, Device)) {
    isolated(test, &[("SOFT_ROCM_DEVICE_COUNT", "2")], || {
        if Device::count().unwrap() < 2 {
            println!("skipped: this machine has one device");
            return;
        }
        body(Device::new(0).unwrap(), Device::new(1).unwrap());
    });
}

#[test]
fn a_buffer_is_used_on_its_device_from_any_other() {
    with_two_devices("devices::a_buffer_is_used_on_its_device_from_any_other", |first, second| {
        assert_eq!(Device::current().unwrap(), first);
        let guard = second.make_current().unwrap();
        let mut buffer = DeviceBuffer::from_host(b"second").unwrap();
        drop(guard);
        assert_eq!(buffer.device(), second);
        buffer.slice_mut(..3).unwrap().fill(b'-').unwrap();
        buffer.copy_from_host(3, b"!").unwrap();
        assert_eq!(buffer.to_vec().unwrap(), b"---!nd");
        assert_eq!(Device::current().unwrap(), first);
        let used = second.memory_info().unwrap();
        buffer.free().unwrap();
        assert!(second.memory_info().unwrap().free > used.free, "freed where it was allocated");
        assert_eq!(Device::current().unwrap(), first);
    });
}

#[test]
fn each_thread_has_its_own_current_device() {
    with_two_devices("devices::each_thread_has_its_own_current_device", |first, second| {
        let _guard = second.make_current().unwrap();
        thread::scope(|scope| {
            scope.spawn(|| {
                assert_eq!(Device::current().unwrap(), first);
                let _guard = first.make_current().unwrap();
                assert_eq!(DeviceBuffer::new(1).unwrap().device(), first);
            });
        });
        assert_eq!(DeviceBuffer::new(1).unwrap().device(), second);
    });
}

#[test]
fn a_guard_restores_when_unwinding_and_not_when_forgotten() {
    with_two_devices("devices::a_guard_restores_when_unwinding_and_not_when_forgotten", |first, second| {
        let unwound = thread::spawn(move || {
            let outcome = std::panic::catch_unwind(|| {
                let _guard = second.make_current().unwrap();
                panic!("as planned");
            });
            (outcome.is_err(), Device::current().unwrap())
        });
        assert_eq!(unwound.join().unwrap(), (true, first));
        std::mem::forget(second.make_current().unwrap());
        assert_eq!(Device::current().unwrap(), second);
        // Everything goes on, on the device that is current now.
        assert_eq!(DeviceBuffer::zeroed(8).unwrap().device(), second);
    });
}

#[test]
fn a_buffer_dropped_on_another_thread_is_freed_on_its_device() {
    with_two_devices("devices::a_buffer_dropped_on_another_thread_is_freed_on_its_device", |_, second| {
        let before = second.memory_info().unwrap();
        let guard = second.make_current().unwrap();
        let buffer = DeviceBuffer::new(1 << 20).unwrap();
        thread::spawn(move || drop(buffer)).join().unwrap();
        drop(guard);
        assert_eq!(second.memory_info().unwrap(), before);
        assert_eq!(hip_alloc::leaked(), hip_alloc::Leaked::default());
    });
}

#[test]
fn without_a_device_there_is_an_error_and_no_more() {
    isolated(
        "devices::without_a_device_there_is_an_error_and_no_more",
        &[("SOFT_ROCM_DEVICE_COUNT", "0")],
        || {
            if Device::count().unwrap() > 0 {
                println!("skipped: this machine has a device");
                return;
            }
            assert_eq!(Device::all().unwrap().count(), 0);
            let error = Device::new(0).unwrap_err();
            assert_eq!(error.to_string(), "Device::new: there is no device 0: HIP has no device");
            for error in [
                Device::new(0).unwrap_err(),
                Device::current().unwrap_err(),
                DeviceBuffer::new(0).unwrap_err(),
                DeviceBuffer::from_host(b"abc").unwrap_err(),
            ] {
                assert_eq!(error.kind(), ErrorKind::NoDevice, "{error}");
            }
        },
    );
}

#[test]
fn ordinals_beyond_the_last_are_refused() {
    let count = Device::count().unwrap();
    for ordinal in [count, count + 1, i32::MAX as u32, i32::MAX as u32 + 1, u32::MAX] {
        assert_eq!(Device::new(ordinal).unwrap_err().kind(), ErrorKind::NoDevice);
    }
    let ordinals: Vec<_> = Device::all().unwrap().map(Device::ordinal).collect();
    assert_eq!(ordinals, (0..count).collect::<Vec<_>>());
}
