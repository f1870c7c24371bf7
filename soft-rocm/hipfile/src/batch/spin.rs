//! Watching for a moment before going to sleep: waking a thread costs more than a small operation.

use std::hint;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// How long to watch: about as long as it takes to be put to sleep and woken again.
const MOMENT: Duration = Duration::from_micros(30);

/// Waits a moment for a condition, and not at all where no other processor could bring it about.
pub(super) fn spin(condition: impl Fn() -> bool) {
    if cfg!(shuttle) || processors() == 1 {
        return;
    }
    let begun = Instant::now();
    while begun.elapsed() < MOMENT {
        for _ in 0..16 {
            if condition() {
                return;
            }
            hint::spin_loop();
        }
    }
}

/// Processors that this process may use.
pub(super) fn processors() -> usize {
    static PROCESSORS: LazyLock<usize> =
        LazyLock::new(|| std::thread::available_parallelism().map_or(1, |count| count.get()));
    *PROCESSORS
}
