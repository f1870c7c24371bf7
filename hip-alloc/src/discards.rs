//! What abandoned operations own, dropped by a thread of its own: HIP may let it wait, for all streams, while it frees
//! memory, and what those streams wait for may be a future that is to be woken.

use std::collections::VecDeque;
use std::sync::{Arc, PoisonError};

use crate::completion::Watched;
use crate::quietly::quietly;
use crate::service::Service;
use crate::sync::{Condvar, Mutex, lock};

/// The process's.
pub(crate) static DISCARDS: Discards = Discards::new(Service::new("hip-discard"));

pub(crate) struct Discards {
    service: Service,
    queue: Mutex<VecDeque<Arc<dyn Watched>>>,
    changed: Condvar,
}

impl Discards {
    pub(crate) const fn new(service: Service) -> Self {
        Self { service, queue: Mutex::new(VecDeque::new()), changed: Condvar::new() }
    }

    /// Drops what an operation owns that has ended and has no owner: soon, or at once if there can be no thread for it.
    pub(crate) fn add(&'static self, operation: Arc<dyn Watched>) {
        if self.service.start(|| self.turn()).is_err() {
            return discard(operation);
        }
        lock(&self.queue).push_back(operation);
        self.changed.notify_one();
    }

    /// Waits for the next operation and drops what it owns.
    pub(crate) fn turn(&self) {
        let mut queue = lock(&self.queue);
        loop {
            if let Some(operation) = queue.pop_front() {
                drop(queue);
                return discard(operation);
            }
            queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

fn discard(operation: Arc<dyn Watched>) {
    quietly(|| operation.discard());
}
