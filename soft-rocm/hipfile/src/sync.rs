//! Locks and atomics that hold the library's state, and threads: those of the standard library, or shuttle's where
//! `--cfg shuttle` builds the tests that search interleavings.

#[cfg(not(shuttle))]
pub(crate) use std::{
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, atomic},
    thread,
};

#[cfg(shuttle)]
pub(crate) use shuttle::{
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, atomic},
    thread,
};
