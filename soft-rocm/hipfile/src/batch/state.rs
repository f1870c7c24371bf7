//! The state of one batch: which operations wait, how many run, which events wait to be fetched.
//!
//! ```text
//!  submit ──> waiting ──start──> running ──finish──> terminal ──take──> (slot free)
//!                └────────────cancel───────────────────^
//! ```
//!
//! Nothing here locks, waits or runs anything.

use std::collections::VecDeque;

/// How an operation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// So many bytes moved.
    Complete(usize),
    /// The negative number that says why.
    Failed(isize),
    /// It never began.
    Canceled,
}

/// An operation that ended, as it is told to the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) cookie: usize,
    pub(crate) outcome: Outcome,
}

/// An operation: what is to be done, and the caller's name for it.
#[derive(Debug)]
pub(crate) struct Entry<T> {
    pub(crate) cookie: usize,
    pub(crate) work: T,
}

/// Why a batch does not take operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// It was destroyed, or the driver was closed.
    Retired,
    /// There is no room for all of them.
    Full,
}

/// The state of one batch of operations `T`.
#[derive(Debug)]
pub(crate) struct State<T> {
    capacity: usize,
    waiting: VecDeque<Entry<T>>,
    running: usize,
    terminal: VecDeque<Event>,
    retired: bool,
}

impl<T> State<T> {
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            capacity,
            waiting: VecDeque::with_capacity(capacity),
            running: 0,
            terminal: VecDeque::with_capacity(capacity),
            retired: false,
        }
    }

    pub(crate) fn capacity(&self) -> usize {
        self.capacity
    }

    /// Operations whose event was not fetched: each holds a slot.
    pub(crate) fn outstanding(&self) -> usize {
        self.waiting.len() + self.running + self.terminal.len()
    }

    /// Whether `count` more would be taken.
    ///
    /// # Errors
    ///
    /// Why not.
    pub(crate) fn admits(&self, count: usize) -> Result<(), Refused> {
        if self.retired {
            Err(Refused::Retired)
        } else if count > self.capacity - self.outstanding() {
            Err(Refused::Full)
        } else {
            Ok(())
        }
    }

    /// Takes all operations or none.
    ///
    /// # Errors
    ///
    /// Why not.
    pub(crate) fn submit(&mut self, entries: Vec<Entry<T>>) -> Result<(), Refused> {
        self.admits(entries.len())?;
        self.waiting.extend(entries);
        Ok(())
    }

    /// Hands out the operation that waited longest. It must be finished.
    pub(crate) fn start(&mut self) -> Option<Entry<T>> {
        let entry = self.waiting.pop_front()?;
        self.running += 1;
        Some(entry)
    }

    /// Records how a started operation ended. Whatever it held must have been given up.
    pub(crate) fn finish(&mut self, event: Event) {
        self.running -= 1;
        self.terminal.push_back(event);
    }

    /// Ends all operations that wait; what they hold is given up before their events can be seen.
    pub(crate) fn cancel(&mut self) {
        for Entry { cookie, work } in self.waiting.drain(..) {
            drop(work);
            self.terminal.push_back(Event { cookie, outcome: Outcome::Canceled });
        }
    }

    /// Cancels, and takes no more operations.
    pub(crate) fn retire(&mut self) {
        self.retired = true;
        self.cancel();
    }

    /// Takes up to `most` events, in the order in which the operations ended.
    pub(crate) fn take(&mut self, most: usize) -> impl Iterator<Item = Event> {
        let count = most.min(self.terminal.len());
        self.terminal.drain(..count)
    }

    /// How many operations wait to be started.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// The one of them that waits longest.
    pub(crate) fn first(&self) -> Option<&T> {
        self.waiting.front().map(|entry| &entry.work)
    }

    /// Whether all operations have ended.
    pub(crate) fn is_settled(&self) -> bool {
        self.waiting.is_empty() && self.running == 0
    }

    /// Whether who wants `need` events has waited long enough.
    pub(crate) fn satisfies(&self, need: usize) -> bool {
        self.retired || self.terminal.len() >= need || self.is_settled()
    }
}

#[cfg(test)]
mod tests;
