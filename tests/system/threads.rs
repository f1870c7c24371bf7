//! Many threads.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;

use hipfile::alloc::DeviceBuffer;
use hipfile::{Driver, ErrorKind, Registered};
use hipfile_tests::isolate::alone;

use crate::common::{Scratch, counted_if_any, open, pattern};

const THREADS: usize = 64;
const PART: usize = 12_288 + 7;

/// HF-READ-38, HF-READ-39, HF-STATS-22, HF-THR-01: one handle, one registration, disjoint parts, all at once.
#[test]
fn sixty_four_threads_share_a_file_and_a_registration() {
    alone("threads::sixty_four_threads_share_a_file_and_a_registration", || {
        let scratch = Scratch::new();
        let content = pattern(THREADS * PART, 8);
        let (source, target) = (scratch.file("in", &content), scratch.file("out", b""));
        let driver = Driver::open().unwrap();
        let (input, output) = (open(&driver, &source), open(&driver, &target));
        let mut memory = driver.register(DeviceBuffer::new(content.len()).unwrap()).unwrap();
        let start = Barrier::new(THREADS);
        let stats = counted_if_any(|| {
            let mut rest = memory.slice_mut(..).unwrap();
            thread::scope(|scope| {
                for index in 0..THREADS {
                    let (mut part, tail) = rest.split_at_mut(PART).unwrap();
                    rest = tail;
                    let (input, output, start) = (&input, &output, &start);
                    scope.spawn(move || {
                        let offset = (index * PART) as u64;
                        start.wait();
                        input.read_exact_at(&mut part, offset).unwrap();
                        output.write_all_at(&part, offset).unwrap();
                    });
                }
            });
        });
        assert!(fs::read(&target).unwrap() == content);
        if let Some(stats) = stats {
            assert_eq!((stats.reads.bytes, stats.writes.bytes), (content.len() as u64, content.len() as u64));
            assert_eq!((stats.reads.errors, stats.writes.errors), (0, 0));
        }
    });
}

/// HF-DRV-13, HF-DRV-14, HF-THR-03, SND-07: each thread has files, memory and driver of its own.
#[test]
fn sixty_four_threads_with_everything_of_their_own() {
    alone("threads::sixty_four_threads_with_everything_of_their_own", || {
        let scratch = Scratch::new();
        let watch = Driver::open().unwrap();
        let start = Barrier::new(THREADS);
        thread::scope(|scope| {
            for index in 0..THREADS {
                let (scratch, start) = (&scratch, &start);
                scope.spawn(move || {
                    let content = pattern(5000 + index, index as u64);
                    let path = scratch.file(&format!("data-{index}"), &content);
                    start.wait();
                    for _ in 0..20 {
                        let driver = Driver::open().unwrap();
                        let file = open(&driver, &path);
                        let mut memory = driver.register(DeviceBuffer::new(content.len()).unwrap()).unwrap();
                        drop(driver);
                        file.read_exact_at(memory.slice_mut(..).unwrap(), 0).unwrap();
                        assert!(memory.deregister().unwrap().to_vec().unwrap() == content);
                    }
                });
            }
        });
        assert_eq!(watch.use_count().unwrap(), 1);
    });
}

/// HF-THR-04: sharing one buffer's registration from many threads; the last guard to go removes it.
#[test]
fn threads_share_one_registration() {
    // At one base there is one length at a time, that of whoever came first.
    fn length(result: hipfile::Result<Registered<Arc<DeviceBuffer>>>, expected: usize) {
        match result {
            Ok(registered) => assert_eq!(registered.len(), expected),
            Err(error) => assert_eq!(error.kind(), ErrorKind::AlreadyRegistered),
        }
    }
    let driver = Driver::open().unwrap();
    let memory = Arc::new(DeviceBuffer::new(4096).unwrap());
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    length(driver.register(Arc::clone(&memory)), 4096);
                }
            });
        }
        for _ in 0..500 {
            length(Ok(driver.register_range(Arc::clone(&memory), 2048..).unwrap()), 2048);
            length(driver.register_range(Arc::clone(&memory), ..2048), 2048);
        }
        stop.store(true, Ordering::Relaxed);
    });
    let memory = Arc::into_inner(memory).expect("no guard is left");
    assert!(driver.register(memory).is_ok());
}
