use std::mem;
use std::sync::Arc;
use std::sync::mpsc;
use std::thread;

use super::*;

/// Takes everything there is; the queue is closed.
fn drain(queue: &Queue<u32>) -> Vec<u32> {
    let mut done = Vec::new();
    while let Some(taken) = queue.take() {
        done.push(taken.work);
        queue.finish(taken.number..taken.number + 1);
    }
    done
}

#[test]
fn entries_are_taken_in_order_and_numbered_from_one() {
    let queue = Queue::new(false);
    assert_eq!([7, 8, 9].map(|work| queue.push(work, false, Vec::new())), [Ok(1), Ok(2), Ok(3)]);
    assert_eq!((queue.submitted(), queue.is_completed(0), queue.is_completed(1)), (3, true, false));
    let first = queue.take().unwrap();
    assert_eq!((first.work, first.number, first.concurrent), (7, 1, false));
    assert!(!queue.is_completed(1));
    queue.finish(1..2);
    assert!(queue.is_completed(1) && !queue.is_completed(2));
    queue.close();
    assert_eq!(drain(&queue), [8, 9]);
    assert!(queue.is_completed(3));
}

#[test]
fn a_closed_queue_does_what_it_has_and_takes_nothing_more() {
    let queue = Queue::new(true);
    queue.set_paused(true);
    queue.push(1, false, Vec::new()).unwrap();
    queue.close();
    assert_eq!(queue.push(2, false, Vec::new()), Err(Closed));
    queue.set_paused(true);
    assert_eq!(drain(&queue), [1]);
}

#[test]
fn a_group_completes_in_order_of_submission_whatever_the_order_of_its_ends() {
    let queue = Queue::new(false);
    for work in 1..=3 {
        queue.push(work, true, Vec::new()).unwrap();
    }
    let numbers: Vec<u64> = (0..3).map(|_| queue.take().unwrap().number).collect();
    assert_eq!(numbers, [1, 2, 3]);
    queue.finish(2..3);
    assert!(!queue.is_completed(1));
    queue.finish(1..2);
    assert!(queue.is_completed(2) && !queue.is_completed(3));
    queue.finish(3..4);
    assert!(queue.is_completed(3));
}

#[test]
fn an_entry_after_a_group_waits_for_all_of_it() {
    let queue = Arc::new(Queue::new(false));
    queue.push(1, true, Vec::new()).unwrap();
    queue.push(2, true, Vec::new()).unwrap();
    queue.push(3, false, Vec::new()).unwrap();
    queue.push(4, true, Vec::new()).unwrap();
    assert_eq!([queue.take().unwrap().work, queue.take().unwrap().work], [1, 2]);
    let (sender, taken) = mpsc::channel();
    let worker = thread::spawn({
        let queue = Arc::clone(&queue);
        move || sender.send(queue.take().unwrap().work).unwrap()
    });
    queue.finish(2..3);
    assert!(!queue.lock().is_startable());
    assert!(taken.try_recv().is_err());
    queue.finish(1..2);
    assert_eq!(taken.recv().unwrap(), 3);
    worker.join().unwrap();
    queue.finish(3..4);
    assert_eq!(queue.take().unwrap().work, 4);
}

#[test]
fn a_paused_queue_starts_nothing() {
    let queue = Queue::new(false);
    queue.set_paused(true);
    queue.push(1, false, Vec::new()).unwrap();
    assert!(!queue.lock().is_startable());
    queue.set_paused(false);
    assert!(queue.lock().is_startable());
}

#[test]
fn a_lazy_queue_starts_what_is_waited_for() {
    let queue = Arc::new(Queue::new(true));
    for work in 1..=3 {
        queue.push(work, false, Vec::new()).unwrap();
    }
    assert!(!queue.lock().is_startable());
    assert!(!Point::new(Arc::clone(&queue), 2).poll());
    assert_eq!(queue.take().unwrap().work, 1);
    queue.finish(1..2);
    assert_eq!(queue.take().unwrap().work, 2);
    queue.finish(2..3);
    assert!(!queue.lock().is_startable());
    queue.release(1);
    assert!(!queue.lock().is_startable());
    queue.release(3);
    assert!(queue.lock().is_startable());
}

#[test]
fn an_entry_starts_after_points_of_other_queues_and_lazy_ones_are_started() {
    let first = Arc::new(Queue::new(true));
    let second = Queue::new(true);
    let number = first.push(1, false, Vec::new()).unwrap();
    second.push(2, false, vec![Point::new(Arc::clone(&first), number)]).unwrap();
    second.release(1);
    let worker = thread::spawn({
        let first = Arc::clone(&first);
        move || {
            let taken = first.take().unwrap();
            first.finish(taken.number..taken.number + 1);
        }
    });
    assert_eq!(second.take().unwrap().work, 2);
    assert!(first.is_completed(1));
    worker.join().unwrap();
}

#[test]
fn points_know_their_queue_and_idle_queues_have_no_last_one() {
    let queue = Arc::new(Queue::new(false));
    let other = Arc::new(Queue::new(false));
    assert!(Point::last(&queue).is_none());
    queue.push((), false, Vec::new()).unwrap();
    let point = Point::last(&queue).unwrap();
    assert!(point.clone().is_of(&queue) && !point.is_of(&other));
    assert!(!point.poll());
    queue.take().unwrap();
    queue.finish(1..2);
    assert!(point.poll());
    point.wait();
    assert!(Point::last(&queue).is_none());
}

#[test]
fn who_finishes_a_concurrent_entry_takes_the_next_one() {
    let queue = Queue::new(false);
    for (work, concurrent) in [(1, true), (2, true), (3, true), (4, false), (5, true)] {
        queue.push(work, concurrent, Vec::new()).unwrap();
    }
    assert_eq!([queue.take().unwrap().work, queue.take().unwrap().work], [1, 2]);
    let mut share = Vec::new();
    queue.set_paused(true);
    assert!(queue.finish_and_take(2..3, &mut share).is_empty(), "paused");
    queue.set_paused(false);
    // The thread that carried out the second entry has left; the worker would take the third one.
    assert_eq!(queue.finish_and_take(1..2, &mut share), 3..4);
    assert_eq!(mem::take(&mut share), [3]);
    assert!(queue.finish_and_take(3..4, &mut share).is_empty(), "the next one is the worker's");
    assert!(queue.is_completed(3));
    assert_eq!(queue.take().unwrap().work, 4);
    queue.finish(4..5);
    assert_eq!(queue.take().unwrap().work, 5);
    let waits_for = Point::new(Arc::new(Queue::new(false)), 1);
    queue.push(6, true, vec![waits_for]).unwrap();
    assert!(queue.finish_and_take(5..6, &mut share).is_empty(), "waiting is the worker's");
    assert!(share.is_empty());
}

/// Appends so many concurrent entries and takes the first of the queue.
fn group(queue: Queue<u64>, count: u64) -> Queue<u64> {
    for work in 1..=count {
        assert!(queue.push(work, true, Vec::new()).is_ok(), "closed");
    }
    assert_eq!(queue.take().map(|taken| taken.number), Some(1));
    queue
}

#[test]
fn a_share_is_greater_where_more_wait_and_counts_as_one_of_those_at_once() {
    let widths = 2 * width() as u64;
    let queue = group(Queue::new(false), 1 + 3 * widths);
    let mut share = Vec::new();
    assert_eq!(queue.finish_and_take(1..2, &mut share), 2..5);
    assert_eq!(mem::take(&mut share), [2, 3, 4]);
    assert_eq!(queue.lock().active, 1);
    assert_eq!(queue.take().unwrap().number, 5);
    assert_eq!(queue.lock().active, 2);
    queue.finish(5..6);
    assert!(!queue.is_completed(2));
    let next = queue.finish_and_take(2..5, &mut share);
    assert!(queue.is_completed(5));
    assert_eq!((next, share), (6..8, vec![6, 7]));
    let queue = group(Queue::new(false), 1 + 100 * widths);
    assert_eq!(queue.finish_and_take(1..2, &mut Vec::new()), 2..2 + SHARE as u64);
}

#[test]
fn a_share_ends_where_the_next_entry_is_the_workers_or_not_released() {
    let many = 20 * width() as u64;
    let queue = Queue::new(true);
    queue.release(1);
    let queue = group(queue, many);
    queue.release(3);
    let mut share = Vec::new();
    assert_eq!(queue.finish_and_take(1..2, &mut share), 2..4);
    share.clear();
    assert!(queue.finish_and_take(2..4, &mut share).is_empty(), "not released");

    let waits_for = Point::new(Arc::new(Queue::new(false)), 1);
    for (concurrent, after) in [(false, vec![]), (true, vec![waits_for])] {
        let queue = Queue::new(false);
        queue.push(1, true, Vec::new()).unwrap();
        queue.push(2, true, Vec::new()).unwrap();
        queue.push(3, concurrent, after).unwrap();
        let queue = group(queue, many);
        assert_eq!(queue.finish_and_take(1..2, &mut Vec::new()), 2..3);
    }
}

#[test]
fn an_entry_whose_points_the_worker_waits_for_is_nobody_elses() {
    let queue = Arc::new(Queue::new(false));
    let other = Arc::new(Queue::new(true));
    other.push(0, false, Vec::new()).unwrap();
    queue.push(1, true, Vec::new()).unwrap();
    queue.push(2, true, vec![Point::new(Arc::clone(&other), 1)]).unwrap();
    assert_eq!(queue.take().unwrap().work, 1);
    let worker = thread::spawn({
        let queue = Arc::clone(&queue);
        move || queue.take().unwrap().work
    });
    // The worker's wait releases it.
    assert_eq!(other.take().unwrap().number, 1);
    let mut share = Vec::new();
    assert!(queue.finish_and_take(1..2, &mut share).is_empty());
    other.finish(1..2);
    assert_eq!(worker.join().unwrap(), 2);
}

#[test]
fn who_looks_once_more_is_not_joined_by_the_worker() {
    let queue = Queue::new(false);
    {
        let mut state = queue.lock();
        (state.parked, state.looking) = (true, 1);
    }
    queue.push(1, true, Vec::new()).unwrap();
    assert!(queue.lock().parked);
    queue.push(2, false, Vec::new()).unwrap();
    assert!(queue.lock().parked);
    assert_eq!(queue.take().unwrap().number, 1);
    queue.lock().parked = true;
    queue.finish(1..2);
    assert!(!queue.lock().parked, "the next one is the worker's");
}

#[test]
fn the_worker_leaves_room_when_enough_run_at_once() {
    let queue = Queue::new(false);
    let many = width() as u64;
    for work in 0..=many {
        queue.push(work, true, Vec::new()).unwrap();
    }
    for number in 1..=many {
        assert_eq!(queue.take().unwrap().number, number);
    }
    assert!(!queue.lock().is_startable());
    queue.finish(3..4);
    assert_eq!(queue.take().unwrap().number, many + 1);
}

#[test]
fn those_who_wait_for_more_are_not_forgotten() {
    let queue = Arc::new(Queue::new(false));
    for work in 0..3 {
        queue.push(work, false, Vec::new()).unwrap();
    }
    let waiters: Vec<_> = [3, 1, 2, 3]
        .into_iter()
        .map(|number| {
            let queue = Arc::clone(&queue);
            thread::spawn(move || queue.wait(number))
        })
        .collect();
    for _ in 0..3 {
        let taken = queue.take().unwrap();
        queue.finish(taken.number..taken.number + 1);
    }
    waiters.into_iter().for_each(|waiter| waiter.join().unwrap());
}

#[test]
fn nobody_takes_a_concurrent_entry_beside_one_that_is_not() {
    let queue = Queue::new(false);
    queue.push(1, false, Vec::new()).unwrap();
    queue.push(2, true, Vec::new()).unwrap();
    queue.take().unwrap();
    assert!(queue.lock().start_share(&mut Vec::new()).is_empty());
    queue.finish(1..2);
    assert_eq!(queue.lock().start_share(&mut Vec::new()), 2..3);
}

#[test]
fn an_entry_that_nothing_can_run_beside_is_left_to_the_worker() {
    let queue = Queue::new(false);
    let entries = [(1, false), (2, true), (3, false), (4, true), (5, true), (6, false), (7, true)];
    for (work, concurrent) in entries {
        queue.push(work, concurrent, Vec::new()).unwrap();
    }
    let take = || {
        let taken = queue.take().unwrap();
        (taken.work, taken.concurrent)
    };
    for (work, concurrent) in [(1, false), (2, false), (3, false)] {
        assert_eq!(take(), (work, concurrent));
        queue.finish(work..work + 1);
    }
    assert_eq!([take(), take()], [(4, true), (5, true)]);
    queue.finish(4..5);
    queue.finish(5..6);
    assert_eq!(take(), (6, false));
    queue.finish(6..7);
    assert_eq!(take(), (7, true), "more may come");
}
