//! SND-03, SND-11: memory that comes and goes in the order of a stream.

use std::mem;

use hip_alloc::{Device, DeviceBuffer, Leaked, RawBuffer, Stream, StreamOptions, StreamRef, leaked};
use hipfile_tests::soft;

const LEN: usize = 1 << 20;

fn stream() -> Stream {
    StreamOptions::new().non_blocking(true).create().unwrap()
}

fn free_memory() -> usize {
    Device::current().unwrap().memory_info().unwrap().free
}

#[test]
fn it_is_memory_as_any_other() {
    let (stream, other) = (stream(), stream());
    let mut buffer = DeviceBuffer::new_on(&stream, LEN).unwrap();
    buffer.fill(1).unwrap();
    other.scope(|scope| scope.fill(buffer.slice_mut(10..20).unwrap(), 2)).unwrap();
    let buffer = other.fill(buffer, ..5, 3).wait().unwrap();
    let bytes = buffer.to_vec().unwrap();
    assert_eq!(bytes[..20], [[3; 5], [1; 5], [2; 5], [2; 5]].concat());
    assert_eq!(bytes[20..], [1; LEN - 20]);
    let mut on_default = DeviceBuffer::new_on(&StreamRef::default_of(buffer.device()).into(), LEN).unwrap();
    on_default.copy_from_host(0, &bytes).unwrap();
    assert_eq!(on_default.to_vec().unwrap(), bytes);
}

#[test]
fn it_is_freed_in_the_order_of_its_stream() {
    let test = "stream_ordered::it_is_freed_in_the_order_of_its_stream";
    soft::only(test, &[("SOFT_ROCM_STREAMS", "lazy")], || {
        let stream = stream();
        let before = free_memory();
        let buffer = DeviceBuffer::new_on(&stream, LEN).unwrap();
        assert_eq!(free_memory(), before - LEN);
        drop(buffer);
        assert_eq!(free_memory(), before - LEN, "the stream has not come to it");
        stream.synchronize().unwrap();
        assert_eq!(free_memory(), before);
        DeviceBuffer::new_on(&stream, LEN).unwrap().free().unwrap();
        stream.synchronize().unwrap();
        assert_eq!(free_memory(), before);
    });
}

#[test]
fn freeing_it_waits_for_nothing() {
    soft::only("stream_ordered::freeing_it_waits_for_nothing", &[], || {
        let (stream, other) = (stream(), stream());
        let buffer = DeviceBuffer::new_on(&stream, LEN).unwrap();
        // hipFree would wait for both.
        let held = [&stream, &other].map(|stream| soft::pause(stream.as_raw()));
        drop(buffer);
        drop(held);
        stream.synchronize().unwrap();
        assert_eq!(leaked(), Leaked::default());
    });
}

#[test]
fn everything_is_given_back_also_without_the_stream() {
    // Elsewhere the pool may keep some of it.
    soft::only("stream_ordered::everything_is_given_back_also_without_the_stream", &[], || {
        let before = free_memory();
        for round in 0..20 {
            let stream = stream();
            let buffer = DeviceBuffer::new_on(&stream, LEN).unwrap();
            if round % 2 == 0 {
                drop(stream);
            }
            let raw: RawBuffer = buffer.into_raw().unwrap();
            // SAFETY: requires parts that nobody else frees; holds because they were just taken.
            drop(unsafe { DeviceBuffer::from_raw(raw) });
        }
        assert_eq!(free_memory(), before);
        // Uses what the memory was freed on after that.
        let stream = stream();
        let buffer = DeviceBuffer::new_on(&stream, LEN).unwrap();
        let clone = stream.clone();
        mem::drop((stream, buffer));
        clone.synchronize().unwrap();
        assert_eq!(free_memory(), before);
        assert_eq!(leaked(), Leaked::default());
    });
}
