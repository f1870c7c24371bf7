//! 64 threads that open, close, register, read, submit and deregister at once, on the same files, memory and batches.
//! `cargo xtask test --suite stress --sanitize address` has AddressSanitizer watch both libraries meanwhile.
//!
//! No answer can be foretold; each is checked against what its function may say, whatever the others do. What was read
//! is checked against the file, and in the end nothing may be left: no use count, no descriptor.

mod actor;
mod stage;

use std::sync::Barrier;

use actor::Moves;
use stage::Stage;

const THREADS: usize = 64;

/// How many calls each thread makes.
const CALLS: usize = 1500;

#[test]
fn everything_at_once() {
    let before = descriptors();
    let stage = Stage::new(THREADS);
    let start = Barrier::new(THREADS);
    let moved: Vec<_> = std::thread::scope(|scope| {
        let thread = |number| {
            let (stage, start) = (&stage, &start);
            scope.spawn(move || {
                let mut actor = actor::Actor::new(stage, number);
                start.wait();
                for _ in 0..CALLS {
                    actor.act();
                }
                actor.leave();
                actor.moved
            })
        };
        let threads: Vec<_> = (0..THREADS).map(thread).collect();
        threads.into_iter().map(|thread| thread.join().expect("a thread")).collect()
    });
    stage.close();
    drop(stage);
    let sum = |of: fn(&Moves) -> usize| moved.iter().map(of).sum::<usize>();
    let sums = [sum(|m| m.read), sum(|m| m.written), sum(|m| m.asynchronous), sum(|m| m.batched)];
    println!("read, written, read asynchronously, in batches: {sums:?}");
    assert!(sums.iter().all(|sum| *sum > THREADS), "too few transfers worked");
    assert_eq!(descriptors(), before, "open descriptors");
}

/// The descriptors that lead to files of this test. The libraries keep some of their own.
fn descriptors() -> usize {
    let links = std::fs::read_dir("/proc/self/fd").expect("procfs").filter_map(|entry| {
        let link = std::fs::read_link(entry.ok()?.path()).ok()?;
        link.to_string_lossy().contains("stress-").then_some(())
    });
    links.count()
}
