//! SND-01, SND-02, SND-11: copies that own their memory, on streams that are held or start late.

use hip_alloc::{DeviceBuffer, ErrorKind, Leaked, PinnedBuffer, Stream, StreamOptions, leaked};
use hipfile_tests::isolate::LEAKS;
use hipfile_tests::soft;

use crate::{free_memory, until};

const LEN: usize = 1 << 20;

/// Not ordered with the default stream, so that only the operation's end counts.
fn stream() -> Stream {
    StreamOptions::new().non_blocking(true).create().unwrap()
}

fn pattern(seed: u8) -> Vec<u8> {
    (0..LEN).map(|index| (index as u8).wrapping_mul(29).wrapping_add(seed)).collect()
}

#[test]
fn streams_that_start_late_are_started_by_the_wait() {
    let test = "owned_copies::streams_that_start_late_are_started_by_the_wait";
    soft::only(test, &[("SOFT_ROCM_STREAMS", "lazy")], || {
        let stream = stream();
        let device = DeviceBuffer::zeroed(LEN).unwrap();
        let first = stream.copy_from_host(device, 0, PinnedBuffer::from_slice(&pattern(1)).unwrap());
        let (device, host) = first.wait().unwrap();
        let device = stream.fill(device, LEN / 2.., 7).wait().unwrap();
        let (twin, _) = stream.copy(DeviceBuffer::zeroed(LEN).unwrap(), 0, device).wait().unwrap();
        let (_, host) = stream.copy_to_host(twin, 0, host).wait().unwrap();
        assert_eq!(host[..LEN / 2], pattern(1)[..LEN / 2]);
        assert_eq!(host[LEN / 2..], [7; LEN / 2]);
    });
}

#[test]
fn memory_is_nobody_elses_until_the_stream_has_passed() {
    soft::only("owned_copies::memory_is_nobody_elses_until_the_stream_has_passed", &[], || {
        let stream = stream();
        let (device, host) =
            (DeviceBuffer::zeroed(LEN).unwrap(), PinnedBuffer::from_slice(&pattern(2)).unwrap());
        let address = device.as_ptr();
        let held = soft::pause(stream.as_raw());
        let operation = stream.copy_from_host(device, 0, host);
        assert!(!operation.is_finished());
        let operation = operation.try_wait().unwrap_err();
        let others: Vec<_> = (0..16).map(|_| DeviceBuffer::new(LEN).unwrap()).collect();
        assert!(others.iter().all(|other| other.as_ptr() != address));
        drop(held);
        let (device, host) = operation.wait().unwrap();
        assert_eq!((device.as_ptr(), device.to_vec().unwrap()), (address, pattern(2)));
        assert_eq!(*host, pattern(2));
    });
}

#[test]
fn what_a_dropped_operation_owned_goes_when_the_stream_has_passed() {
    soft::only("owned_copies::what_a_dropped_operation_owned_goes_when_the_stream_has_passed", &[], || {
        let stream = stream();
        let device = DeviceBuffer::zeroed(LEN).unwrap();
        let before = free_memory();
        let held = soft::pause(stream.as_raw());
        drop(stream.fill(device, .., 1));
        assert_eq!(free_memory(), before);
        drop(held);
        until(|| free_memory() >= before + LEN);
        assert_eq!(leaked(), Leaked::default());
    });
}

#[test]
fn what_a_forgotten_operation_owned_stays() {
    soft::only("owned_copies::what_a_forgotten_operation_owned_stays", &[LEAKS], || {
        let stream = stream();
        let device = DeviceBuffer::zeroed(LEN).unwrap();
        let before = free_memory();
        std::mem::forget(stream.fill(device, .., 1));
        stream.synchronize().unwrap();
        assert_eq!(free_memory(), before);
        assert_eq!(leaked(), Leaked::default());
    });
}

#[test]
fn a_copy_that_hip_refuses_gives_its_memory_back() {
    let test = "owned_copies::a_copy_that_hip_refuses_gives_its_memory_back";
    soft::only(test, &[("SOFT_ROCM_FAULTS", "hipMemcpyAsync:hip=2@1")], || {
        let (stream, host) = (stream(), PinnedBuffer::zeroed(LEN).unwrap());
        let device = DeviceBuffer::from_host(&pattern(3)).unwrap();
        let failed = stream.copy_to_host(device, 0, host).wait().unwrap_err();
        assert_eq!(failed.error().kind(), ErrorKind::OutOfMemory);
        let (device, host) = failed.into_parts().1.unwrap();
        let (_, host) = stream.copy_to_host(device, 0, host).wait().unwrap();
        assert_eq!(*host, pattern(3));
    });
}

#[test]
fn a_lost_device_leaks_what_is_in_its_streams() {
    soft::only("owned_copies::a_lost_device_leaks_what_is_in_its_streams", &[LEAKS], || {
        let stream = stream();
        let (device, host) = (DeviceBuffer::zeroed(LEN).unwrap(), PinnedBuffer::zeroed(LEN).unwrap());
        let before = free_memory();
        let held = soft::pause(stream.as_raw());
        let operation = stream.copy_from_host(device, 0, host);
        soft::plan_hip("hipStreamQuery:hip=719");
        let failed = operation.wait().unwrap_err();
        assert!(failed.inputs().is_none());
        assert_eq!(failed.error().kind(), ErrorKind::Hip);
        let lost = leaked();
        assert_eq!((lost.allocations, lost.bytes), (1, 2 * LEN as u64));
        drop(held);
        soft::plan_hip("");
        stream.synchronize().unwrap();
        assert_eq!(free_memory(), before);
    });
}
