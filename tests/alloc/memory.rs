//! How much there is, what comes back, and what is said when there is not enough.

use hip_alloc::{Device, DeviceBuffer, ErrorKind, HipError};
use hipfile_tests::isolate::{alone, isolated};

#[test]
fn every_way_of_making_and_ending_a_buffer_gives_all_memory_back() {
    alone("memory::every_way_of_making_and_ending_a_buffer_gives_all_memory_back", || {
        let device = Device::current().unwrap();
        // The first allocation may cost the runtime something that stays.
        drop(DeviceBuffer::new(1 << 20).unwrap());
        let before = device.memory_info().unwrap();
        for _ in 0..20 {
            drop(DeviceBuffer::new(1 << 20).unwrap());
            DeviceBuffer::zeroed(3 << 20).unwrap().free().unwrap();
            drop(DeviceBuffer::with_alignment(10_007, 1 << 21).unwrap());
            let raw = DeviceBuffer::from_host(&[7; 5000]).unwrap().into_raw().unwrap();
            // SAFETY: requires parts that nobody else frees; holds because they were just taken.
            drop(unsafe { DeviceBuffer::from_raw(raw) });
            assert!(DeviceBuffer::new(1 << 60).is_err());
        }
        assert_eq!(device.memory_info().unwrap(), before);
        let buffer = DeviceBuffer::new(8 << 20).unwrap();
        assert!(device.memory_info().unwrap().free + (8 << 20) <= before.free);
        drop(buffer);
        assert_eq!(hip_alloc::leaked(), hip_alloc::Leaked::default());
    });
}

#[test]
fn out_of_memory_names_the_need_and_what_is_free_and_passes() {
    isolated(
        "memory::out_of_memory_names_the_need_and_what_is_free_and_passes",
        &[("SOFT_ROCM_DEVICE_MEM", "64M")],
        || {
            let total = Device::current().unwrap().memory_info().unwrap().total;
            let half = DeviceBuffer::new(total / 2).unwrap();
            let error = DeviceBuffer::new(total).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::OutOfMemory);
            assert_eq!(error.hip_error(), Some(HipError::OUT_OF_MEMORY));
            let free = Device::current().unwrap().memory_info().unwrap().free;
            let text = error.to_string();
            assert!(
                text.starts_with(&format!(
                    "DeviceBuffer::new: hipMalloc of {total} bytes on device 0 failed: hipErrorOutOfMemory (2): "
                )),
                "{text}"
            );
            assert!(text.ends_with(&format!("; {free} of {total} bytes are free")), "{text}");
            drop(half);
            DeviceBuffer::zeroed(total / 2).unwrap();
        },
    );
}

#[test]
fn zeroed_memory_is_zero_where_other_content_was() {
    for _ in 0..10 {
        let mut dirty = DeviceBuffer::new(1 << 20).unwrap();
        dirty.fill(0xff).unwrap();
        drop(dirty);
        let clean = DeviceBuffer::zeroed(1 << 20).unwrap();
        assert!(clean.to_vec().unwrap().iter().all(|byte| *byte == 0));
    }
}

#[test]
fn alignment_is_as_asked() {
    for shift in [0, 4, 9, 12, 16, 21] {
        let buffer = DeviceBuffer::with_alignment(10_007, 1 << shift).unwrap();
        assert_eq!(buffer.as_ptr().addr() % (1 << shift), 0);
        assert_eq!(buffer.len(), 10_007);
    }
}

#[test]
fn names_and_texts_of_codes_come_from_hip() {
    Device::count().unwrap();
    assert_eq!(HipError::OUT_OF_MEMORY.name(), Some("hipErrorOutOfMemory"));
    let text = HipError::OUT_OF_MEMORY.to_string();
    assert!(text.starts_with("hipErrorOutOfMemory (2)"), "{text}");
    // Any number is a code: SND-04.
    for code in [0, 911, 1055, 2000, u32::MAX] {
        let error = HipError::from(code);
        assert_eq!(u32::from(error), code);
        assert!(error.to_string().contains(&code.to_string()), "{error}");
    }
}
