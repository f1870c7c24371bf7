//! The threads that run the operations of all batches.
//!
//! The pool's list holds each batch once, not each operation. A thread takes the batch in front, puts it at the end,
//! and runs a few of its operations; a thread that finds none left takes it off the list. Whoever adds a batch wakes
//! one thread, and that thread wakes the next if there is more to do, so that a submission costs one wake-up at most.

use std::collections::VecDeque;
use std::io;

use super::queue::{Queue, Work};
use super::spin::spin;
use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Threads that run operations `T`.
#[derive(Debug)]
pub(crate) struct Pool<T> {
    list: Mutex<List<T>>,
    /// Signals batches added to the list, to those who sleep.
    added: Condvar,
    /// Counts them, for the one who watches before it sleeps.
    additions: AtomicUsize,
    /// Threads that run operations just now, waiters who lend a hand included.
    busy: AtomicUsize,
    /// Threads there may be.
    most: usize,
    /// Starts a thread that calls `work`.
    start: fn(&Arc<Self>) -> io::Result<()>,
}

#[derive(Debug)]
struct List<T> {
    queues: VecDeque<Arc<Queue<T>>>,
    threads: usize,
    sleepers: usize,
    /// Sleepers that were woken and have not noticed yet.
    called: usize,
    /// Whether a thread watches for additions before it goes to sleep.
    watched: bool,
}

impl<T> List<T> {
    fn contains(&self, queue: &Arc<Queue<T>>) -> bool {
        self.queues.iter().any(|listed| Arc::ptr_eq(listed, queue))
    }

    fn remove(&mut self, queue: &Arc<Queue<T>>) {
        let place = self.queues.iter().position(|listed| Arc::ptr_eq(listed, queue));
        place.map(|place| self.queues.remove(place));
    }
}

impl<T: Work> Pool<T> {
    /// A pool without threads: they are started as they are needed.
    pub(crate) fn new(most: usize, start: fn(&Arc<Self>) -> io::Result<()>) -> Self {
        Self {
            list: Mutex::new(List {
                queues: VecDeque::new(),
                threads: 0,
                sleepers: 0,
                called: 0,
                watched: false,
            }),
            added: Condvar::new(),
            additions: AtomicUsize::new(0),
            busy: AtomicUsize::new(0),
            most,
            start,
        }
    }

    // The list is whole whenever something could panic.
    fn lock(&self) -> MutexGuard<'_, List<T>> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sees to it that the operations just submitted to a batch are run, or cancels what waits in it.
    ///
    /// # Errors
    ///
    /// The system error if there is no thread and none can be started.
    pub(crate) fn add(self: &Arc<Self>, queue: &Arc<Queue<T>>) -> io::Result<()> {
        let mut list = self.lock();
        if !list.contains(queue) {
            list.queues.push_back(Arc::clone(queue));
        }
        self.additions.fetch_add(1, Ordering::Relaxed);
        match self.wake(&mut list) {
            Err(error) if list.threads == 0 => {
                list.remove(queue);
                drop(list);
                queue.cancel();
                Err(error)
            }
            _ => Ok(()),
        }
    }

    /// Gets one more thread to look at the list.
    fn wake(self: &Arc<Self>, list: &mut List<T>) -> io::Result<()> {
        if list.watched {
            return Ok(());
        }
        if list.sleepers > list.called {
            list.called += 1;
            self.added.notify_one();
        } else if list.threads < self.most {
            (self.start)(self)?;
            list.threads += 1;
        }
        Ok(())
    }

    /// Runs operations until the process ends.
    pub(crate) fn work(self: &Arc<Self>) {
        let mut finished = None;
        loop {
            let queue = self.next(finished.take());
            let more = || {
                if self.busy.load(Ordering::Relaxed) < self.most {
                    // One thread at least is at it: this one.
                    let _ = self.wake(&mut self.lock());
                }
            };
            if self.busy(|| queue.turn(more)) {
                finished = Some(queue);
            }
        }
    }

    /// The batch whose turn it is, once there is one. `finished` is taken off the list, unless more was submitted: who
    /// submits puts the batch into the list afterwards.
    fn next(&self, finished: Option<Arc<Queue<T>>>) -> Arc<Queue<T>> {
        let mut list = self.lock();
        if let Some(finished) = finished.filter(|finished| !finished.has_waiting()) {
            list.remove(&finished);
        }
        let mut patient = true;
        loop {
            if let Some(queue) = list.queues.pop_front() {
                list.queues.push_back(Arc::clone(&queue));
                return queue;
            }
            if patient && !list.watched {
                list.watched = true;
                let seen = self.additions.load(Ordering::Relaxed);
                drop(list);
                spin(|| self.additions.load(Ordering::Relaxed) != seen);
                list = self.lock();
                list.watched = false;
                patient = false;
            } else {
                list.sleepers += 1;
                list = self.added.wait(list).unwrap_or_else(PoisonError::into_inner);
                list.sleepers -= 1;
                list.called = list.called.saturating_sub(1);
                patient = true;
            }
        }
    }

    /// Counts the calling thread as busy meanwhile.
    pub(super) fn busy<R>(&self, work: impl FnOnce() -> R) -> R {
        self.busy.fetch_add(1, Ordering::Relaxed);
        let result = work();
        self.busy.fetch_sub(1, Ordering::Relaxed);
        result
    }
}
