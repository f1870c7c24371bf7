//! How far an operation is: what the stream, the owner and the completion thread tell each other.

use core::mem;
use core::task::Waker;
use core::time::Duration;
use std::sync::{Arc, PoisonError};

use crate::completion::{Completion, Watched};
use crate::error::{Error, Result};
use crate::event::Event;
use crate::fork::forked;
use crate::hip_error::HipError;
use crate::in_flight::Place;
use crate::leaks;
use crate::quietly::quietly;
use crate::stream::Stream;
use crate::sync::{Condvar, Mutex, MutexGuard, lock};

/// How long a sleeping waiter trusts the stream to tell before it asks.
const ASK_AGAIN: Duration = Duration::from_millis(100);

/// How an operation ended.
pub(crate) enum Outcome {
    /// The stream has done all of it.
    Passed,
    /// The stream was given none of it, because of this.
    NotStarted(Error),
    /// Nobody knows whether the stream still works on it. What it owns stays where it is for ever.
    Lost(Error),
}

enum Stage {
    Going,
    /// What the operation owns is there to be taken.
    Ended(Outcome),
    /// It was taken.
    Taken,
}

pub(crate) struct Progress {
    completion: &'static Completion,
    /// Whether it was begun in a forked child, so that no other process has a part in it.
    in_child: bool,
    /// How much is leaked if the operation is lost.
    bytes: usize,
    state: Mutex<State>,
    ended: Condvar,
}

struct State {
    stage: Stage,
    stream: Option<Stream>,
    /// Stands for the operation's end where no host function does.
    event: Option<Event>,
    place: Option<Place>,
    waker: Option<Waker>,
    /// Whether the owner is gone. Then the completion thread takes what is there.
    abandoned: bool,
    /// Where the completion thread has the operation.
    watched: Option<usize>,
}

impl Progress {
    pub(crate) fn new(
        completion: &'static Completion,
        stream: Stream,
        place: Option<Place>,
        bytes: usize,
    ) -> Self {
        let state = State {
            stage: Stage::Going,
            stream: Some(stream),
            event: None,
            place,
            waker: None,
            abandoned: false,
            watched: None,
        };
        Self { completion, in_child: forked(), bytes, state: Mutex::new(state), ended: Condvar::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Whether this is a forked child's copy of the operation, with locks that may be held for ever and a stream that does
    /// not go on.
    pub(crate) fn is_inherited(&self) -> bool {
        forked() && !self.in_child
    }

    pub(crate) fn has_ended(&self) -> bool {
        !matches!(self.lock().stage, Stage::Going)
    }

    /// Notes that the operation has ended, unless that is known. Frees nothing, and runs nobody's code unless it is lost: HIP
    /// may be the caller.
    pub(crate) fn end(&self, outcome: Outcome) {
        let mut state = self.lock();
        if !matches!(state.stage, Stage::Going) {
            return;
        }
        let lost = matches!(outcome, Outcome::Lost(_));
        if lost {
            leaks::count(self.bytes);
        }
        state.stage = Stage::Ended(outcome);
        self.ended.notify_all();
        if let Some(index) = state.watched {
            self.completion.ready(index);
        }
        drop(state);
        // Not by a call of HIP, which only tells that an operation has passed.
        if lost {
            leaks::tell(self.bytes);
        }
    }

    /// Ends the operation if its stream, by `is_idle`, has nothing left to do or cannot say.
    pub(crate) fn ask_by(&self, is_idle: impl FnOnce(&Stream) -> Result<bool>) {
        let stream = {
            let state = self.lock();
            match (&state.stage, &state.stream) {
                (Stage::Going, Some(stream)) => stream.clone(),
                _ => return,
            }
        };
        self.learn(is_idle(&stream));
    }

    /// Ends the operation if HIP's answer is that it has passed, or that nobody can say any more.
    fn learn(&self, passed: Result<bool>) {
        match passed {
            Ok(true) => self.end(Outcome::Passed),
            Ok(false) => {}
            Err(error) if error.hip_error().is_some_and(HipError::is_of_capture) => {}
            Err(error) => self.end(Outcome::Lost(error)),
        }
    }

    /// As [`ask_by`](Self::ask_by), by asking HIP. Streams that begin when asked do so.
    pub(crate) fn ask(&self, operation: &'static str) {
        self.ask_by(|stream| stream.as_ref().is_idle_for(operation));
    }

    /// Sleeps until the operation has ended.
    pub(crate) fn wait(&self, operation: &'static str) {
        self.ask(operation);
        let mut state = self.lock();
        while matches!(state.stage, Stage::Going) {
            let (woken, timeout) =
                self.ended.wait_timeout(state, ASK_AGAIN).unwrap_or_else(PoisonError::into_inner);
            state = woken;
            if timeout.timed_out() {
                drop(state);
                self.ask(operation);
                state = self.lock();
            }
        }
    }

    /// Lets an event stand for the end.
    pub(crate) fn follow(&self, event: Event, this: impl FnOnce() -> Arc<dyn Watched>) {
        let mut state = self.lock();
        state.event = Some(event);
        self.watch(&mut state, this);
    }

    /// Ends the operation if its event was reached or is out of reach.
    pub(crate) fn ask_event(&self) {
        let mut state = self.lock();
        let Some(event) = state.event.take() else { return };
        drop(state);
        let answer = event.is_reached();
        state = self.lock();
        // With an operation that was taken meanwhile it would go on whatever thread has the last reference, maybe HIP's.
        let needless = match state.stage {
            Stage::Taken => Some(event),
            Stage::Going | Stage::Ended(_) => state.event.replace(event),
        };
        drop(state);
        drop(needless);
        self.learn(answer);
    }

    /// Releases the place if the operation has ended; else the completion thread will.
    pub(crate) fn watch_place(&self, this: impl FnOnce() -> Arc<dyn Watched>) {
        let mut state = self.lock();
        if matches!(state.stage, Stage::Going) && state.place.is_some() {
            return self.watch(&mut state, this);
        }
        let place = state.place.take();
        drop(state);
        drop(place);
    }

    /// Lets `waker` be woken at the end; true if the operation has ended already. Asks the stream the first time.
    pub(crate) fn wake_with(
        &self,
        operation: &'static str,
        waker: &Waker,
        this: impl FnOnce() -> Arc<dyn Watched>,
    ) -> bool {
        let first = {
            let state = self.lock();
            if !matches!(state.stage, Stage::Going) {
                return true;
            }
            if state.waker.as_ref().is_some_and(|known| known.will_wake(waker)) {
                return false;
            }
            state.waker.is_none()
        };
        if first {
            self.ask(operation);
        }
        // Wakers are code of others: no lock is held while one is cloned or dropped.
        let waker = waker.clone();
        let mut state = self.lock();
        if !matches!(state.stage, Stage::Going) {
            return true;
        }
        let before = state.waker.replace(waker);
        self.watch(&mut state, this);
        drop(state);
        drop(before);
        false
    }

    /// Lets the completion thread take what the operation owns when it has ended. True if it has not even started, so that
    /// the caller may.
    pub(crate) fn abandon(&self, this: impl FnOnce() -> Arc<dyn Watched>) -> bool {
        let mut state = self.lock();
        match state.stage {
            Stage::Ended(Outcome::NotStarted(_)) => return true,
            Stage::Taken => return false,
            Stage::Going | Stage::Ended(_) => {}
        }
        state.abandoned = true;
        let waker = state.waker.take();
        self.watch(&mut state, this);
        drop(state);
        quietly(|| drop(waker));
        false
    }

    /// Has the completion thread look after the operation.
    fn watch(&self, state: &mut State, this: impl FnOnce() -> Arc<dyn Watched>) {
        if state.watched.is_some() {
            return;
        }
        let index = self.completion.add(this(), state.event.is_some());
        state.watched = Some(index);
        if matches!(state.stage, Stage::Ended(_)) {
            self.completion.ready(index);
        }
    }

    /// What the completion thread does when the operation has ended. True if the owner is gone.
    pub(crate) fn settle(&self) -> bool {
        let mut state = self.lock();
        state.watched = None;
        let (place, waker, abandoned) = (state.place.take(), state.waker.take(), state.abandoned);
        drop(state);
        drop(place);
        if let Some(waker) = waker {
            quietly(|| waker.wake());
        }
        abandoned
    }

    /// The end, for the one who takes what the operation owns; `None` if it has not ended, or was taken.
    pub(crate) fn take(&self) -> Option<Outcome> {
        let mut state = self.lock();
        let outcome = match mem::replace(&mut state.stage, Stage::Taken) {
            Stage::Ended(outcome) => outcome,
            other => {
                state.stage = other;
                return None;
            }
        };
        let (place, waker, event) = (state.place.take(), state.waker.take(), state.event.take());
        // A lost operation keeps its stream.
        let stream = if matches!(outcome, Outcome::Lost(_)) { None } else { state.stream.take() };
        drop(state);
        drop(place);
        drop(event);
        drop(stream);
        quietly(|| drop(waker));
        Some(outcome)
    }
}
