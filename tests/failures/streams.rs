//! Streams, events, scopes and owned copies.

use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::thread;

use hip_alloc::{CopyError, DeviceBuffer, Event, InFlight, OwnedCopy, Stream, StreamOptions, StreamRef};

use crate::entry::{About, Entry, Failure, Named, Outcome, all, done, kept};
use crate::stage::{LEN, Stage};

pub fn entries() -> Vec<Entry> {
    let named: &[Named] = &[
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
        ("StreamRef::is_non_blocking", |stage| done(default(stage).is_non_blocking()?)),
        ("StreamRef::priority", |stage| done(default(stage).priority()?)),
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
        ("Scope::synchronize", |stage| Ok(stage.stream().scope(|scope| scope.synchronize())?)),
        ("Stream::copy_to_host", |stage| {
            let (buffer, host) =
                (stage.buffer.take().expect("it is there"), stage.host.take().expect("it is there"));
            let copy = stage.stream().copy_to_host(buffer, 0, host);
            ended(stage, copy.wait())
        }),
        ("Stream::copy_from_host", |stage| {
            let (buffer, host) =
                (stage.buffer.take().expect("it is there"), stage.host.take().expect("it is there"));
            let copy = stage.stream().copy_from_host(buffer, 0, host);
            ended(stage, copy.wait())
        }),
        ("Stream::copy", |stage| {
            let (to, from) =
                (stage.buffer.take().expect("it is there"), stage.region.take().expect("it is there"));
            let from = from.try_into_registered::<DeviceBuffer>().expect("it is whole");
            let from = from.deregister()?;
            let copy = stage.stream().copy(to, 0, from);
            ended(stage, copy.wait())
        }),
        ("Stream::fill", |stage| {
            let copy = fill(stage);
            ended(stage, copy.wait())
        }),
        ("drop of Operation", |stage| done(fill(stage))),
        ("Operation::is_finished", |stage| {
            let copy = fill(stage);
            while !copy.is_finished() {
                thread::yield_now();
            }
            ended(stage, copy.wait())
        }),
        ("Operation::try_wait", |stage| {
            let mut copy = fill(stage);
            loop {
                match copy.try_wait() {
                    Ok(filled) => return ended(stage, filled),
                    Err(going) => copy = going,
                }
                thread::yield_now();
            }
        }),
        ("Operation::poll", |stage| {
            let mut copy = fill(stage);
            loop {
                match Pin::new(&mut copy).poll(&mut Context::from_waker(Waker::noop())) {
                    Poll::Ready(filled) => return ended(stage, filled),
                    Poll::Pending => thread::yield_now(),
                }
            }
        }),
        ("drop of Place", |_| done(InFlight::new(1).acquire())),
        ("drop of Acquire", |_| done(InFlight::new(1).acquire_async())),
    ];
    all(About::Operation, named).collect()
}

fn events(stage: &Stage) -> &[Event; 2] {
    stage.events.as_ref().expect("they are there")
}

fn default(stage: &Stage) -> StreamRef<'static> {
    StreamRef::default_of(stage.stream().device())
}

fn fill(stage: &mut Stage) -> OwnedCopy<DeviceBuffer> {
    let buffer = stage.buffer.take().expect("it is there");
    stage.stream().fill(buffer, .., 1)
}

/// Keeps what a copy gives back.
fn ended<T: Send + 'static>(stage: &mut Stage, copy: Result<T, CopyError<T>>) -> Outcome {
    match copy.map_err(CopyError::into_parts) {
        Ok(inputs) => kept(stage, inputs),
        Err((error, inputs)) => {
            kept(stage, inputs)?;
            Err(Failure::from(error))
        }
    }
}
