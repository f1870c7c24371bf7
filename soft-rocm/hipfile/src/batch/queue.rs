//! One batch, shared by those who submit, those who run its operations and those who wait for its events.

use std::time::{Duration, Instant};

use super::pool::Pool;
use super::spin::spin;
use super::state::{Entry, Event, Refused, State};
use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// What an operation does.
pub(crate) trait Work: Sized + Send + 'static {
    /// Whether `next`, submitted right after it, is better done in one go with it.
    fn joins(&self, next: &Self) -> bool;

    /// Does operations that join one another, or one, and tells how each ended. Whatever they hold is given up when
    /// this returns.
    fn run(group: &mut Vec<Entry<Self>>, ended: &mut Vec<Event>);
}

/// How long to wait for events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    /// Not at all.
    None,
    /// Until then.
    Until(Instant),
    /// As long as it takes.
    Forever,
}

impl Patience {
    /// Patience for so many seconds and nanoseconds; for ever if the clock does not reach that far. `None` if it is
    /// not a time.
    pub(crate) fn from_now(seconds: i64, nanoseconds: i64) -> Option<Self> {
        let nanoseconds = u32::try_from(nanoseconds).ok().filter(|count| *count < 1_000_000_000)?;
        let time = Duration::new(u64::try_from(seconds).ok()?, nanoseconds);
        Some(match Instant::now().checked_add(time) {
            _ if time.is_zero() => Self::None,
            Some(end) => Self::Until(end),
            None => Self::Forever,
        })
    }
}

/// Operations that are done in one go at most.
const TOGETHER: usize = 16;

/// Operations that are not worth dividing among threads if they can be done in one go.
const FEW: usize = 4;

/// How often one thread starts operations before it looks whether another batch has work too.
const TURN: usize = 8;

/// A batch of operations `T`.
#[derive(Debug)]
pub(crate) struct Queue<T> {
    inner: Mutex<Inner<T>>,
    /// Signals what `announced` counts, to those who sleep.
    changed: Condvar,
    /// Counts how often a waiter may have got what it wanted, for those who watch before they sleep.
    announced: AtomicUsize,
}

#[derive(Debug)]
struct Inner<T> {
    state: State<T>,
    /// The fewest events that one of the waiters wants.
    wanted: usize,
    sleepers: usize,
}

impl<T: Work> Inner<T> {
    /// Starts the operation that waited longest, and those that join it: fewer as the end comes near, so that several
    /// threads end together. Says whether there was one.
    fn start(&mut self, group: &mut Group<T>) -> bool {
        let most = (self.state.waiting() / 4).clamp(FEW, TOGETHER);
        while group.entries.len() < most {
            let joins = |last: &Entry<T>| self.state.first().is_some_and(|first| last.work.joins(first));
            if !group.entries.last().is_none_or(joins) {
                break;
            }
            let Some(entry) = self.state.start() else { break };
            group.entries.push(entry);
        }
        !group.entries.is_empty()
    }
}

/// Operations that are run, and how they ended.
#[derive(Debug)]
struct Group<T> {
    entries: Vec<Entry<T>>,
    ended: Vec<Event>,
}

impl<T> Default for Group<T> {
    fn default() -> Self {
        Self { entries: Vec::new(), ended: Vec::new() }
    }
}

impl<T: Work> Queue<T> {
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            inner: Mutex::new(Inner { state: State::new(capacity), wanted: usize::MAX, sleepers: 0 }),
            changed: Condvar::new(),
            announced: AtomicUsize::new(0),
        }
    }

    // Each change of the state is complete before anything that could panic, so a poisoned lock guards a good one.
    fn lock(&self) -> MutexGuard<'_, Inner<T>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn capacity(&self) -> usize {
        self.lock().state.capacity()
    }

    /// Whether `count` more operations would be taken now.
    ///
    /// # Errors
    ///
    /// Why not.
    pub(crate) fn admits(&self, count: usize) -> Result<(), Refused> {
        self.lock().state.admits(count)
    }

    /// Takes all operations or none. Nobody is told of them yet.
    ///
    /// # Errors
    ///
    /// Why none.
    pub(crate) fn submit(&self, entries: Vec<Entry<T>>) -> Result<(), Refused> {
        self.lock().state.submit(entries)
    }

    /// Whether operations wait to be started.
    pub(super) fn has_waiting(&self) -> bool {
        self.lock().state.waiting() > 0
    }

    /// Runs some operations. `more` is called if others wait once the first was taken. Says whether it ran out of
    /// operations.
    pub(super) fn turn(&self, more: impl FnOnce()) -> bool {
        let mut more = Some(more);
        let mut group = Group::default();
        let mut inner = self.lock();
        for _ in 0..TURN {
            if !inner.start(&mut group) {
                return true;
            }
            let others = inner.state.waiting() > 0;
            drop(inner);
            if let Some(more) = more.take().filter(|_| others) {
                more();
            }
            inner = self.run(&mut group);
        }
        false
    }

    /// Runs operations that were started.
    fn run(&self, group: &mut Group<T>) -> MutexGuard<'_, Inner<T>> {
        T::run(&mut group.entries, &mut group.ended);
        let mut inner = self.lock();
        group.ended.drain(..).for_each(|event| inner.state.finish(event));
        self.announce(&mut inner);
        inner
    }

    /// Tells the waiters if one of them may have got what it wanted. Those who have not say again what they want.
    fn announce(&self, inner: &mut Inner<T>) {
        if inner.state.satisfies(inner.wanted) {
            inner.wanted = usize::MAX;
            self.announced.fetch_add(1, Ordering::Relaxed);
            if inner.sleepers > 0 {
                self.changed.notify_all();
            }
        }
    }

    /// Waits until `need` events are there, or all there will be, and delivers up to `most`.
    ///
    /// Who waits for ever and for everything runs operations meanwhile: it could not return before they end anyway.
    pub(crate) fn wait(
        &self,
        pool: &Pool<T>,
        need: usize,
        patience: Patience,
        most: usize,
        deliver: impl FnMut(Event),
    ) {
        let mut group = Group::default();
        let mut inner = self.lock();
        while patience != Patience::None && !inner.state.satisfies(need) {
            let lends_a_hand = patience == Patience::Forever && need >= inner.state.outstanding();
            if lends_a_hand && inner.start(&mut group) {
                drop(inner);
                inner = pool.busy(|| self.run(&mut group));
                continue;
            }
            let (guard, expired) = self.sleep(inner, need, patience);
            inner = guard;
            if expired {
                break;
            }
        }
        inner.state.take(most).for_each(deliver);
    }

    /// Waits for the next announcement, and says whether time ran out.
    fn sleep<'a>(
        &'a self,
        mut inner: MutexGuard<'a, Inner<T>>,
        need: usize,
        patience: Patience,
    ) -> (MutexGuard<'a, Inner<T>>, bool) {
        inner.wanted = inner.wanted.min(need);
        let seen = self.announced.load(Ordering::Relaxed);
        let told = || self.announced.load(Ordering::Relaxed) != seen;
        drop(inner);
        spin(told);
        inner = self.lock();
        if told() {
            return (inner, false);
        }
        inner.sleepers += 1;
        let mut expired = false;
        inner = match patience {
            Patience::Until(end) => {
                let rest = end.saturating_duration_since(Instant::now());
                let (guard, _) =
                    self.changed.wait_timeout(inner, rest).unwrap_or_else(PoisonError::into_inner);
                expired = Instant::now() >= end;
                guard
            }
            _ => self.changed.wait(inner).unwrap_or_else(PoisonError::into_inner),
        };
        inner.sleepers -= 1;
        (inner, expired)
    }

    /// Ends the operations that were not started. Those that run are not waited for.
    pub(crate) fn cancel(&self) {
        let mut inner = self.lock();
        inner.state.cancel();
        self.announce(&mut inner);
    }

    /// Cancels, takes no more operations, and sends all waiters home.
    pub(crate) fn retire(&self) {
        let mut inner = self.lock();
        inner.state.retire();
        self.announce(&mut inner);
    }

    /// Waits until no operation of a retired batch runs.
    pub(crate) fn quiesce(&self) {
        let mut inner = self.lock();
        while !inner.state.is_settled() {
            inner = self.sleep(inner, usize::MAX, Patience::Forever).0;
        }
    }
}
