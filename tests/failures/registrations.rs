//! Registered memory, regions and registered streams.

use hipfile::alloc::DeviceBuffer;
use hipfile::{Driver, Failed, Registered, RegisteredStream, StreamFlags};

use crate::entry::{About, Entry, Named, Outcome, all, done, given_back, kept};
use crate::stage::{LEN, Stage};

pub fn entries() -> Vec<Entry> {
    let named: &[Named] = &[
        ("Driver::register", |stage| registered(stage, |driver, buffer| driver.register(buffer))),
        ("Driver::register_range", |stage| {
            registered(stage, |driver, buffer| driver.register_range(buffer, ..LEN / 2))
        }),
        ("Driver::try_register", |stage| tried(stage, |driver, buffer| driver.try_register(buffer))),
        ("Driver::try_register_range", |stage| {
            tried(stage, |driver, buffer| driver.try_register_range(buffer, ..LEN / 2))
        }),
        ("Registered::from_raw", |stage| {
            let buffer = stage.buffer.as_ref().expect("it is there");
            let (pointer, len, device) = (buffer.as_ptr(), buffer.len(), buffer.device().ordinal() as i32);
            // SAFETY: requires device memory that stays while it is registered and that nobody else uses; holds because the
            // stage drops what is kept before its buffer, which is left alone.
            let registered = unsafe { Registered::from_raw(stage.driver(), pointer, len, device) }?;
            kept(stage, registered)
        }),
        ("Registered::deregister", |stage| {
            let deregistered = stage.registered.take().expect("it is there").deregister();
            given_back(stage, deregistered)
        }),
        ("Registered::slice", |stage| done(memory(stage).slice(3..9)?)),
        ("Registered::slice_mut", |stage| done(memory(stage).slice_mut(3..9)?)),
        ("Registered::into_regions", |stage| {
            let regions = stage.registered.take().expect("it is there").into_regions(4096)?;
            kept(stage, regions.collect::<Vec<_>>())
        }),
        ("RegisteredSlice::slice", |stage| done(memory(stage).slice(..)?.slice(3..9)?)),
        ("RegisteredSlice::split_at", |stage| done(memory(stage).slice(..)?.split_at(9)?)),
        ("RegisteredSliceMut::slice", |stage| done(memory(stage).slice_mut(..)?.slice(3..9)?)),
        ("RegisteredSliceMut::slice_mut", |stage| done(memory(stage).slice_mut(..)?.slice_mut(3..9)?)),
        ("RegisteredSliceMut::split_at_mut", |stage| done(memory(stage).slice_mut(..)?.split_at_mut(9)?)),
        ("drop of Registered", |stage| done(stage.registered.take())),
        ("drop of Region", |stage| done(stage.region.take())),
        ("Region::slice", |stage| done(stage.region.as_ref().expect("it is there").slice(3..9)?)),
        ("Region::slice_mut", |stage| done(stage.region.as_mut().expect("it is there").slice_mut(3..9)?)),
        ("Region::split_to", |stage| {
            let head = stage.region.as_mut().expect("it is there").split_to(9)?;
            kept(stage, head)
        }),
        ("Region::split_in_step", |stage| {
            let region = stage.region.as_mut().expect("it is there");
            let offset = region.as_ptr().addr() as u64;
            let piece = region.split_in_step(offset + 3, 9)?;
            kept(stage, piece)
        }),
        ("Region::split_off and Region::unsplit", |stage| {
            let head = stage.region.as_mut().expect("it is there");
            let tail = head.split_off(9)?;
            head.unsplit(tail).expect("they belong together");
            Ok(())
        }),
        ("Region::try_into_registered", |stage| {
            let region = stage.region.take().expect("it is there");
            let registered: Registered<DeviceBuffer> = region.try_into_registered().expect("it is whole");
            kept(stage, registered)
        }),
        ("RegisteredStream::new", |stage| {
            let stream = stage.stream().clone();
            let stream = RegisteredStream::new(stage.driver(), stream, StreamFlags::empty())?;
            kept(stage, stream)
        }),
        ("RegisteredStream::deregister", |stage| {
            let deregistered = stage.registered_stream.take().expect("it is there").deregister();
            given_back(stage, deregistered)
        }),
        ("drop of RegisteredStream", |stage| done(stage.registered_stream.take())),
    ];
    all(About::Operation, named).collect()
}

fn memory(stage: &mut Stage) -> &mut Registered<DeviceBuffer> {
    stage.registered.as_mut().expect("it is there")
}

fn registered(
    stage: &mut Stage,
    register: impl FnOnce(&Driver, DeviceBuffer) -> hipfile::Result<Registered<DeviceBuffer>>,
) -> Outcome {
    let buffer = stage.buffer.take().expect("it is there");
    let registered = register(stage.driver(), buffer)?;
    kept(stage, registered)
}

type Tried = Result<Registered<DeviceBuffer>, Failed<DeviceBuffer>>;

fn tried(stage: &mut Stage, register: impl FnOnce(&Driver, DeviceBuffer) -> Tried) -> Outcome {
    let buffer = stage.buffer.take().expect("it is there");
    let registered = register(stage.driver(), buffer);
    given_back(stage, registered)
}
