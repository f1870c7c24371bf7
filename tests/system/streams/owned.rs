//! What owned transfers own, and in which order they are done.

use std::sync::Arc;

use hipfile::alloc::{Device, DeviceBuffer, InFlight, Stream, StreamRef};
use hipfile::{ErrorKind, Request, StreamFlags};
use hipfile_tests::soft;

use super::{PAGE, WAYS, World, bytes};
use crate::common::{descriptors, open, pattern};

/// The stream does them one after the other: what was written is read again, though both were put on it before either ran.
#[test]
fn a_stream_keeps_the_order() {
    soft::only("streams::owned::a_stream_keeps_the_order", &[], || {
        let world = World::new(8 * PAGE);
        let stream = world.stream(StreamFlags::FIXED_VALUES);
        let new = pattern(2 * PAGE, 42);
        let (from, into) = (world.region_of(&new), world.region(2 * PAGE, 0));
        let held = soft::pause(stream.stream().as_raw());
        let write = world.file.write_owned(&stream, from, 3 * PAGE as u64);
        let read = world.file.read_owned(&stream, into, 3 * PAGE as u64);
        assert!(!write.is_finished() && !read.is_finished());
        let read = read.try_wait().expect_err("the stream is held");
        drop(held);
        let done = read.wait().unwrap();
        assert!(bytes(&done.region) == new);
        assert!(write.is_finished(), "it came first");
        assert_eq!(write.wait().unwrap().bytes, 2 * PAGE);
    });
}

/// SND-01: the operation has all that it needs, whoever else has gone.
#[test]
fn everything_else_may_be_dropped() {
    soft::only("streams::owned::everything_else_may_be_dropped", &[], || {
        let before = descriptors();
        let world = World::new(4 * PAGE);
        let stream = world.stream(StreamFlags::FIXED_VALUES);
        let raw = stream.stream().as_raw();
        let region = world.region(4 * PAGE, 0);
        let held = soft::pause(raw);
        let transfer = world.file.read_owned(&stream, region, 0);
        let World { driver, file, content, .. } = world;
        drop((stream, file, driver));
        assert!(descriptors() > before, "the file is open");
        drop(held);
        let done = transfer.wait().unwrap();
        assert!(bytes(&done.region) == content);
        let registered = done.region.try_into_registered::<DeviceBuffer>().unwrap();
        registered.deregister().unwrap().free().unwrap();
        assert_eq!(hipfile::alloc::leaked().allocations, 0);
    });
}

/// SND-10: many at a time, on several streams of two devices, registered or not; nobody's current device changes.
#[test]
fn several_streams_and_devices() {
    let two = [("SOFT_ROCM_DEVICE_COUNT", "2")];
    soft::only("streams::owned::several_streams_and_devices", &two, || {
        const PIECES: usize = 32;
        let world = World::new(PIECES * PAGE);
        let current = Device::current().unwrap();
        let mut under_way = Vec::new();
        for device in Device::all().unwrap() {
            let (pool, registered, plain) = {
                let _guard = device.make_current().unwrap();
                let registered = world.stream(StreamFlags::FIXED_SIZE);
                (world.region(PIECES * PAGE, 0), registered, Stream::new().unwrap())
            };
            let default = Stream::from(StreamRef::default_of(device));
            let mut rest = pool;
            for piece in 0..PIECES {
                let region = rest.split_to(PAGE).unwrap();
                assert_eq!(region.device(), device);
                let offset = (piece * PAGE) as u64;
                under_way.push(match piece % 3 {
                    0 => world.file.read_owned(&registered, region, offset),
                    1 => world.file.read_owned(&plain, region, offset),
                    _ => world.file.read_owned(&default, region, offset),
                });
                assert_eq!(Device::current().unwrap(), current);
            }
        }
        for (index, transfer) in under_way.into_iter().enumerate() {
            let done = transfer.wait().unwrap();
            let at = index % PIECES * PAGE;
            assert!(bytes(&done.region) == world.content[at..at + PAGE], "piece {index}");
        }
        assert_eq!(Device::current().unwrap(), current);
    });
}

/// HF-ASYNC-05 is not reached: the devices are compared before.
#[test]
fn a_stream_of_another_device_is_refused() {
    let two = [("SOFT_ROCM_DEVICE_COUNT", "2")];
    soft::only("streams::owned::a_stream_of_another_device_is_refused", &two, || {
        let world = World::new(PAGE);
        let mut region = world.region(PAGE, 7);
        let other = {
            let _guard = Device::new(1).unwrap().make_current().unwrap();
            Stream::new().unwrap()
        };
        soft::plan_hipfile("hipFileReadAsync:hipfile=5001;hipFileWriteAsync:hipfile=5001");
        for (way, make) in WAYS {
            let failed = make(&world.file, region, 0).submit(&other).wait().unwrap_err();
            let (error, back) = failed.into_parts();
            assert_eq!(error.kind(), ErrorKind::InvalidInput);
            let place = format!("{way} {} at offset 0, 4096 bytes", world.path.display());
            assert_eq!(
                error.to_string(),
                format!("{place}: the memory is on device 0 and the stream on device 1")
            );
            region = back.unwrap();
            assert_eq!(bytes(&region), [7; PAGE]);
        }
    });
}

/// A place is taken as long as the stream has not passed the transfer, whether or not anybody asks for the result.
#[test]
fn a_place_is_free_again_when_the_stream_has_passed() {
    soft::only("streams::owned::a_place_is_free_again_when_the_stream_has_passed", &[], || {
        let world = World::new(PAGE);
        let stream = world.stream(StreamFlags::FIXED_VALUES);
        let (first, second) = (world.region(PAGE, 0), world.region(PAGE, 0));
        let bound = InFlight::new(1);
        let held = soft::pause(stream.stream().as_raw());
        let transfer = Request::read(&world.file, first, 0).place(bound.acquire()).submit(&stream);
        assert!(bound.try_acquire().is_none());
        drop(held);
        // Waits until there is one; nobody has asked for the result of the first.
        let place = bound.acquire();
        let next = Request::read(&world.file, second, 0).place(place).submit(&stream);
        assert!(bytes(&transfer.wait().unwrap().region) == world.content);
        drop(next);
        drop(bound.acquire());
        assert_eq!(bound.in_use(), 0);
    });
}

/// Many in flight at once, from many threads, into one pool.
#[test]
fn threads_share_streams_and_pool() {
    const PIECES: usize = 64;
    let world = World::new(PIECES * PAGE);
    let stream = world.stream(StreamFlags::FIXED_VALUES);
    let mut pool = world.region(PIECES * PAGE, 0);
    let pieces: Vec<_> = (0..PIECES).map(|_| pool.split_to(PAGE).unwrap()).collect();
    let done = std::thread::scope(|scope| {
        let workers: Vec<_> = pieces
            .into_iter()
            .enumerate()
            .map(|(index, region)| {
                let (file, stream) = (Arc::clone(&world.file), stream.clone());
                scope.spawn(move || file.read_owned(&stream, region, (index * PAGE) as u64).wait())
            })
            .collect();
        workers.into_iter().map(|worker| worker.join().unwrap().unwrap()).collect::<Vec<_>>()
    });
    let mut whole = pool;
    for piece in done.into_iter().rev() {
        let mut region = piece.region;
        region.unsplit(whole).unwrap();
        whole = region;
    }
    assert!(bytes(&whole) == world.content);
}

/// Two handles of one file, one of which goes while its transfer is under way.
#[test]
fn a_file_is_closed_after_its_last_transfer() {
    soft::only("streams::owned::a_file_is_closed_after_its_last_transfer", &[], || {
        let world = World::new(PAGE);
        let other = Arc::new(open(&world.driver, &world.path));
        let stream = Stream::new().unwrap();
        let region = world.region(PAGE, 0);
        let open = descriptors();
        let held = soft::pause(stream.as_raw());
        let transfer = Request::read(&other, region, 0).submit(&stream);
        drop(other);
        assert_eq!(descriptors(), open);
        drop(held);
        assert!(bytes(&transfer.wait().unwrap().region) == world.content);
        assert!(descriptors() < open);
    });
}
