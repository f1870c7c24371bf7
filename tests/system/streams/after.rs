//! Blocking transfers that wait for GPU work first. SND-11.

use hipfile::alloc::{Event, HipError, Stream, StreamRef};
use hipfile::{After, ErrorKind, StreamFlags};
use hipfile_tests::soft;

use super::{PAGE, World};
use crate::common::filled;

#[test]
fn everything_that_can_be_waited_for() {
    fn there_and_back(world: &World, after: impl After + Copy) {
        let mut memory = filled(PAGE, 0);
        assert_eq!(world.file.read_at_after(after, memory.slice_mut(..).unwrap(), 0).unwrap(), PAGE);
        assert!(memory.to_vec().unwrap() == world.content[..PAGE]);
        assert_eq!(world.file.write_at_after(after, memory.slice(..).unwrap(), PAGE as u64).unwrap(), PAGE);
        assert!(world.file_content()[PAGE..] == world.content[..PAGE]);
    }
    let world = World::new(2 * PAGE);
    let (stream, event) = (Stream::new().unwrap(), Event::new().unwrap());
    event.record(stream.as_ref()).unwrap();
    there_and_back(&world, &stream);
    there_and_back(&world, stream.as_ref());
    there_and_back(&world, StreamRef::default_of(stream.device()));
    there_and_back(&world, &world.stream(StreamFlags::empty()));
    there_and_back(&world, &event);
}

/// The wait comes first, and if it fails there is no transfer.
#[test]
fn a_failed_wait_moves_nothing() {
    soft::only("streams::after::a_failed_wait_moves_nothing", &[], || {
        let world = World::new(PAGE);
        let mut memory = filled(PAGE, 7);
        let (stream, event) = (Stream::new().unwrap(), Event::new().unwrap());
        event.record(stream.as_ref()).unwrap();
        soft::plan_hip("hipStreamSynchronize:hip=719@1;hipEventSynchronize:hip=719@1");
        soft::plan_hipfile("hipFileRead:hipfile=5001;hipFileWrite:hipfile=5001");
        let error = world.file.read_at_after(&stream, memory.slice_mut(..).unwrap(), 0).unwrap_err();
        assert_eq!((error.kind(), error.hip_error()), (ErrorKind::Hip, Some(HipError::from(719))));
        let text = error.to_string();
        let place = format!("read {} at offset 0, 4096 bytes", world.path.display());
        assert!(
            text.starts_with(&format!("{place}: StreamRef::synchronize: hipStreamSynchronize failed: ")),
            "{text}"
        );
        let error = world.file.write_at_after(&event, memory.slice(..).unwrap(), 0).unwrap_err();
        assert!(error.to_string().contains("4096 bytes: Event::synchronize: hipEventSynchronize failed: "));
    });
}

/// What the stream has not written yet is not written to the file.
#[test]
fn a_write_waits_for_what_the_stream_writes() {
    soft::only("streams::after::a_write_waits_for_what_the_stream_writes", &[], || {
        let world = World::new(2 * PAGE);
        let stream = Stream::new().unwrap();
        let other = filled(PAGE, 9);
        let region = world.region(PAGE, 0);
        soft::plan_hip("hipStreamSynchronize:pause");
        let held = soft::pause(stream.as_raw());
        let read = world.file.read_owned(&stream, region, 0);
        std::thread::scope(|scope| {
            let write = scope.spawn(|| world.file.write_at_after(&stream, other.slice(..).unwrap(), 0));
            while soft::held_by_hip() == 0 {
                assert!(!write.is_finished(), "it did not wait");
                std::thread::yield_now();
            }
            drop(held);
            soft::plan_hip("");
            assert_eq!(write.join().unwrap().unwrap(), PAGE);
        });
        // The stream read the file before it was written, since the write waited for the stream.
        let done = read.wait().unwrap();
        assert!(super::bytes(&done.region) == world.content[..PAGE]);
        assert_eq!(world.file_content()[..PAGE], [9; PAGE]);
    });
}
