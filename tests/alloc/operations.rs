//! SND-01, SND-09, SND-17: operations as futures, and the threads behind them, on streams that are held, late or lost.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;
use std::{fs, mem};

use hip_alloc::{CopyError, DeviceBuffer, ErrorKind, Leaked, Operation, Stream, StreamOptions, leaked};
use hipfile_tests::isolate::LEAKS;
use hipfile_tests::soft;

use crate::{free_memory, until};

const LEN: usize = 1 << 16;
/// After which something is taken to never happen.
const PATIENCE: Duration = Duration::from_secs(60);

type Fill = Operation<Result<DeviceBuffer, CopyError<DeviceBuffer>>>;

struct Tell(Sender<()>);

impl Wake for Tell {
    fn wake(self: Arc<Self>) {
        self.0.send(()).unwrap();
    }
}

fn telling() -> (Waker, Receiver<()>) {
    let (sender, woken) = channel();
    (Waker::from(Arc::new(Tell(sender))), woken)
}

fn poll(fill: &mut Fill, waker: &Waker) -> Poll<Result<DeviceBuffer, CopyError<DeviceBuffer>>> {
    pin!(fill).poll(&mut Context::from_waker(waker))
}

/// Not ordered with the default stream.
fn stream() -> Stream {
    StreamOptions::new().non_blocking(true).create().unwrap()
}

fn fill(stream: &Stream, byte: u8) -> Fill {
    stream.fill(DeviceBuffer::zeroed(LEN).unwrap(), .., byte)
}

fn must_be(buffer: DeviceBuffer, byte: u8) {
    assert_eq!(buffer.to_vec().unwrap(), [byte; LEN]);
}

#[test]
fn a_future_starts_a_stream_that_starts_late() {
    let test = "operations::a_future_starts_a_stream_that_starts_late";
    soft::only(test, &[("SOFT_ROCM_STREAMS", "lazy")], || {
        let stream = stream();
        let (mut operation, (waker, woken)) = (fill(&stream, 1), telling());
        let buffer = match poll(&mut operation, &waker) {
            Poll::Ready(result) => result,
            Poll::Pending => {
                woken.recv_timeout(PATIENCE).unwrap();
                let Poll::Ready(result) = poll(&mut operation, &waker) else { panic!("woken too early") };
                result
            }
        };
        must_be(buffer.unwrap(), 1);
        // Nobody asks for this one but the completion thread.
        let buffer = DeviceBuffer::zeroed(LEN).unwrap();
        let free = free_memory();
        drop(stream.fill(buffer, .., 2));
        until(|| free_memory() >= free + LEN);
    });
}

#[test]
fn events_stand_in_for_host_functions() {
    let test = "operations::events_stand_in_for_host_functions";
    soft::only(test, &[("SOFT_ROCM_FAULTS", "hipLaunchHostFunc:hip=801")], || {
        let stream = stream();
        let prepared: [_; 3] = std::array::from_fn(|_| DeviceBuffer::zeroed(LEN).unwrap());
        let held = soft::pause(stream.as_raw());
        let [waited, mut polled, dropped] = prepared.map(|buffer| stream.fill(buffer, .., 3));
        let (waker, woken) = telling();
        assert!(poll(&mut polled, &waker).is_pending());
        drop(dropped);
        assert_eq!(woken.try_recv(), Err(TryRecvError::Empty));
        assert!(!waited.is_finished());
        drop(held);
        must_be(waited.wait().unwrap(), 3);
        woken.recv_timeout(PATIENCE).unwrap();
        let Poll::Ready(result) = poll(&mut polled, &waker) else { panic!("woken too early") };
        must_be(result.unwrap(), 3);
        assert_eq!(leaked(), Leaked::default());
    });
}

#[test]
fn without_events_too_an_operation_is_done_when_it_returns() {
    let faults = "hipLaunchHostFunc:hip=801;hipEventRecord:hip=2";
    let test = "operations::without_events_too_an_operation_is_done_when_it_returns";
    soft::only(test, &[("SOFT_ROCM_FAULTS", faults)], || {
        let operation = fill(&stream(), 4);
        assert!(operation.is_finished());
        must_be(operation.wait().unwrap(), 4);
    });
}

#[test]
fn a_synchronisation_that_fails_leaks_and_counts() {
    let test = "operations::a_synchronisation_that_fails_leaks_and_counts";
    soft::only(test, &[LEAKS], || {
        let (stream, buffer) = (stream(), DeviceBuffer::zeroed(LEN).unwrap());
        let free = free_memory();
        soft::plan_hip("hipLaunchHostFunc:hip=801;hipEventRecord:hip=2;hipStreamSynchronize:hip=719");
        let failed = stream.fill(buffer, .., 5).wait().unwrap_err();
        soft::plan_hip("");
        assert!(failed.inputs().is_none());
        assert_eq!(failed.error().kind(), ErrorKind::Hip);
        stream.synchronize().unwrap();
        assert_eq!(free_memory(), free, "it stays allocated");
        assert_eq!((leaked().allocations, leaked().bytes), (1, LEN as u64));
    });
}

#[test]
fn futures_of_a_lost_device_end() {
    soft::only("operations::futures_of_a_lost_device_end", &[LEAKS], || {
        let stream = stream();
        let prepared: [_; 2] = std::array::from_fn(|_| DeviceBuffer::zeroed(LEN).unwrap());
        let held = soft::pause(stream.as_raw());
        let [mut polled, dropped] = prepared.map(|buffer| stream.fill(buffer, .., 6));
        let (waker, woken) = telling();
        assert!(poll(&mut polled, &waker).is_pending());
        drop(dropped);
        soft::plan_hip("hipStreamQuery:hip=719");
        woken.recv_timeout(PATIENCE).unwrap();
        let Poll::Ready(Err(failed)) = poll(&mut polled, &waker) else { panic!("it is lost") };
        assert_eq!((failed.error().kind(), failed.inputs().is_none()), (ErrorKind::Hip, true));
        until(|| leaked().allocations == 2);
        assert_eq!(leaked().bytes, 2 * LEN as u64);
        drop(held);
    });
}

/// HIP waits for all streams when it frees memory.
#[test]
fn freeing_what_was_abandoned_lets_no_future_wait() {
    soft::only("operations::freeing_what_was_abandoned_lets_no_future_wait", &[], || {
        let (first, second, third) = (stream(), stream(), stream());
        let abandoned = DeviceBuffer::zeroed(LEN).unwrap();
        let prepared: [_; 2] = std::array::from_fn(|_| DeviceBuffer::zeroed(LEN).unwrap());
        // Until this one goes on nothing can be freed.
        let blocking = soft::pause(first.as_raw());
        let blocked = first.fill(DeviceBuffer::new(LEN).unwrap(), .., 7);
        drop(second.fill(abandoned, .., 7));
        for buffer in prepared {
            let held = soft::pause(third.as_raw());
            let mut operation = third.fill(buffer, .., 7);
            let (waker, woken) = telling();
            assert!(poll(&mut operation, &waker).is_pending());
            drop(held);
            woken.recv_timeout(PATIENCE).unwrap();
            mem::forget(operation);
        }
        drop(blocking);
        must_be(blocked.wait().unwrap(), 7);
    });
}

/// The signals that each thread of this process blocks that is called `name`.
fn blocked_by(name: &str) -> Vec<u64> {
    let tasks = fs::read_dir("/proc/self/task").unwrap().map(|task| task.unwrap().path());
    let named = tasks.filter(|task| fs::read_to_string(task.join("comm")).unwrap().trim() == name);
    named
        .map(|task| {
            let status = fs::read_to_string(task.join("status")).unwrap();
            let blocked = status.lines().find_map(|line| line.strip_prefix("SigBlk:")).unwrap();
            u64::from_str_radix(blocked.trim(), 16).unwrap()
        })
        .collect()
}

#[test]
fn there_is_one_thread_of_each_kind_and_it_handles_no_signals_but_faults() {
    let test = "operations::there_is_one_thread_of_each_kind_and_it_handles_no_signals_but_faults";
    soft::only(test, &[], || {
        let stream = stream();
        assert!(blocked_by("hip-completion").is_empty());
        for _ in 0..20 {
            drop(fill(&stream, 8));
        }
        must_be(fill(&stream, 8).wait().unwrap(), 8);
        let blocks = |mask: u64, signal| mask >> (signal - 1) & 1 == 1;
        for name in ["hip-completion", "hip-discard"] {
            // A new thread has the name of the one that made it, and all signals blocked, until it has begun.
            until(|| match blocked_by(name)[..] {
                [mask] => {
                    blocks(mask, libc::SIGTERM) && blocks(mask, libc::SIGUSR1) && !blocks(mask, libc::SIGSEGV)
                }
                _ => false,
            });
        }
    });
}

#[test]
fn without_a_thread_nothing_is_enqueued_and_the_memory_comes_back() {
    let test = "operations::without_a_thread_nothing_is_enqueued_and_the_memory_comes_back";
    // No thread with a stack of this size can be had.
    soft::only(test, &[("RUST_MIN_STACK", "140737488355328")], || {
        let failed = fill(&stream(), 9).wait().unwrap_err();
        assert_eq!(failed.error().kind(), ErrorKind::NoThread);
        let text = failed.error().to_string();
        let start = "Operation::start: the thread hip-completion could not be started: ";
        assert!(text.starts_with(start), "{text}");
        must_be(failed.into_parts().1.unwrap(), 0);
    });
}

#[test]
fn a_process_ends_with_operations_in_flight() {
    soft::only("operations::a_process_ends_with_operations_in_flight", &[LEAKS], || {
        let stream = stream();
        let prepared: [_; 3] = std::array::from_fn(|_| DeviceBuffer::zeroed(LEN).unwrap());
        mem::forget(soft::pause(stream.as_raw()));
        let [mut polled, dropped, forgotten] = prepared.map(|buffer| stream.fill(buffer, .., 10));
        assert!(poll(&mut polled, Waker::noop()).is_pending());
        drop((polled, dropped));
        mem::forget(forgotten);
    });
}
