//! Threads for entries that may overlap, shared by all streams.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;

use super::queue::width;
use super::worker::{STACK, without_signals};
use super::{Stream, Taken};

#[derive(Debug)]
struct Pool {
    jobs: Mutex<Jobs>,
    arrived: Condvar,
}

#[derive(Debug)]
struct Jobs {
    waiting: VecDeque<(Arc<Stream>, Taken)>,
    /// Most are as many as one stream makes use of.
    threads: usize,
    idle: usize,
}

/// Length of [`Jobs::waiting`], to be asked without the lock.
static WAITING: AtomicUsize = AtomicUsize::new(0);

static POOL: Pool = Pool {
    jobs: Mutex::new(Jobs { waiting: VecDeque::new(), threads: 0, idle: 0 }),
    arrived: Condvar::new(),
};

/// Has a thread of the pool carry out an entry; the calling one does if there is none and none can be started.
pub(super) fn run(stream: Arc<Stream>, taken: Taken) {
    let mut jobs = POOL.jobs.lock().unwrap_or_else(PoisonError::into_inner);
    if jobs.idle <= jobs.waiting.len() && jobs.threads < width() {
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
    WAITING.store(jobs.waiting.len(), Ordering::Relaxed);
    let anyone_sleeps = jobs.idle > 0;
    drop(jobs);
    if anyone_sleeps {
        POOL.arrived.notify_one();
    }
}

/// Whether there is work of other streams, or other work of this one, that a thread should turn to.
pub(super) fn is_wanted() -> bool {
    WAITING.load(Ordering::Relaxed) > 0
}

/// What each thread does. It stays for the next time.
fn work() {
    let mut share = Vec::new();
    let mut jobs = POOL.jobs.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        match jobs.waiting.pop_front() {
            Some((stream, taken)) => {
                WAITING.store(jobs.waiting.len(), Ordering::Relaxed);
                drop(jobs);
                stream.carry_out_group(taken, &mut share);
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
