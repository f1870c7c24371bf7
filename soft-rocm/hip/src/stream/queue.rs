//! The queue of a stream: what waits, what runs, how far it has come.
//!
//! Entries are numbered from 1 in the order of their submission. One worker takes them in that order. An entry that is
//! not concurrent is finished by the worker before it takes the next one; concurrent entries may be finished by anyone,
//! who may then take a share of the next of them, and as long as some of them run only further concurrent entries are
//! taken. An entry counts as completed when it and all before it have finished, so one number says how far a queue has
//! come, and a [`Point`] is a number of a queue.
//!
//! An entry may wait for points of other queues. Those points exist before the entry does, so waits cannot be circular.

use std::collections::VecDeque;
use std::fmt;
use std::iter::repeat_n;
use std::ops::Range;
use std::sync::{OnceLock, PoisonError};
use std::thread::available_parallelism;

use crate::sync::{Arc, AtomicU64, Condvar, Mutex, MutexGuard, Ordering, yield_now};

/// A queue of work of type `W`.
pub(crate) struct Queue<W> {
    state: Mutex<State<W>>,
    /// The worker waits here.
    startable: Condvar,
    /// Those who wait for completion wait here.
    progress: Condvar,
    /// Number of the last entry submitted.
    submitted: AtomicU64,
    /// Number of the last entry completed.
    completed: AtomicU64,
}

struct State<W> {
    waiting: VecDeque<Entry<W>>,
    /// Whether each entry that was taken and is not completed yet has finished, oldest first.
    running: VecDeque<bool>,
    /// Whether what runs is one entry that is not concurrent.
    alone: bool,
    /// How many threads carry out some of them.
    active: usize,
    /// How many threads have found nothing to take and look once more before they turn away.
    looking: usize,
    /// Number of the last entry completed.
    completed: u64,
    /// Number of the last entry that may start.
    released: u64,
    paused: bool,
    closed: bool,
    /// The worker sleeps, and nobody has woken it yet.
    parked: bool,
    /// The lowest number whose completion somebody waits for.
    awaited: u64,
}

struct Entry<W> {
    work: W,
    concurrent: bool,
    after: Vec<Point<W>>,
}

/// An entry the worker has to carry out, and to report with [`Queue::finish`].
#[derive(Debug)]
pub(crate) struct Taken<W> {
    /// What to do.
    pub(crate) work: W,
    /// Its number.
    pub(crate) number: u64,
    /// Whether it may be carried out while others of the same group are.
    pub(crate) concurrent: bool,
}

/// Most entries of a share: each is reported only when the whole share is carried out.
const SHARE: usize = 8;

/// How many concurrent entries of one queue are carried out at once.
pub(super) fn width() -> usize {
    static WIDTH: OnceLock<usize> = OnceLock::new();
    *WIDTH.get_or_init(|| available_parallelism().map_or(1, usize::from).saturating_mul(2).clamp(4, 32))
}

/// The queue takes no entries any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Closed;

/// An entry of a queue, to wait for.
pub(crate) struct Point<W> {
    queue: Arc<Queue<W>>,
    number: u64,
}

impl<W> Entry<W> {
    /// Whether another thread than the worker may start it.
    fn is_free(&self) -> bool {
        self.concurrent && self.after.is_empty()
    }
}

impl<W> State<W> {
    /// Number of the entry at the head of those waiting.
    fn head(&self) -> u64 {
        self.completed + self.running.len() as u64 + 1
    }

    /// Number of the last entry submitted.
    fn last(&self) -> u64 {
        self.completed + self.running.len() as u64 + self.waiting.len() as u64
    }

    /// Whether the worker has something to do: an entry to look at, or the end of its work.
    fn is_startable(&self) -> bool {
        match self.waiting.front() {
            None => self.closed && self.running.is_empty(),
            Some(entry) => {
                let has_room = entry.concurrent && !self.alone && self.active < width();
                !self.paused && self.head() <= self.released && (self.running.is_empty() || has_room)
            }
        }
    }

    /// Takes the entry at the head.
    fn start(&mut self) -> Option<Taken<W>> {
        let number = self.head();
        let Entry { work, concurrent, .. } = self.waiting.pop_front()?;
        // Nothing can come to run beside an entry between two that are not concurrent.
        let is_enclosed =
            self.running.is_empty() && self.waiting.front().is_some_and(|next| !next.concurrent);
        let concurrent = concurrent && !is_enclosed;
        self.running.push_back(false);
        self.alone = !concurrent;
        self.active += 1;
        Some(Taken { work, number, concurrent })
    }

    /// Takes free entries at the head, more where many wait, and answers their numbers, as a range that may be empty.
    fn start_share(&mut self, share: &mut Vec<W>) -> Range<u64> {
        let first = self.head();
        if self.is_startable() {
            // The head is released, so this is one at least.
            let released = usize::try_from(self.released - first + 1).unwrap_or(usize::MAX);
            let most = (self.waiting.len() / (2 * width())).clamp(1, SHARE).min(released);
            let count = self.waiting.iter().take(most).take_while(|entry| entry.is_free()).count();
            share.extend(self.waiting.drain(..count).map(|entry| entry.work));
            self.running.extend(repeat_n(false, count));
        }
        let numbers = first..self.head();
        if !numbers.is_empty() {
            self.alone = false;
            self.active += 1;
        }
        numbers
    }
}

impl<W> Queue<W> {
    /// An empty queue. Entries of a lazy one start when someone waits for them.
    pub(crate) fn new(lazy: bool) -> Queue<W> {
        Queue {
            state: Mutex::new(State {
                waiting: VecDeque::new(),
                running: VecDeque::new(),
                alone: false,
                active: 0,
                looking: 0,
                completed: 0,
                released: if lazy { 0 } else { u64::MAX },
                paused: false,
                closed: false,
                parked: false,
                awaited: u64::MAX,
            }),
            startable: Condvar::new(),
            progress: Condvar::new(),
            submitted: AtomicU64::new(0),
            completed: AtomicU64::new(0),
        }
    }

    /// Appends an entry that starts after the points, and answers its number.
    pub(crate) fn push(&self, work: W, concurrent: bool, after: Vec<Point<W>>) -> Result<u64, Closed> {
        let mut state = self.lock();
        if state.closed {
            return Err(Closed);
        }
        state.waiting.push_back(Entry { work, concurrent, after });
        let number = state.last();
        self.submitted.store(number, Ordering::Release);
        self.wake_worker(&mut state);
        Ok(number)
    }

    /// The next entry, once it may start; None once the queue is closed and everything has finished. For the worker.
    pub(crate) fn take(&self) -> Option<Taken<W>> {
        let mut state = self.lock();
        loop {
            if !state.is_startable() {
                state.parked = true;
                state = self.startable.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.parked = false;
                continue;
            }
            let entry = state.waiting.front()?;
            if entry.after.is_empty() {
                return state.start();
            }
            // The entry stays at the head meanwhile, with its points, so that nobody else starts it: the queue may be
            // paused before they are reached.
            let after = entry.after.clone();
            drop(state);
            after.iter().for_each(Point::wait);
            state = self.lock();
            state.waiting.front_mut()?.after.clear();
        }
    }

    /// Reports that entries that were taken together have been carried out.
    pub(crate) fn finish(&self, numbers: Range<u64>) {
        let mut state = self.lock();
        self.finished(&mut state, numbers);
        self.wake_worker(&mut state);
    }

    /// As [`Queue::finish`], of concurrent entries, and takes the next ones that may be carried out beside the others:
    /// appends them to the share, which is empty, and answers their numbers.
    pub(crate) fn finish_and_take(&self, numbers: Range<u64>, share: &mut Vec<W>) -> Range<u64> {
        let mut state = self.lock();
        self.finished(&mut state, numbers);
        let mut next = state.start_share(share);
        if state.waiting.is_empty() && next.is_empty() {
            // Who submits may be waiting for this processor: to let it go on costs less than to sleep and be woken.
            state.looking += 1;
            drop(state);
            yield_now();
            state = self.lock();
            state.looking -= 1;
            next = state.start_share(share);
        }
        self.wake_worker(&mut state);
        next
    }

    fn finished(&self, state: &mut State<W>, numbers: Range<u64>) {
        state.active -= 1;
        for number in numbers {
            let index = number.checked_sub(state.completed + 1).and_then(|index| usize::try_from(index).ok());
            if let Some(finished) = index.and_then(|index| state.running.get_mut(index)) {
                *finished = true;
            }
        }
        while state.running.front() == Some(&true) {
            state.running.pop_front();
            state.completed += 1;
        }
        self.completed.store(state.completed, Ordering::Release);
        if state.completed >= state.awaited {
            // Those who wait for more say so again.
            state.awaited = u64::MAX;
            self.progress.notify_all();
        }
    }

    /// Waits until the entry of that number, and all before it, have completed.
    pub(crate) fn wait(&self, number: u64) {
        if self.is_completed(number) {
            return;
        }
        let mut state = self.lock();
        self.release_to(&mut state, number);
        while state.completed < number {
            state.awaited = state.awaited.min(number);
            state = self.progress.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Lets entries up to that number start.
    pub(crate) fn release(&self, number: u64) {
        self.release_to(&mut self.lock(), number);
    }

    /// Whether the entry of that number, and all before it, have completed.
    #[inline]
    pub(crate) fn is_completed(&self, number: u64) -> bool {
        self.completed.load(Ordering::Acquire) >= number
    }

    /// Number of the last entry submitted.
    #[inline]
    pub(crate) fn submitted(&self) -> u64 {
        self.submitted.load(Ordering::Acquire)
    }

    /// Holds entries that have not started, or lets them go on.
    pub(crate) fn set_paused(&self, paused: bool) {
        let mut state = self.lock();
        state.paused = paused && !state.closed;
        self.wake_worker(&mut state);
    }

    /// Takes no more entries. Those that wait are still carried out, paused or not: nobody can resume a queue that is
    /// out of reach.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        state.paused = false;
        state.released = u64::MAX;
        self.wake_worker(&mut state);
    }

    fn release_to(&self, state: &mut State<W>, number: u64) {
        if state.released < number {
            state.released = number;
            self.wake_worker(state);
        }
    }

    fn wake_worker(&self, state: &mut State<W>) {
        let is_looked_for = state.looking > 0 && state.waiting.front().is_some_and(Entry::is_free);
        if state.parked && !is_looked_for && state.is_startable() {
            state.parked = false;
            self.startable.notify_one();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<W>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<W> Point<W> {
    /// The entry of that number.
    pub(crate) fn new(queue: Arc<Queue<W>>, number: u64) -> Point<W> {
        Point { queue, number }
    }

    /// The last entry submitted so far; None if everything has completed.
    pub(crate) fn last(queue: &Arc<Queue<W>>) -> Option<Point<W>> {
        let number = queue.submitted();
        (!queue.is_completed(number)).then(|| Point::new(Arc::clone(queue), number))
    }

    /// Waits for it.
    pub(crate) fn wait(&self) {
        self.queue.wait(self.number);
    }

    /// Whether it has completed. A lazy queue starts to work on it.
    pub(crate) fn poll(&self) -> bool {
        self.queue.is_completed(self.number) || {
            self.queue.release(self.number);
            false
        }
    }

    /// Whether it is an entry of that queue.
    pub(crate) fn is_of(&self, queue: &Arc<Queue<W>>) -> bool {
        Arc::ptr_eq(&self.queue, queue)
    }
}

impl<W> Clone for Point<W> {
    fn clone(&self) -> Point<W> {
        Point::new(Arc::clone(&self.queue), self.number)
    }
}

impl<W> fmt::Debug for Point<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Point").field("number", &self.number).finish_non_exhaustive()
    }
}

impl<W> fmt::Debug for Queue<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue")
            .field("submitted", &self.submitted)
            .field("completed", &self.completed)
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, shuttle))]
mod interleavings;
#[cfg(all(test, not(shuttle)))]
mod tests;
