//! A payload that tells what becomes of it.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use crate::tests::fake;
use crate::{Error, Operation, Payload, Place, Result, Started, Stream, start};

/// Sends the name of the thread that drops it.
#[derive(Debug)]
pub struct Probe(Sender<String>);

impl Drop for Probe {
    fn drop(&mut self) {
        let thread = thread::current();
        // Nobody may be listening any more.
        _ = self.0.send(thread.name().unwrap_or_default().to_owned());
    }
}

/// What a probe leaks, in bytes.
pub const LEAK: u64 = 100;

// SAFETY: requires that nothing in it is written by a stream; holds because nothing is.
unsafe impl Payload for Probe {
    /// The payload comes back.
    type Output = Result<Probe>;

    fn finish(self, outcome: Result<()>) -> Self::Output {
        outcome.map(|()| self)
    }

    fn lost(&self, error: Error) -> Self::Output {
        Err(error)
    }

    fn leaked_bytes(&self) -> usize {
        LEAK as usize
    }
}

pub fn probe() -> (Probe, Receiver<String>) {
    let (sender, dropped) = channel();
    (Probe(sender), dropped)
}

/// An operation on `stream`, and where its payload's end is told.
pub fn begin(stream: &Stream, place: Option<Place>) -> (Operation<Result<Probe>>, Receiver<String>) {
    let (probe, dropped) = probe();
    // SAFETY: requires that no pointers are used; holds because none are taken.
    (unsafe { start(stream, probe, place, |_| Started::Enqueued) }, dropped)
}

/// A held stream.
pub fn held() -> Stream {
    fake::install();
    let stream = Stream::new().unwrap();
    crate::tests::fake_handles::hold(&stream);
    stream
}
