//! The threads of the pool.

use std::io;
use std::sync::LazyLock;

use super::operation::Operation;
use super::pool::Pool;
use super::spin::processors;
use crate::signals;
use crate::sync::{Arc, thread};

/// The pool of this process.
pub(crate) fn pool() -> &'static Arc<Pool<Operation>> {
    static POOL: LazyLock<Arc<Pool<Operation>>> =
        LazyLock::new(|| Arc::new(Pool::new(processors().max(2), start)));
    &POOL
}

/// Starts a thread, which leaves the program's signals to the program's threads.
pub(super) fn start(pool: &Arc<Pool<Operation>>) -> io::Result<()> {
    let pool = Arc::clone(pool);
    let started = signals::without(|| {
        thread::Builder::new().name("hipfile-batch".to_owned()).spawn(move || pool.work())
    });
    started.map(drop)
}
