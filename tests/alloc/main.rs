//! Device memory through hip-alloc's public interface, on whatever HIP the tests run with.

mod auto_traits;
mod devices;
mod fat_lto;
mod forgotten;
mod memory;
mod model;
mod operations;
mod owned_copies;
mod process;
mod ranges;
mod scopes;
mod stream_ordered;
mod threads;
mod typed;

use std::thread;
use std::time::{Duration, Instant};

use hip_alloc::Device;

fn free_memory() -> usize {
    Device::current().unwrap().memory_info().unwrap().free
}

/// Waits for what another thread does.
fn until(happened: impl Fn() -> bool) {
    let start = Instant::now();
    while !happened() {
        assert!(start.elapsed() < Duration::from_secs(60), "it never happens");
        thread::yield_now();
    }
}
