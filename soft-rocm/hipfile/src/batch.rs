//! Batches: operations that are handed over together, run by a pool of threads, and reported by events.
//!
//! ```text
//!  submit         the checks of a submission, in order
//!      │
//!  operation      checks an entry, finds its file and buffer, and later moves its bytes as a synchronous call would
//!      │
//!  queue ─ state  one batch: slots, operations that wait, events; who waits for them
//!      │
//!  pool ─ worker  which batch a thread serves next; the threads
//! ```
//!
//! A batch that stands in for 0.2 or 0.4 is only a queue: what it accepts is kept for good and never run.

mod operation;
mod pool;
mod queue;
mod spin;
mod state;
mod submit;
mod worker;

pub(crate) use operation::Operation;
pub(crate) use queue::{Patience, Queue};
pub(crate) use state::{Event, Outcome};
pub(crate) use submit::Submission;
pub(crate) use worker::pool;

/// The largest capacity of a batch.
pub(crate) const MOST: usize = 128;

/// A batch.
pub(crate) type Batch = Queue<Operation>;

#[cfg(test)]
#[cfg(not(shuttle))]
mod tests;

#[cfg(test)]
#[cfg(shuttle)]
mod interleavings;
