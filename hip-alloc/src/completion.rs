//! The thread that does what streams must not: it wakes futures, releases places, has dropped what abandoned operations
//! own, and notices devices that are lost.

use core::time::Duration;
use std::collections::VecDeque;
use std::sync::{Arc, PoisonError};
use std::time::Instant;

use crate::discards::{DISCARDS, Discards};
use crate::error::{Cause, Error, Result};
use crate::progress::Progress;
use crate::service::Service;
use crate::stream_answers::StreamAnswers;
use crate::sync::{Condvar, Mutex, lock};

/// How often streams are asked whether they are still there.
const LOOK: Duration = Duration::from_secs(1);
/// How often events are asked that stand in for host functions.
const LOOK_AT_EVENTS: Duration = Duration::from_millis(1);

/// The process's.
pub(crate) static COMPLETION: Completion = Completion::new(Service::new("hip-completion"), &DISCARDS);

/// An operation as the completion thread sees it.
pub(crate) trait Watched: Send + Sync {
    fn progress(&self) -> &Progress;
    /// Drops what the operation owns, which has ended and has no owner.
    fn discard(self: Arc<Self>);
}

pub(crate) struct Completion {
    service: Service,
    watched: Mutex<List>,
    changed: Condvar,
    discards: &'static Discards,
}

/// Operations that are watched, each at an index of its own.
struct List {
    entries: Vec<Option<Entry>>,
    /// Indices without an entry.
    free: Vec<usize>,
    /// Indices of those that have ended, each once.
    ready: VecDeque<usize>,
    /// How many have an event.
    events: usize,
}

struct Entry {
    operation: Arc<dyn Watched>,
    has_event: bool,
}

/// What the thread keeps from one turn to the next.
#[derive(Default)]
pub(crate) struct Turns {
    /// When streams are asked next; `None` if nothing is watched.
    look: Option<Instant>,
    /// When events are asked next; `None` if there are none.
    look_at_events: Option<Instant>,
    asked: Vec<Arc<dyn Watched>>,
}

impl Completion {
    pub(crate) const fn new(service: Service, discards: &'static Discards) -> Self {
        Self { service, watched: Mutex::new(List::new()), changed: Condvar::new(), discards }
    }

    /// Starts the thread unless it runs.
    pub(crate) fn start(&'static self, operation: &'static str) -> Result<()> {
        let mut turns = Turns::default();
        self.service
            .start(move || self.turn(&mut turns))
            .map_err(|error| Error::new(operation, Cause::NoThread(error.to_string())))
    }

    /// Has the thread look after an operation, which tells the index when it has ended.
    pub(crate) fn add(&self, operation: Arc<dyn Watched>, has_event: bool) -> usize {
        let mut list = lock(&self.watched);
        let index = list.add(Entry { operation, has_event });
        // The thread sleeps for as long as it may without this one.
        if has_event || list.is_single() {
            self.changed.notify_one();
        }
        index
    }

    /// Tells the thread that the operation at `index` has ended. Allocates nothing.
    pub(crate) fn ready(&self, index: usize) {
        lock(&self.watched).ready.push_back(index);
        self.changed.notify_one();
    }

    /// Does the next thing there is to do, and waits for it if need be.
    pub(crate) fn turn(&self, turns: &mut Turns) {
        let mut list = lock(&self.watched);
        loop {
            if list.is_empty() {
                turns.look = None;
                list = self.changed.wait(list).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let now = Instant::now();
            let look = *turns.look.get_or_insert(now + LOOK);
            if look <= now {
                turns.look = None;
                turns.asked.extend(list.operations(|_| true));
                drop(list);
                return turns.ask_streams();
            }
            turns.look_at_events =
                (list.events > 0).then(|| turns.look_at_events.unwrap_or(now + LOOK_AT_EVENTS));
            if turns.look_at_events.is_some_and(|look| look <= now) {
                turns.look_at_events = None;
                turns.asked.extend(list.operations(|entry| entry.has_event));
                drop(list);
                return turns.ask_events();
            }
            if let Some(operation) = list.take_ready() {
                drop(list);
                return self.settle(operation);
            }
            let next = turns.look_at_events.map_or(look, |events| events.min(look));
            let woken = self.changed.wait_timeout(list, next - now);
            (list, _) = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Wakes whoever waits for an operation that has ended, and ends it for good if nobody does.
    fn settle(&self, operation: Arc<dyn Watched>) {
        if operation.progress().settle() {
            self.discards.add(operation);
        }
    }
}

impl Turns {
    fn ask_streams(&mut self) {
        let mut answers = StreamAnswers::default();
        for operation in self.asked.drain(..) {
            operation.progress().ask_by(|stream| answers.is_idle(stream));
        }
    }

    fn ask_events(&mut self) {
        for operation in self.asked.drain(..) {
            operation.progress().ask_event();
        }
    }
}

impl List {
    const fn new() -> Self {
        Self { entries: Vec::new(), free: Vec::new(), ready: VecDeque::new(), events: 0 }
    }

    fn is_empty(&self) -> bool {
        self.free.len() == self.entries.len()
    }

    fn is_single(&self) -> bool {
        self.free.len() + 1 == self.entries.len()
    }

    fn add(&mut self, entry: Entry) -> usize {
        self.events += usize::from(entry.has_event);
        let index = self.free.pop().unwrap_or(self.entries.len());
        match self.entries.get_mut(index) {
            Some(vacant) => *vacant = Some(entry),
            None => {
                self.entries.push(Some(entry));
                // Room for all, so that neither freeing nor telling allocates.
                let entries = self.entries.len();
                self.free.reserve(entries - self.free.len());
                self.ready.reserve(entries - self.ready.len());
            }
        }
        index
    }

    fn take_ready(&mut self) -> Option<Arc<dyn Watched>> {
        let index = self.ready.pop_front()?;
        let entry = self.entries.get_mut(index)?.take()?;
        self.events -= usize::from(entry.has_event);
        self.free.push(index);
        Some(entry.operation)
    }

    fn operations(&self, which: fn(&Entry) -> bool) -> impl Iterator<Item = Arc<dyn Watched>> + '_ {
        let entries = self.entries.iter().flatten().filter(move |entry| which(entry));
        entries.map(|entry| Arc::clone(&entry.operation))
    }
}
