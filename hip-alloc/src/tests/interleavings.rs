//! Every test runs under many schedules of owner, stream and completion thread; one that is never woken is a failure.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::task::Wake;

use shuttle::thread;

use super::fake_handles::{hold, release};
use super::probe::{Probe, probe};
use crate::completion::{Completion, Turns};
use crate::discards::Discards;
use crate::payload::start_with;
use crate::service::Service;
use crate::tests::fake;
use crate::{InFlight, Operation, Place, Result, Started, Stream};

const SCHEDULES: usize = 1000;

/// Threads that take the turns of a completion thread and of one that discards.
struct Turning {
    completion: &'static Completion,
    threads: Vec<thread::JoinHandle<()>>,
    /// Released by the operation that is settled last.
    last: InFlight,
    place: Place,
}

type Begun = (Operation<Result<Probe>>, Receiver<String>);

impl Turning {
    /// `discarded` operations will have no owner at their end.
    fn new(discarded: usize) -> Self {
        let discards: &'static Discards = Box::leak(Box::new(Discards::new(Service::by_hand())));
        let completion: &'static Completion =
            Box::leak(Box::new(Completion::new(Service::by_hand(), discards)));
        let last = InFlight::new(1);
        let place = last.acquire();
        let still = last.clone();
        let settling = thread::spawn(move || {
            let mut turns = Turns::default();
            while still.in_use() > 0 {
                completion.turn(&mut turns);
            }
        });
        let discarding = thread::spawn(move || (0..discarded).for_each(|_| discards.turn()));
        Self { completion, threads: vec![settling, discarding], last, place }
    }

    fn begin(&self, stream: &Stream, place: Option<Place>) -> Begun {
        begin(self.completion, stream, place)
    }

    /// Lets the threads do all there is to do.
    fn finish(self) {
        let stream = Stream::new().unwrap();
        hold(&stream);
        let (operation, _dropped) = begin(self.completion, &stream, Some(self.place));
        release(&stream);
        self.threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(self.last.in_use(), 0);
        drop(operation.wait());
    }
}

fn begin(completion: &'static Completion, stream: &Stream, place: Option<Place>) -> Begun {
    let (probe, dropped) = probe();
    // SAFETY: requires that no pointers are used; holds because none are taken.
    let operation = unsafe { start_with(completion, stream, probe, place, |_| Started::Enqueued) };
    (operation, dropped)
}

/// Runs `test` with a stream that is held until a thread of its own comes to it.
fn check(test: impl Fn(&Stream, &dyn Fn() -> thread::JoinHandle<()>) + Send + Sync + 'static) {
    shuttle::check_random(
        move || {
            fake::install();
            let stream = Stream::new().unwrap();
            hold(&stream);
            let released = stream.clone();
            test(&stream, &|| {
                let stream = released.clone();
                thread::spawn(move || release(&stream))
            });
        },
        SCHEDULES,
    );
}

/// Unparks the thread that polls.
struct Unpark(thread::Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn block_on<F: Future + Unpin>(mut future: F) -> F::Output {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    loop {
        if let Poll::Ready(output) = Pin::new(&mut future).poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        thread::park();
    }
}

#[test]
fn who_waits_is_woken() {
    check(|stream, release| {
        let turning = Turning::new(0);
        let (operation, _dropped) = turning.begin(stream, None);
        let releasing = release();
        assert!(operation.wait().is_ok());
        releasing.join().unwrap();
        turning.finish();
    });
}

#[test]
fn who_polls_is_woken() {
    check(|stream, release| {
        let turning = Turning::new(0);
        let (operation, _dropped) = turning.begin(stream, None);
        let releasing = release();
        assert!(block_on(operation).is_ok());
        releasing.join().unwrap();
        turning.finish();
    });
}

#[test]
fn what_is_abandoned_is_dropped_once_and_not_by_its_stream() {
    for polled in [false, true] {
        check(move |stream, release| {
            let turning = Turning::new(1);
            let (mut operation, dropped) = turning.begin(stream, None);
            let releasing = release();
            if polled {
                match Pin::new(&mut operation).poll(&mut Context::from_waker(Waker::noop())) {
                    Poll::Ready(Ok(probe)) => {
                        drop(probe);
                        // For the thread that discards.
                        drop(turning.begin(stream, None));
                    }
                    Poll::Ready(Err(_)) => panic!(),
                    Poll::Pending => {}
                }
            }
            drop(operation);
            releasing.join().unwrap();
            turning.finish();
            assert!(dropped.try_recv().is_ok());
            assert_eq!(dropped.try_recv(), Err(TryRecvError::Disconnected));
        });
    }
}

#[test]
fn places_are_released_whatever_becomes_of_the_operation() {
    check(|stream, release| {
        let turning = Turning::new(1);
        let in_flight = InFlight::new(2);
        let (waited, _) = turning.begin(stream, in_flight.try_acquire());
        let (dropped, _) = turning.begin(stream, in_flight.try_acquire());
        let releasing = release();
        let third = in_flight.clone();
        let waiting = thread::spawn(move || drop(block_on(third.acquire_async())));
        drop(dropped);
        assert!(waited.wait().is_ok());
        waiting.join().unwrap();
        releasing.join().unwrap();
        turning.finish();
        assert_eq!(in_flight.in_use(), 0);
    });
}

#[test]
fn two_who_see_the_end_take_it_once() {
    check(|stream, release| {
        let turning = Turning::new(0);
        let (operation, dropped) = turning.begin(stream, None);
        let releasing = release();
        let asking = thread::spawn(move || match operation.try_wait() {
            Ok(result) => result.is_ok(),
            Err(operation) => {
                thread::yield_now();
                block_on(operation).is_ok()
            }
        });
        assert!(asking.join().unwrap());
        assert!(dropped.try_recv().is_ok());
        releasing.join().unwrap();
        turning.finish();
    });
}
