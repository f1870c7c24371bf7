//! Operations as futures, abandoned operations, and places: what the completion thread does.

use core::future::Future;
use core::pin::pin;
use core::task::{Context, Poll, RawWaker, RawWakerVTable, Waker};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::task::Wake;
use std::thread;

use super::fake_handles::{LOST, lose, release};
use super::probe::{LEAK, begin, held};
use crate::tests::fake;
use crate::{Error, HipError, InFlight, Payload, Result, Started, Stream, leaked, start};

/// Sends the name of the thread that wakes.
struct Tell(Sender<String>);

impl Wake for Tell {
    fn wake(self: Arc<Self>) {
        self.0.send(thread::current().name().unwrap_or_default().to_owned()).unwrap();
    }
}

fn telling() -> (Waker, Receiver<String>) {
    let (sender, woken) = channel();
    (Waker::from(Arc::new(Tell(sender))), woken)
}

#[test]
fn a_future_is_woken_by_the_completion_thread_when_the_stream_has_passed() {
    let stream = held();
    fake::calls();
    let (operation, _dropped) = begin(&stream, None);
    let mut operation = pin!(operation);
    let (waker, woken) = telling();
    for _ in 0..3 {
        assert!(operation.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    }
    assert_eq!(fake::calls().iter().filter(|call| **call == "hipStreamQuery").count(), 1);
    // The last waker counts.
    let (other, other_woken) = telling();
    assert!(operation.as_mut().poll(&mut Context::from_waker(&other)).is_pending());
    assert_eq!(woken.try_recv(), Err(TryRecvError::Empty));
    release(&stream);
    assert_eq!(other_woken.recv().unwrap(), "hip-completion");
    assert_eq!(woken.try_recv(), Err(TryRecvError::Empty));
    let ready = operation.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert!(matches!(ready, Poll::Ready(Ok(_))));
    // Once more is not forbidden, and no use.
    assert!(operation.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    assert!(!operation.is_finished());
}

#[test]
#[should_panic(expected = "the result was given away before")]
fn waiting_for_a_result_that_was_given_away_panics() {
    let stream = held();
    release(&stream);
    let (mut operation, _dropped) = begin(&stream, None);
    assert!(pin!(&mut operation).poll(&mut Context::from_waker(Waker::noop())).is_ready());
    let operation = operation.try_wait().unwrap_err();
    _ = operation.wait();
}

#[test]
fn what_a_dropped_operation_owns_is_dropped_when_the_stream_has_passed() {
    let stream = held();
    let (operation, dropped) = begin(&stream, None);
    drop(operation);
    assert_eq!(dropped.try_recv(), Err(TryRecvError::Empty));
    release(&stream);
    assert_eq!(dropped.recv().unwrap(), "hip-discard");
    // Also if that was before.
    let (operation, dropped) = begin(&stream, None);
    drop(operation);
    assert_eq!(dropped.recv().unwrap(), "hip-discard");
}

#[test]
fn a_dropped_future_lets_go_of_its_waker() {
    let stream = held();
    let (mut operation, dropped) = begin(&stream, None);
    let (waker, woken) = telling();
    assert!(pin!(&mut operation).poll(&mut Context::from_waker(&waker)).is_pending());
    drop(waker);
    assert_eq!(woken.try_recv(), Err(TryRecvError::Empty));
    drop(operation);
    assert_eq!(woken.try_recv(), Err(TryRecvError::Disconnected));
    release(&stream);
    assert_eq!(dropped.recv().unwrap(), "hip-discard");
}

#[test]
fn a_future_whose_result_panics_is_over() {
    struct Panics;
    // SAFETY: requires that nothing in it is written by a stream; holds because nothing is.
    unsafe impl Payload for Panics {
        type Output = ();
        fn finish(self, _: Result<()>) {
            panic!("as planned");
        }
        fn lost(&self, _: Error) {}
        fn leaked_bytes(&self) -> usize {
            0
        }
    }
    fake::install();
    let stream = Stream::new().unwrap();
    // SAFETY: requires that no pointers are used; holds because none are taken.
    let mut operation = unsafe { start(&stream, Panics, None, |_| Started::Enqueued) };
    let mut poll = || pin!(&mut operation).poll(&mut Context::from_waker(Waker::noop())).is_pending();
    assert!(catch_unwind(AssertUnwindSafe(&mut poll)).is_err());
    assert!(poll());
    let operation = operation.try_wait().unwrap_err();
    let panic = catch_unwind(AssertUnwindSafe(|| operation.wait()));
    assert_eq!(panic.unwrap_err().downcast_ref(), Some(&"the result was given away before"));
}

#[test]
fn the_completion_thread_notices_a_lost_device() {
    let _alone = fake::leaking_alone();
    let stream = held();
    let before = leaked();
    let in_flight = InFlight::new(2);
    let (mut future, future_dropped) = begin(&stream, in_flight.try_acquire());
    let (abandoned, abandoned_dropped) = begin(&stream, in_flight.try_acquire());
    let (waker, woken) = telling();
    assert!(pin!(&mut future).poll(&mut Context::from_waker(&waker)).is_pending());
    drop(abandoned);
    lose(&stream);
    assert_eq!(woken.recv().unwrap(), "hip-completion");
    let Poll::Ready(Err(error)) = pin!(&mut future).poll(&mut Context::from_waker(&waker)) else { panic!() };
    assert_eq!(error.hip_error(), Some(HipError::from(LOST)));
    // Both places come back, so the other operation has been seen too.
    let places = (in_flight.acquire(), in_flight.acquire());
    assert_eq!(leaked().bytes - before.bytes, 2 * LEAK);
    for dropped in [future_dropped, abandoned_dropped] {
        assert_eq!(dropped.try_recv(), Err(TryRecvError::Empty));
    }
    drop(places);
}

#[test]
fn a_place_is_released_whether_or_not_anybody_asks() {
    let stream = held();
    let in_flight = InFlight::new(2);
    let (kept, _kept_dropped) = begin(&stream, in_flight.try_acquire());
    let (forgotten, _forgotten_dropped) = begin(&stream, in_flight.try_acquire());
    core::mem::forget(forgotten);
    assert!(in_flight.try_acquire().is_none());
    release(&stream);
    let places = (in_flight.acquire(), in_flight.acquire());
    drop(places);
    assert!(kept.wait().is_ok());
    assert_eq!(in_flight.in_use(), 0);
}

/// A waker that panics in one of its functions: clone 0, wake 1, drop 2.
fn hostile(panics: &'static [AtomicUsize; 3]) -> Waker {
    fn count(data: *const (), function: usize) {
        // SAFETY: requires counters that live for ever; holds because all wakers are made below.
        let panics = unsafe { &*data.cast::<[AtomicUsize; 3]>() };
        if panics[function].load(Ordering::SeqCst) > 0 {
            panics[function].fetch_add(1, Ordering::SeqCst);
            panic!("a hostile waker, as planned");
        }
    }
    const TABLE: &RawWakerVTable = &RawWakerVTable::new(
        |data| {
            count(data, 0);
            RawWaker::new(data, TABLE)
        },
        |data| count(data, 1),
        |data| count(data, 1),
        |data| count(data, 2),
    );
    // SAFETY: requires a table that keeps the contract of wakers; holds because its functions own nothing.
    unsafe { Waker::from_raw(RawWaker::new(core::ptr::from_ref(panics).cast(), TABLE)) }
}

#[test]
fn hostile_wakers_harm_nobody_else() {
    for function in 0..3 {
        let panics: &'static [AtomicUsize; 3] = Box::leak(Box::default());
        let stream = held();
        let (mut operation, _dropped) = begin(&stream, None);
        let waker = hostile(panics);
        let mut poll = |waker: &Waker| {
            let poll = || pin!(&mut operation).poll(&mut Context::from_waker(waker)).is_pending();
            catch_unwind(AssertUnwindSafe(poll)).ok()
        };
        if function > 0 {
            assert_eq!(poll(&waker), Some(true));
        }
        panics[function].store(1, Ordering::SeqCst);
        // Who polls sees the panic of a clone, and that of what it replaces.
        match function {
            0 => assert_eq!(poll(&waker), None),
            1 => {}
            _ => assert_eq!(poll(Waker::noop()), None),
        }
        // Another operation, behind it.
        let (other, other_dropped) = begin(&stream, None);
        drop(other);
        release(&stream);
        assert_eq!(other_dropped.recv().unwrap(), "hip-discard");
        assert!(operation.wait().is_ok());
        assert_eq!(panics[function].load(Ordering::SeqCst), 2, "it was called");
        // Its owner's drop is none of ours.
        core::mem::forget(waker);
    }
}
