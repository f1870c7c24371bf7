//! Streams: queues of work, each with a thread of its own.

pub(crate) mod host_function;
mod pool;
mod queue;
mod signal;
mod streams;
mod work;
mod worker;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

pub(crate) use signal::{Signal, Wait, Width};
pub(crate) use streams::Streams;
pub(crate) use work::Work;
pub(crate) use worker::without_signals;

use crate::bindings::{
    hipError_t, hipErrorInvalidHandle, hipErrorOutOfMemory, hipStreamNonBlocking, hipSuccess,
};
use queue::{Closed, Queue};

/// An entry of a stream, to wait for.
pub(crate) type Point = queue::Point<Work>;
type Taken = queue::Taken<Work>;

/// A stream.
#[derive(Debug)]
pub(crate) struct Stream {
    queue: Arc<Queue<Work>>,
    settings: Settings,
    /// Whether the thread was started.
    started: Mutex<bool>,
    /// The first error of an operation that nobody was told yet.
    error: AtomicU32,
}

/// What a stream is created with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    /// The device.
    pub(crate) device: u32,
    /// Flags of hipStreamCreateWithFlags.
    pub(crate) flags: u32,
    /// Priority; less is more urgent. It is kept and has no effect.
    pub(crate) priority: i32,
}

impl Stream {
    fn new(settings: Settings, lazy: bool) -> Stream {
        Stream {
            queue: Arc::new(Queue::new(lazy)),
            settings,
            started: Mutex::new(false),
            error: AtomicU32::new(hipSuccess.0),
        }
    }

    /// What it was created with.
    pub(crate) fn settings(&self) -> Settings {
        self.settings
    }

    fn device(&self) -> u32 {
        self.settings.device
    }

    fn queue(&self) -> &Arc<Queue<Work>> {
        &self.queue
    }

    /// Whether it keeps order with the default stream.
    fn is_blocking(&self) -> bool {
        self.settings.flags & hipStreamNonBlocking == 0
    }

    /// The last entry submitted so far; None if everything has completed.
    fn last(&self) -> Option<Point> {
        Point::last(&self.queue)
    }

    /// Appends work that starts after the points.
    fn push(
        self: &Arc<Stream>,
        work: Work,
        concurrent: bool,
        after: Vec<Point>,
        at_end: impl FnOnce(&Stream) + Send + 'static,
    ) -> Result<Point, hipError_t> {
        {
            let mut started = self.started.lock().unwrap_or_else(PoisonError::into_inner);
            if !*started {
                worker::start(Arc::clone(self), at_end).map_err(|_| hipErrorOutOfMemory)?;
                *started = true;
            }
        }
        let number = self.queue.push(work, concurrent, after).map_err(|Closed| hipErrorInvalidHandle)?;
        Ok(Point::new(Arc::clone(&self.queue), number))
    }

    /// Ends it: what was submitted is still done. Answers whether it has a thread, which then ends as well.
    fn close(&self) -> bool {
        self.queue.close();
        *self.started.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Holds what has not started, or lets it go on.
    pub(crate) fn set_paused(&self, paused: bool) {
        self.queue.set_paused(paused);
    }

    /// Keeps the error of an operation until someone is told.
    fn failed(&self, error: hipError_t) {
        let _ = self.error.compare_exchange(hipSuccess.0, error.0, Ordering::AcqRel, Ordering::Acquire);
    }

    /// The error of an operation, told once.
    pub(crate) fn take_error(&self) -> Result<(), hipError_t> {
        match hipError_t(self.error.swap(hipSuccess.0, Ordering::AcqRel)) {
            hipSuccess => Ok(()),
            error => Err(error),
        }
    }
}
