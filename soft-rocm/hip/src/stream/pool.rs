//! Threads for entries that may overlap, shared by all streams.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::thread;

use super::worker::{STACK, without_signals};
use super::{Stream, Taken};

/// Most threads there are.
fn limit() -> usize {
    static LIMIT: OnceLock<usize> = OnceLock::new();
    *LIMIT
        .get_or_init(|| thread::available_parallelism().map_or(1, usize::from).saturating_mul(2).clamp(4, 32))
}

#[derive(Debug)]
struct Pool {
    jobs: Mutex<Jobs>,
    arrived: Condvar,
}

#[derive(Debug)]
struct Jobs {
    waiting: VecDeque<(Arc<Stream>, Taken)>,
    threads: usize,
    idle: usize,
}

static POOL: Pool = Pool {
    jobs: Mutex::new(Jobs { waiting: VecDeque::new(), threads: 0, idle: 0 }),
    arrived: Condvar::new(),
};

/// Has a thread of the pool carry out an entry; the calling one does if there is none and none can be started.
pub(super) fn run(stream: Arc<Stream>, taken: Taken) {
    let mut jobs = POOL.jobs.lock().unwrap_or_else(PoisonError::into_inner);
    if jobs.idle <= jobs.waiting.len() && jobs.threads < limit() {
        let spawned = without_signals(|| {
            thread::Builder::new().name("hip-pool".to_owned()).stack_size(STACK).spawn(work)
        });
        jobs.threads += usize::from(spawned.is_ok());
    }
    if jobs.threads == 0 {
        drop(jobs);
        return stream.carry_out(taken);
    }
    jobs.waiting.push_back((stream, taken));
    drop(jobs);
    POOL.arrived.notify_one();
}

/// What each thread does. It stays for the next time.
fn work() {
    let mut jobs = POOL.jobs.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        match jobs.waiting.pop_front() {
            Some((stream, taken)) => {
                drop(jobs);
                stream.carry_out(taken);
                jobs = POOL.jobs.lock().unwrap_or_else(PoisonError::into_inner);
            }
            None => {
                jobs.idle += 1;
                jobs = POOL.arrived.wait(jobs).unwrap_or_else(PoisonError::into_inner);
                jobs.idle -= 1;
            }
        }
    }
}
