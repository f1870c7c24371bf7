//! A bound on how many operations are under way.

use core::future::Future;
use core::mem;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use std::collections::VecDeque;
use std::sync::Arc;
use std::task::Wake;
use std::thread::{self, Thread};

use crate::fork::forked;
use crate::quietly::quietly;
use crate::sync::{Mutex, lock};

/// A bound on how many operations are under way at a time.
///
/// Clones share the bound. Places are given in the order in which they were asked for. A place that is forgotten
/// ([`core::mem::forget`]), or given to a future that is forgotten or not polled any more, stays in use.
///
/// ```
/// use hip_alloc::InFlight;
///
/// let in_flight = InFlight::new(2);
/// let (first, _second) = (in_flight.acquire(), in_flight.acquire());
/// assert!(in_flight.try_acquire().is_none());
/// drop(first);
/// assert_eq!((in_flight.in_use(), in_flight.limit()), (1, 2));
/// assert!(in_flight.try_acquire().is_some());
/// ```
#[derive(Clone, Debug)]
pub struct InFlight(Arc<Bound>);

/// Room for one operation, given back when it is dropped. An operation that was given one drops it as soon as the stream has
/// passed it, whether or not anybody asks.
///
/// ```
/// use hip_alloc::{InFlight, Place};
///
/// let in_flight = InFlight::new(1);
/// let place: Place = in_flight.acquire();
/// assert_eq!(in_flight.in_use(), 1);
/// drop(place);
/// assert_eq!(in_flight.in_use(), 0);
/// ```
#[derive(Debug)]
#[must_use = "the place is given back when it is dropped"]
pub struct Place(Option<Arc<Bound>>);

/// A future of a [`Place`]: see [`InFlight::acquire_async`].
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct Acquire {
    bound: Arc<Bound>,
    /// While in the queue, or taken out of it by whoever gave us the place.
    ticket: Option<u64>,
}

#[derive(Debug)]
struct Bound {
    limit: usize,
    state: Mutex<State>,
}

/// Nobody waits while there is room.
#[derive(Debug)]
struct State {
    in_use: usize,
    next_ticket: u64,
    /// In the order of tickets.
    waiting: VecDeque<(u64, Waker)>,
}

impl InFlight {
    /// Room for `limit` operations, at least for one.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        let state = State { in_use: 0, next_ticket: 0, waiting: VecDeque::new() };
        Self(Arc::new(Bound { limit: limit.max(1), state: Mutex::new(state) }))
    }

    /// A place; waits until there is one. In a forked child there is always one.
    pub fn acquire(&self) -> Place {
        thread_local! {
            static WAKER: Waker = Waker::from(Arc::new(Unpark(thread::current())));
        }
        if let Some(place) = self.try_acquire() {
            return place;
        }
        let mut acquire = self.acquire_async();
        let waker = WAKER.try_with(Waker::clone);
        // While the thread's locals are destroyed there is none.
        let waker = waker.unwrap_or_else(|_| Waker::from(Arc::new(Unpark(thread::current()))));
        loop {
            match Pin::new(&mut acquire).poll(&mut Context::from_waker(&waker)) {
                Poll::Ready(place) => return place,
                Poll::Pending => thread::park(),
            }
        }
    }

    /// A place, if there is one that nobody waits for.
    #[must_use]
    pub fn try_acquire(&self) -> Option<Place> {
        if forked() {
            return Some(Place(None));
        }
        let mut state = lock(&self.0.state);
        state.enter(self.0.limit).then(|| Place(Some(Arc::clone(&self.0))))
    }

    /// A future of a place. Dropping it gives up the position in the queue.
    ///
    /// ```
    /// # async fn example() {
    /// use hip_alloc::{Acquire, InFlight};
    ///
    /// let in_flight = InFlight::new(256);
    /// let acquire: Acquire = in_flight.acquire_async();
    /// let place = acquire.await;
    /// # drop(place);
    /// # }
    /// # let mut example = std::pin::pin!(example());
    /// # let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    /// # assert!(std::future::Future::poll(example.as_mut(), &mut context).is_ready());
    /// ```
    pub fn acquire_async(&self) -> Acquire {
        Acquire { bound: Arc::clone(&self.0), ticket: None }
    }

    /// How many operations there is room for.
    #[must_use]
    pub fn limit(&self) -> usize {
        self.0.limit
    }

    /// How many places are in use; 0 in a forked child.
    #[must_use]
    pub fn in_use(&self) -> usize {
        if forked() { 0 } else { lock(&self.0.state).in_use }
    }
}

impl State {
    fn enter(&mut self, limit: usize) -> bool {
        let room = self.in_use < limit;
        self.in_use += usize::from(room);
        room
    }
}

impl Bound {
    /// Gives a place to who waits longest, or back.
    fn leave(&self) {
        let mut state = lock(&self.state);
        let next = state.waiting.pop_front();
        if next.is_none() {
            state.in_use -= 1;
        }
        drop(state);
        if let Some((_, waker)) = next {
            quietly(|| waker.wake());
        }
    }
}

impl Future for Acquire {
    type Output = Place;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Place> {
        if forked() {
            return Poll::Ready(Place(None));
        }
        // Code of others, so not under the lock.
        let waker = context.waker().clone();
        let this = &mut *self;
        let mut state = lock(&this.bound.state);
        let entered = match this.ticket {
            None => state.enter(this.bound.limit),
            Some(ticket) => match state.waiting.binary_search_by_key(&ticket, |waiting| waiting.0) {
                Ok(index) => {
                    let before =
                        state.waiting.get_mut(index).map(|waiting| mem::replace(&mut waiting.1, waker));
                    drop(state);
                    drop(before);
                    return Poll::Pending;
                }
                Err(_) => true,
            },
        };
        if entered {
            drop(state);
            this.ticket = None;
            return Poll::Ready(Place(Some(Arc::clone(&this.bound))));
        }
        let ticket = state.next_ticket;
        state.next_ticket += 1;
        state.waiting.push_back((ticket, waker));
        this.ticket = Some(ticket);
        Poll::Pending
    }
}

impl Drop for Acquire {
    fn drop(&mut self) {
        let Some(ticket) = self.ticket else { return };
        if forked() {
            return;
        }
        let mut state = lock(&self.bound.state);
        let position = state.waiting.binary_search_by_key(&ticket, |waiting| waiting.0);
        let waiting = position.ok().and_then(|index| state.waiting.remove(index));
        drop(state);
        match waiting {
            Some((_, waker)) => quietly(|| drop(waker)),
            // The place was given to us meanwhile.
            None => self.bound.leave(),
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let Some(bound) = self.0.take() else { return };
        if forked() {
            mem::forget(bound);
        } else {
            bound.leave();
        }
    }
}

/// Wakes a thread that is parked in [`InFlight::acquire`].
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}
