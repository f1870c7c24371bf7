//! Where paused calls wait.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Calls that are held until they are let go together.
#[derive(Debug, Default)]
pub(crate) struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// How often calls were let go.
    opened: u64,
    /// Whether nothing is held any more.
    gone: bool,
    waiting: usize,
}

impl Gate {
    /// Waits until the next [`Gate::open`] or [`Gate::remove`].
    pub(crate) fn wait(&self) {
        let mut state = self.lock();
        let before = state.opened;
        state.waiting += 1;
        while state.opened == before && !state.gone {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.waiting -= 1;
    }

    /// Lets those go that wait now.
    pub(crate) fn open(&self) {
        let mut state = self.lock();
        state.opened = state.opened.wrapping_add(1);
        drop(state);
        self.changed.notify_all();
    }

    /// Lets all go, also those that come later.
    pub(crate) fn remove(&self) {
        self.lock().gone = true;
        self.changed.notify_all();
    }

    /// How many wait.
    pub(crate) fn waiting(&self) -> usize {
        self.lock().waiting
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    fn until(gate: &Gate, waiting: usize) {
        while gate.waiting() != waiting {
            thread::yield_now();
        }
    }

    #[test]
    fn opening_lets_those_go_that_wait_now() {
        let gate = Gate::default();
        thread::scope(|scope| {
            let first: Vec<_> = (0..3).map(|_| scope.spawn(|| gate.wait())).collect();
            until(&gate, 3);
            gate.open();
            for thread in first {
                thread.join().unwrap();
            }
            let later = scope.spawn(|| gate.wait());
            until(&gate, 1);
            gate.remove();
            later.join().unwrap();
        });
        gate.wait();
        assert_eq!(gate.waiting(), 0);
    }
}
