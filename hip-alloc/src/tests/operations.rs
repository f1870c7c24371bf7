//! SND-01, SND-09: what comes out of operations when HIP does as it is asked, and when it does not.

use core::time::Duration;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, TryRecvError};
use std::thread;
use std::time::Instant;

use super::fake_handles::{LOST, call_refused, lose, release, streams_and_events};
use super::probe::{LEAK, Probe, begin, held, probe};
use crate::tests::fake;
use crate::{Device, ErrorKind, HipError, InFlight, Leaked, Started, Stream, leaked, start};

fn since(before: Leaked) -> (u64, u64) {
    let now = leaked();
    (now.allocations - before.allocations, now.bytes - before.bytes)
}

#[test]
fn an_operation_that_has_ended_gives_its_result_without_another_call() {
    fake::install();
    let stream = Stream::new().unwrap();
    fake::calls();
    let (operation, dropped) = begin(&stream, None);
    assert_eq!(fake::calls(), ["hipGetDevice", "hipLaunchHostFunc"]);
    assert!(operation.is_finished());
    let probe = operation.wait().unwrap();
    assert_eq!(dropped.try_recv(), Err(TryRecvError::Empty));
    drop(probe);
    assert!(begin(&stream, None).0.try_wait().unwrap().is_ok());
    assert!(!fake::calls().contains(&"hipStreamQuery"));
}

#[test]
fn the_result_is_there_when_the_stream_has_passed_the_operation_not_before() {
    let stream = held();
    let (operation, dropped) = begin(&stream, None);
    assert!(!operation.is_finished());
    let operation = operation.try_wait().unwrap_err();
    let waiter = thread::spawn(move || operation.wait());
    assert_eq!(dropped.try_recv(), Err(TryRecvError::Empty));
    release(&stream);
    assert!(waiter.join().unwrap().is_ok());
}

#[test]
fn a_stream_of_another_device_is_used_on_its_device() {
    fake::install();
    let stream = {
        let _guard = Device::new(1).unwrap().make_current().unwrap();
        Stream::new().unwrap()
    };
    let (probe, _dropped) = probe();
    let work = |_: &mut Probe| {
        assert_eq!(fake::current_device(), 1);
        Started::Enqueued
    };
    fake::calls();
    // SAFETY: requires that no pointers are used; holds because none are taken.
    let operation = unsafe { start(&stream, probe, None, work) };
    assert_eq!(fake::calls(), ["hipGetDevice", "hipSetDevice", "hipLaunchHostFunc", "hipSetDevice"]);
    assert_eq!(fake::current_device(), 0);
    operation.wait().unwrap();
}

#[test]
fn where_nothing_can_be_enqueued_the_payload_comes_back_with_the_reason() {
    fake::install();
    let stream = Stream::new().unwrap();
    fake::fail("hipGetDevice", 1, 100);
    let (probe, dropped) = probe();
    let in_flight = InFlight::new(1);
    // SAFETY: requires that no pointers are used; holds because none are taken.
    let operation = unsafe { start(&stream, probe, in_flight.try_acquire(), |_| unreachable!()) };
    assert_eq!(operation.wait().err().unwrap().kind(), ErrorKind::NoDevice);
    assert_eq!(in_flight.in_use(), 0);
    // `finish` was told, and dropped it.
    assert!(dropped.recv().is_ok());
}

#[test]
fn what_enqueues_nothing_has_ended() {
    let stream = held();
    fake::calls();
    let (probe, _dropped) = probe();
    // SAFETY: requires that no pointers are used; holds because none are taken.
    let operation = unsafe { start(&stream, probe, None, |_| Started::Nothing) };
    assert!(operation.wait().is_ok());
    assert_eq!(fake::calls(), ["hipGetDevice"]);
}

#[test]
fn without_a_host_function_an_event_tells() {
    let stream = held();
    fake::fail("hipLaunchHostFunc", 1, 801);
    fake::calls();
    let (operation, dropped) = begin(&stream, None);
    let calls = ["hipGetDevice", "hipLaunchHostFunc", "hipGetDevice", "hipEventCreateWithFlags"];
    assert_eq!(fake::calls(), [&calls[..], &["hipGetDevice", "hipEventRecord"]].concat());
    assert_eq!(streams_and_events(), (1, 1));
    let operation = operation.try_wait().unwrap_err();
    assert_eq!(dropped.try_recv(), Err(TryRecvError::Empty));
    release(&stream);
    assert!(operation.wait().is_ok());
    assert_eq!(streams_and_events(), (1, 0));
}

#[test]
fn the_completion_thread_asks_events() {
    let stream = held();
    fake::fail("hipLaunchHostFunc", 1, 801);
    let (operation, dropped) = begin(&stream, None);
    drop(operation);
    assert_eq!(dropped.recv_timeout(Duration::from_millis(20)), Err(RecvTimeoutError::Timeout));
    release(&stream);
    assert_eq!(dropped.recv().unwrap(), "hip-discard");
}

#[test]
fn events_are_asked_however_much_else_there_is_to_do() {
    let stream = held();
    fake::fail("hipLaunchHostFunc", 1, 801);
    let (operation, dropped) = begin(&stream, None);
    drop(operation);
    release(&stream);
    let start = Instant::now();
    while dropped.try_recv().is_err() {
        assert!(start.elapsed() < Duration::from_secs(60), "it never happens");
        drop(begin(&stream, None).0);
    }
}

#[test]
fn without_an_event_the_stream_is_waited_for_at_once() {
    fake::install();
    let stream = Stream::new().unwrap();
    for failing in ["hipEventCreateWithFlags", "hipEventRecord"] {
        fake::fail("hipLaunchHostFunc", 1, 801);
        fake::fail(failing, 1, 2);
        fake::calls();
        let (operation, _dropped) = begin(&stream, None);
        assert_eq!(fake::calls().iter().filter(|call| **call == "hipStreamSynchronize").count(), 1);
        assert!(operation.wait().is_ok());
        assert_eq!(streams_and_events(), (1, 0));
        fake::fail_no_more();
    }
}

#[test]
fn a_failing_synchronisation_leaks_and_counts() {
    let _alone = fake::leaking_alone();
    fake::install();
    let stream = Stream::new().unwrap();
    let before = leaked();
    for take in [true, false] {
        for (failing, code) in
            [("hipLaunchHostFunc", 801), ("hipEventRecord", 2), ("hipStreamSynchronize", LOST)]
        {
            fake::fail(failing, 1, code);
        }
        let (operation, dropped) = begin(&stream, None);
        if take {
            let error = operation.wait().err().unwrap();
            assert_eq!(error.hip_error(), Some(HipError::from(LOST)));
            assert_eq!(
                error.to_string(),
                "Operation::start: hipStreamSynchronize failed: hipErrorUnknown (719): unknown error"
            );
        } else {
            drop(operation);
        }
        fake::fail_no_more();
        assert_eq!(dropped.try_recv(), Err(TryRecvError::Empty), "leaked, not dropped");
    }
    assert_eq!(since(before), (2, 2 * LEAK));
}

#[test]
fn a_waiter_notices_a_lost_device() {
    let _alone = fake::leaking_alone();
    let stream = held();
    let before = leaked();
    let (first, first_dropped) = begin(&stream, None);
    let (second, second_dropped) = begin(&stream, None);
    let waiter = thread::spawn(|| first.wait());
    let operation = second.try_wait().unwrap_err();
    lose(&stream);
    for answer in [waiter.join().unwrap(), operation.wait()] {
        let error = answer.err().unwrap();
        assert_eq!(error.hip_error(), Some(HipError::from(LOST)));
        assert_eq!(error.operation(), "Operation::wait");
    }
    assert_eq!(since(before), (2, 2 * LEAK));
    // Should the stream come to its host functions all the same, nothing changes.
    release(&stream);
    for dropped in [first_dropped, second_dropped] {
        assert_eq!(dropped.try_recv(), Err(TryRecvError::Empty));
    }
    assert_eq!(since(before), (2, 2 * LEAK));
}

#[test]
fn a_host_function_that_hip_calls_after_it_refused_to_finds_what_it_needs() {
    let stream = held();
    fake::fail("hipLaunchHostFunc", 1, LOST);
    let (operation, dropped) = begin(&stream, None);
    let operation = operation.try_wait().unwrap_err();
    release(&stream);
    drop(operation.wait());
    assert!(dropped.recv().is_ok());
    call_refused();
}

#[test]
fn while_a_graph_is_captured_nothing_is_taken_for_lost() {
    let stream = held();
    let (operation, _dropped) = begin(&stream, None);
    fake::fail("hipStreamQuery", 1, 900);
    let operation = operation.try_wait().unwrap_err();
    fake::fail("hipStreamQuery", 1, 906);
    assert!(!operation.is_finished());
    release(&stream);
    assert!(operation.wait().is_ok());
}

#[test]
fn a_panic_while_enqueuing_goes_on_and_the_payload_waits_for_the_stream() {
    let stream = held();
    let (probe, dropped) = probe();
    let panic = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: requires that no pointers are used; holds because none are taken.
        _ = unsafe { start(&stream, probe, None, |_| panic!("as planned")) };
    }));
    assert_eq!(panic.unwrap_err().downcast_ref(), Some(&"as planned"));
    assert_eq!(dropped.try_recv(), Err(TryRecvError::Empty));
    release(&stream);
    assert_eq!(dropped.recv().unwrap(), "hip-discard");
}

#[test]
fn operations_hold_their_stream() {
    let stream = held();
    let (operation, _dropped) = begin(&stream, None);
    let raw = stream.clone();
    drop(stream);
    release(&raw);
    drop(raw);
    assert_eq!(streams_and_events(), (1, 0));
    drop(operation.wait());
    assert_eq!(streams_and_events(), (0, 0));
}

#[test]
fn a_forgotten_operation_is_leaked() {
    let stream = held();
    let (operation, dropped) = begin(&stream, None);
    core::mem::forget(operation);
    release(&stream);
    assert_eq!(dropped.try_recv(), Err(TryRecvError::Empty));
}
