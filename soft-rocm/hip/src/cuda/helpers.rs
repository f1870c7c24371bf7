//! How many threads help with transfers.

use std::num::NonZero;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Helpers at most: with as many the link is the limit.
const MOST: usize = 12;

/// What the transfers of the process share: with more helpers than processors each would slow the others down.
pub(super) static HELPERS: LazyLock<Helpers> =
    LazyLock::new(|| Helpers::new(thread::available_parallelism().map_or(1, NonZero::get).min(MOST)));

/// Helpers that may still be started.
#[derive(Debug)]
pub(super) struct Helpers(AtomicUsize);

/// A number of helpers, given back when dropped.
#[derive(Debug)]
pub(super) struct Taken<'a> {
    helpers: &'a Helpers,
    count: usize,
}

impl Helpers {
    fn new(most: usize) -> Self {
        Self(AtomicUsize::new(most))
    }

    /// Takes as many as are wanted, or as there are.
    pub(super) fn take(&self, wanted: usize) -> Taken<'_> {
        let rest = |left: usize| Some(left - wanted.min(left));
        let left = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, rest).unwrap_or(0);
        Taken { helpers: self, count: wanted.min(left) }
    }
}

impl Taken<'_> {
    /// How many.
    pub(super) fn count(&self) -> usize {
        self.count
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        self.helpers.0.fetch_add(self.count, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_are_taken_than_there_are_and_all_come_back() {
        let helpers = Helpers::new(5);
        let (first, second, third) = (helpers.take(3), helpers.take(3), helpers.take(3));
        assert_eq!([first.count(), second.count(), third.count()], [3, 2, 0]);
        drop(first);
        assert_eq!(helpers.take(9).count(), 3);
        drop((second, third));
        assert_eq!(helpers.take(9).count(), 5);
    }
}
