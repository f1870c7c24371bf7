//! Streams, events, scopes and owned copies.

use hip_alloc::{CopyError, DeviceBuffer, Event, Operation, OwnedCopy, Stream, StreamOptions, StreamRef};

use crate::entry::{About, Entry, Failure, Named, Outcome, done, kept};
use crate::stage::{LEN, Stage};

pub fn entries() -> Vec<Entry> {
    let all: [Named; 29] = [
        ("Stream::new", |stage| kept(stage, Stream::new()?)),
        ("StreamOptions::create", |stage| kept(stage, StreamOptions::new().non_blocking(true).create()?)),
        ("Stream::synchronize", |stage| Ok(stage.stream().synchronize()?)),
        ("Stream::is_idle", |stage| done(stage.stream().is_idle()?)),
        ("Stream::wait_event", |stage| Ok(stage.stream().wait_event(&events(stage)[0])?)),
        ("Stream::is_non_blocking", |stage| done(stage.stream().is_non_blocking()?)),
        ("Stream::priority", |stage| done(stage.stream().priority()?)),
        ("StreamRef::synchronize", |stage| Ok(default(stage).synchronize()?)),
        ("StreamRef::is_idle", |stage| done(default(stage).is_idle()?)),
        ("StreamRef::wait_event", |stage| Ok(default(stage).wait_event(&events(stage)[0])?)),
        ("drop of Stream", |stage| done(stage.stream.take())),
        ("Event::new", |stage| kept(stage, Event::new()?)),
        ("Event::timed", |stage| kept(stage, Event::timed()?)),
        ("Event::record", |stage| Ok(events(stage)[0].record(stage.stream().as_ref())?)),
        ("Event::is_reached", |stage| done(events(stage)[0].is_reached()?)),
        ("Event::synchronize", |stage| Ok(events(stage)[0].synchronize()?)),
        ("Event::elapsed_since", |stage| {
            let [first, second] = events(stage);
            done(second.elapsed_since(first)?)
        }),
        ("drop of Event", |stage| done(stage.events.take())),
        ("DeviceBuffer::new_on", |stage| {
            let buffer = DeviceBuffer::new_on(stage.stream(), LEN)?;
            kept(stage, buffer)
        }),
        ("Scope::fill", |stage| {
            let buffer = stage.buffer.as_mut().expect("it is there");
            let stream = stage.stream.as_ref().expect("it is there");
            Ok(stream.scope(|scope| scope.fill(buffer.as_mut_slice(), 1))?)
        }),
        ("Scope::copy_to_host", |stage| {
            let (buffer, host) = (stage.buffer.as_ref().expect("it is there"), &mut stage.host_bytes);
            let stream = stage.stream.as_ref().expect("it is there");
            Ok(stream.scope(|scope| scope.copy_to_host(buffer.as_slice(), host))?)
        }),
        ("Scope::copy_from_host", |stage| {
            let (buffer, host) = (stage.buffer.as_mut().expect("it is there"), &stage.host_bytes);
            let stream = stage.stream.as_ref().expect("it is there");
            Ok(stream.scope(|scope| scope.copy_from_host(buffer.as_mut_slice(), host))?)
        }),
        ("Scope::copy", |stage| {
            let (to, from) =
                stage.buffer.as_mut().expect("it is there").as_mut_slice().split_at_mut(LEN / 2)?;
            let stream = stage.stream.as_ref().expect("it is there");
            Ok(stream.scope(|scope| scope.copy(to, from.as_slice()))?)
        }),
        ("Stream::copy_to_host", |stage| {
            let (buffer, host) =
                (stage.buffer.take().expect("it is there"), stage.host.take().expect("it is there"));
            let copy = stage.stream().copy_to_host(buffer, 0, host);
            ended(stage, copy)
        }),
        ("Stream::copy_from_host", |stage| {
            let (buffer, host) =
                (stage.buffer.take().expect("it is there"), stage.host.take().expect("it is there"));
            let copy = stage.stream().copy_from_host(buffer, 0, host);
            ended(stage, copy)
        }),
        ("Stream::copy", |stage| {
            let (to, from) =
                (stage.buffer.take().expect("it is there"), stage.region.take().expect("it is there"));
            let from = from.try_into_registered::<DeviceBuffer>().expect("it is whole");
            let from = from.deregister()?;
            let copy = stage.stream().copy(to, 0, from);
            ended(stage, copy)
        }),
        ("Stream::fill", |stage| {
            let buffer = stage.buffer.take().expect("it is there");
            let copy = stage.stream().fill(buffer, .., 1);
            ended(stage, copy)
        }),
        ("drop of Operation", |stage| {
            let buffer = stage.buffer.take().expect("it is there");
            done(stage.stream().fill(buffer, .., 1))
        }),
        ("Operation::is_finished", |stage| {
            let buffer = stage.buffer.take().expect("it is there");
            let copy: Operation<_> = stage.stream().fill(buffer, .., 1);
            while !copy.is_finished() {
                std::thread::yield_now();
            }
            ended(stage, copy)
        }),
    ];
    all.map(|(name, call)| Entry::new(name, About::Operation, call)).into()
}

fn events(stage: &Stage) -> &[Event; 2] {
    stage.events.as_ref().expect("they are there")
}

fn default(stage: &Stage) -> StreamRef<'static> {
    StreamRef::default_of(stage.stream().device())
}

/// Waits for a copy and keeps what it gives back.
fn ended<T: Send + 'static>(stage: &mut Stage, copy: OwnedCopy<T>) -> Outcome {
    match copy.wait().map_err(CopyError::into_parts) {
        Ok(inputs) => kept(stage, inputs),
        Err((error, inputs)) => {
            kept(stage, inputs)?;
            Err(Failure::from(error))
        }
    }
}
