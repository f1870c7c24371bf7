//! Streams and the life of a process: lazy ones, forks, exits.
#![allow(
    clippy::multiple_unsafe_ops_per_block,
    clippy::unwrap_used,
    reason = "lists of calls; a panic is a failed test"
)]

mod support;

use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use soft_rocm_hip::header::*;
use support::passes_in_process;
use support::streams::{event, launch, launch_concurrent, pause, resume, stream};
use support::{device_bytes, host_bytes, pinned_memory};

const DEFAULT: hipStream_t = ptr::null_mut();
const LAZY: &[(&str, &str)] = &[("SOFT_ROCM_STREAMS", "lazy")];

/// Time for what must not happen to happen.
fn a_moment() {
    thread::sleep(std::time::Duration::from_millis(30));
}

/// HF-HIP-35
#[test]
fn lazy_streams_do_what_is_waited_for_and_no_more() {
    passes_in_process("lazy_streams_do_what_is_waited_for_and_no_more", LAZY, || {
        let (first, second) = (stream(hipStreamNonBlocking), stream(hipStreamNonBlocking));
        let done = AtomicU32::new(0);
        let add = |stream, number| {
            let done = &done;
            launch(stream, move || {
                done.fetch_add(number, Ordering::SeqCst);
            });
        };
        let now = || done.load(Ordering::SeqCst);
        let event = event(hipEventDefault);
        add(first, 1);
        assert_eq!(hipEventRecord(event, first), hipSuccess);
        add(first, 10);
        assert_eq!(hipStreamWaitEvent(second, event, 0), hipSuccess);
        launch_concurrent(second, || {
            done.fetch_add(100, Ordering::SeqCst);
        });
        a_moment();
        assert_eq!(now(), 0);
        assert_eq!(hipEventSynchronize(event), hipSuccess);
        a_moment();
        assert_eq!(now(), 1);
        assert_eq!(hipStreamSynchronize(second), hipSuccess);
        a_moment();
        assert_eq!(now(), 101);
        assert_eq!(hipDeviceSynchronize(), hipSuccess);
        assert_eq!(now(), 111);
    });
}

/// HF-HIP-35
#[test]
fn lazy_streams_do_what_others_need() {
    passes_in_process("lazy_streams_do_what_others_need", LAZY, || {
        let streams = [stream(hipStreamNonBlocking), stream(hipStreamNonBlocking), stream(hipStreamDefault)];
        let done = AtomicU32::new(0);
        let event = event(hipEventDefault);
        assert_eq!(hipEventRecord(event, streams[0]), hipSuccess);
        assert_eq!(hipStreamWaitEvent(streams[1], event, 0), hipSuccess);
        assert_eq!(hipEventRecord(event, streams[1]), hipSuccess);
        assert_eq!(hipStreamWaitEvent(streams[0], event, 0), hipSuccess);
        assert_eq!(hipStreamSynchronize(streams[0]), hipSuccess);
        // Values written by a stream nobody waits for.
        let device = device_bytes(&[0; 8]);
        // SAFETY: requires memory that lives; holds.
        unsafe {
            assert_eq!(hipStreamWriteValue32(streams[1], device, 9, 0), hipSuccess);
            assert_eq!(hipStreamWaitValue32(streams[0], device, 9, hipStreamWaitValueEq, !0), hipSuccess);
        }
        assert_eq!(hipStreamSynchronize(streams[0]), hipSuccess);
        // What blocking calls wait for.
        launch(streams[2], || done.store(1, Ordering::SeqCst));
        assert_eq!(host_bytes(device, 1), [9]);
        assert_eq!(done.load(Ordering::SeqCst), 1);
        launch(streams[1], || done.store(2, Ordering::SeqCst));
        assert_eq!(hipFree(device), hipSuccess);
        assert_eq!(done.load(Ordering::SeqCst), 2);
    });
}

#[test]
fn lazy_streams_end_when_they_are_polled_or_destroyed() {
    passes_in_process("lazy_streams_end_when_they_are_polled_or_destroyed", LAZY, || {
        let (first, second) = (stream(hipStreamNonBlocking), stream(hipStreamNonBlocking));
        let event = event(hipEventDefault);
        launch(first, || ());
        assert_eq!(hipEventRecord(event, second), hipSuccess);
        while hipStreamQuery(first) == hipErrorNotReady || hipEventQuery(event) == hipErrorNotReady {
            thread::yield_now();
        }
        let (sender, done) = std::sync::mpsc::channel();
        launch(first, move || sender.send(()).unwrap());
        assert_eq!(hipStreamDestroy(first), hipSuccess);
        assert_eq!(done.recv(), Ok(()));
    });
}

/// HF-HIP-37
#[test]
fn a_child_gets_errors_and_ends() {
    passes_in_process("a_child_gets_errors_and_ends", &[], || {
        let (busy, event) = (stream(hipStreamNonBlocking), event(hipEventDefault));
        let own = ptr::without_provenance_mut(2);
        for stream in [busy, own, DEFAULT] {
            pause(stream);
            launch(stream, || ());
        }
        assert_eq!(hipEventRecord(event, busy), hipSuccess);
        // SAFETY: requires that the child does nothing that needs other threads; holds.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let mut other = ptr::null_mut();
            // SAFETY: requires a writable place; holds, it is a local.
            let created = unsafe { hipStreamCreate(&mut other) };
            let answers = [
                created,
                hipStreamSynchronize(busy),
                hipStreamSynchronize(own),
                hipStreamQuery(DEFAULT),
                hipStreamDestroy(busy),
                hipDeviceSynchronize(),
                hipEventSynchronize(event),
                hipEventDestroy(event),
                softrocm_stream_resume(busy),
            ];
            let all = answers.iter().all(|answer| *answer == hipErrorNotInitialized);
            // With the exit handlers, among them those of the thread's own streams.
            std::process::exit(if all { 0 } else { 1 });
        }
        let mut status = 0;
        // SAFETY: requires a writable place; holds, it is a local.
        assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
        assert_eq!(status, 0);
        [busy, own, DEFAULT].into_iter().for_each(resume);
        assert_eq!(hipDeviceSynchronize(), hipSuccess);
    });
}

/// HF-HIP-37
#[test]
fn a_process_ends_with_work_outstanding() {
    passes_in_process("a_process_ends_with_work_outstanding", &[], || {
        let pinned = pinned_memory(8, 0);
        let streams = [stream(hipStreamNonBlocking), stream(hipStreamDefault), DEFAULT];
        streams.into_iter().for_each(|stream| launch(stream, || ()));
        // SAFETY: requires memory that lives; holds.
        let waits = unsafe { hipStreamWaitValue64(streams[0], pinned, 1, hipStreamWaitValueEq, !0) };
        assert_eq!(waits, hipSuccess);
        pause(streams[1]);
        for stream in streams {
            launch(stream, || unreachable!());
            launch_concurrent(stream, || unreachable!());
        }
        launch_concurrent(stream(hipStreamNonBlocking), || thread::sleep(std::time::Duration::from_secs(60)));
        assert_eq!(hipStreamDestroy(streams[0]), hipSuccess);
    });
}

#[test]
fn many_streams_and_operations_are_no_burden() {
    passes_in_process("many_streams_and_operations_are_no_burden", &[], || {
        let threads = || std::fs::read_dir("/proc/self/task").unwrap().count();
        let before = threads();
        let unused: Vec<_> = (0..10_000).map(|_| stream(hipStreamNonBlocking)).collect();
        assert_eq!(threads(), before, "a stream without work has no thread");
        unused.into_iter().for_each(|stream| assert_eq!(hipStreamDestroy(stream), hipSuccess));
        let done = AtomicU32::new(0);
        for _ in 0..200 {
            let stream = stream(hipStreamNonBlocking);
            for _ in 0..500 {
                launch(stream, || {
                    done.fetch_add(1, Ordering::Relaxed);
                });
            }
            assert_eq!(hipStreamDestroy(stream), hipSuccess);
        }
        assert_eq!(hipDeviceSynchronize(), hipSuccess);
        assert_eq!(done.load(Ordering::SeqCst), 100_000);
        while threads() > before {
            thread::yield_now();
        }
    });
}
