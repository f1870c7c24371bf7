//! The bound on operations under way.

use core::future::Future;
use core::pin::{Pin, pin};
use core::task::{Context, Poll, Waker};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Wake;
use std::thread;

use crate::{Acquire, InFlight, Place};

#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// A future in the queue, and how often it was woken.
fn waiting(in_flight: &InFlight) -> (Acquire, Arc<Count>) {
    let mut acquire = in_flight.acquire_async();
    let count = Arc::default();
    assert!(poll(&mut acquire, &count).is_pending());
    (acquire, count)
}

fn poll(acquire: &mut Acquire, count: &Arc<Count>) -> Poll<Place> {
    Pin::new(acquire).poll(&mut Context::from_waker(&Waker::from(Arc::clone(count))))
}

fn woken(count: &Count) -> usize {
    count.0.load(Ordering::SeqCst)
}

#[test]
fn a_limit_of_none_is_one() {
    let in_flight = InFlight::new(0);
    assert_eq!(in_flight.limit(), 1);
    let place = in_flight.acquire();
    assert!(in_flight.clone().try_acquire().is_none());
    drop(place);
    assert_eq!(in_flight.in_use(), 0);
}

#[test]
fn places_are_given_in_the_order_of_asking() {
    let in_flight = InFlight::new(1);
    let place = in_flight.acquire();
    let (mut first, first_count) = waiting(&in_flight);
    let (mut second, second_count) = waiting(&in_flight);
    drop(place);
    assert_eq!((woken(&first_count), woken(&second_count)), (1, 0));
    // The place is the first one's already, whoever asks meanwhile.
    assert!(in_flight.try_acquire().is_none());
    assert!(poll(&mut second, &second_count).is_pending());
    let Poll::Ready(place) = poll(&mut first, &first_count) else { panic!() };
    drop(first);
    assert_eq!(in_flight.in_use(), 1);
    drop(place);
    assert_eq!(woken(&second_count), 1);
    assert!(poll(&mut second, &second_count).is_ready());
    assert_eq!(in_flight.in_use(), 0);
}

#[test]
fn a_future_that_is_given_up_passes_its_place_on() {
    let in_flight = InFlight::new(1);
    let place = in_flight.acquire();
    let (first, first_count) = waiting(&in_flight);
    let (second, second_count) = waiting(&in_flight);
    let (third, third_count) = waiting(&in_flight);
    // One that waits is left out.
    drop(first);
    drop(place);
    assert_eq!((woken(&first_count), woken(&second_count), woken(&third_count)), (0, 1, 0));
    // One that was given the place and does not take it.
    drop(second);
    assert_eq!(woken(&third_count), 1);
    drop(third);
    assert_eq!(in_flight.in_use(), 0);
}

#[test]
fn the_last_waker_counts() {
    let in_flight = InFlight::new(1);
    let place = in_flight.acquire();
    let (mut acquire, old) = waiting(&in_flight);
    let new = Arc::default();
    assert!(poll(&mut acquire, &new).is_pending());
    assert_eq!(Arc::strong_count(&old), 1, "let go of");
    drop(place);
    assert_eq!((woken(&old), woken(&new)), (0, 1));
}

#[test]
fn threads_and_futures_never_have_more_places_than_there_are() {
    const LIMIT: usize = 3;
    let (in_flight, most) = (InFlight::new(LIMIT), AtomicUsize::new(0));
    let most = &most;
    thread::scope(|scope| {
        for number in 0..8 {
            let in_flight = in_flight.clone();
            scope.spawn(move || {
                for turn in 0..500 {
                    let place = match (number + turn) % 4 {
                        0 => in_flight.try_acquire(),
                        1 => {
                            let mut acquire = pin!(in_flight.acquire_async());
                            match acquire.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                                Poll::Ready(place) => Some(place),
                                Poll::Pending => None,
                            }
                        }
                        _ => Some(in_flight.acquire()),
                    };
                    most.fetch_max(in_flight.in_use(), Ordering::SeqCst);
                    thread::yield_now();
                    drop(place);
                }
            });
        }
    });
    assert_eq!(in_flight.in_use(), 0);
    assert_eq!(most.load(Ordering::SeqCst), LIMIT);
}

#[test]
fn a_waker_that_panics_does_not_stop_the_one_who_lets_go() {
    struct Panics;
    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            panic!("as planned");
        }
    }
    let in_flight = InFlight::new(1);
    let place = in_flight.acquire();
    let mut acquire = pin!(in_flight.acquire_async());
    let waker = Waker::from(Arc::new(Panics));
    assert!(acquire.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    drop(place);
    assert!(acquire.poll(&mut Context::from_waker(Waker::noop())).is_ready());
}
