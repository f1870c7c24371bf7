//! Locks and atomics of the stream queue: the standard library's, or those of the model checker in its tests.

#[cfg(not(all(test, shuttle)))]
pub(crate) use std::sync::{
    Arc, Condvar, Mutex, MutexGuard,
    atomic::{AtomicU64, Ordering},
};
#[cfg(not(all(test, shuttle)))]
pub(crate) use std::thread::yield_now;

#[cfg(all(test, shuttle))]
pub(crate) use shuttle::sync::{
    Arc, Condvar, Mutex, MutexGuard,
    atomic::{AtomicU64, Ordering},
};
#[cfg(all(test, shuttle))]
pub(crate) use shuttle::thread::yield_now;
