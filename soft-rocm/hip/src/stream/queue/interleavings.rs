//! Every test runs under many schedules; a thread that is never woken is a failure.

use shuttle::sync::atomic::AtomicUsize;
use shuttle::thread;

use super::*;

const SCHEDULES: usize = 1000;

/// Carries out a queue on the calling thread until it is closed; groups run on threads of their own.
fn work(queue: &Arc<Queue<u32>>, log: &Arc<Mutex<Vec<u32>>>) {
    let mut group = Vec::new();
    while let Some(taken) = queue.take() {
        let queue = Arc::clone(queue);
        let log = Arc::clone(log);
        let concurrent = taken.concurrent;
        let run = move || {
            let Taken { work, number, concurrent } = taken;
            let mut share = vec![work];
            let mut numbers = number..number + 1;
            while !numbers.is_empty() {
                log.lock().unwrap().append(&mut share);
                if !concurrent {
                    return queue.finish(numbers);
                }
                numbers = queue.finish_and_take(numbers, &mut share);
            }
        };
        if concurrent { group.push(thread::spawn(run)) } else { run() }
    }
    group.into_iter().for_each(|thread| thread.join().unwrap());
}

fn start(queue: &Arc<Queue<u32>>, log: &Arc<Mutex<Vec<u32>>>) -> thread::JoinHandle<()> {
    let (queue, log) = (Arc::clone(queue), Arc::clone(log));
    thread::spawn(move || work(&queue, &log))
}

fn check(test: impl Fn() + Send + Sync + 'static) {
    shuttle::check_random(test, SCHEDULES);
}

#[test]
fn waiters_see_everything_before_their_entry_done() {
    check(|| {
        let queue = Arc::new(Queue::new(false));
        let log = Arc::default();
        let worker = start(&queue, &log);
        queue.push(1, false, Vec::new()).unwrap();
        let number = queue.push(2, false, Vec::new()).unwrap();
        let other = {
            let (queue, log) = (Arc::clone(&queue), Arc::clone(&log));
            thread::spawn(move || {
                queue.wait(1);
                assert_eq!(log.lock().unwrap().first(), Some(&1));
            })
        };
        queue.wait(number);
        assert_eq!(*log.lock().unwrap(), [1, 2]);
        queue.close();
        worker.join().unwrap();
        other.join().unwrap();
    });
}

#[test]
fn groups_are_barriers() {
    check(|| {
        let queue = Arc::new(Queue::new(false));
        let log = Arc::default();
        let worker = start(&queue, &log);
        for (work, concurrent) in [(0, false), (1, true), (2, true), (3, false), (4, true)] {
            queue.push(work, concurrent, Vec::new()).unwrap();
        }
        queue.wait(5);
        queue.close();
        worker.join().unwrap();
        let order = log.lock().unwrap().clone();
        assert!(order == [0, 1, 2, 3, 4] || order == [0, 2, 1, 3, 4], "{order:?}");
    });
}

#[test]
fn a_pause_holds_what_has_not_started_and_a_resume_loses_nothing() {
    check(|| {
        let queue = Arc::new(Queue::new(false));
        let log = Arc::default();
        let worker = start(&queue, &log);
        queue.set_paused(true);
        queue.push(1, false, Vec::new()).unwrap();
        let resumed = Arc::new(AtomicUsize::new(0));
        let other = {
            let (queue, resumed) = (Arc::clone(&queue), Arc::clone(&resumed));
            thread::spawn(move || {
                resumed.store(1, Ordering::SeqCst);
                queue.set_paused(false);
            })
        };
        queue.wait(1);
        assert_eq!(resumed.load(Ordering::SeqCst), 1);
        queue.close();
        worker.join().unwrap();
        other.join().unwrap();
    });
}

#[test]
fn a_queue_closed_early_still_does_its_work_and_the_worker_ends() {
    check(|| {
        let queue = Arc::new(Queue::new(true));
        let log = Arc::default();
        let worker = start(&queue, &log);
        queue.push(1, false, Vec::new()).unwrap();
        queue.push(2, true, Vec::new()).unwrap();
        let other = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || queue.push(3, false, Vec::new()).is_ok())
        };
        queue.close();
        worker.join().unwrap();
        let expected: &[u32] = if other.join().unwrap() { &[1, 2, 3] } else { &[1, 2] };
        assert_eq!(*log.lock().unwrap(), expected);
    });
}

#[test]
fn lazy_queues_that_wait_for_each_other_run_as_far_as_needed() {
    check(|| {
        let (first, second) = (Arc::new(Queue::new(true)), Arc::new(Queue::new(true)));
        let log = Arc::default();
        let workers = [start(&first, &log), start(&second, &log)];
        let one = first.push(1, false, Vec::new()).unwrap();
        let two = second.push(2, false, vec![Point::new(Arc::clone(&first), one)]).unwrap();
        let three = first.push(3, false, vec![Point::new(Arc::clone(&second), two)]).unwrap();
        second.push(4, false, Vec::new()).unwrap();
        first.wait(three);
        assert_eq!(*log.lock().unwrap(), [1, 2, 3]);
        first.close();
        second.close();
        workers.into_iter().for_each(|worker| worker.join().unwrap());
        assert_eq!(*log.lock().unwrap(), [1, 2, 3, 4]);
    });
}

#[test]
fn two_who_submit_and_one_worker_lose_nothing() {
    check(|| {
        let queue = Arc::new(Queue::new(false));
        let log: Arc<Mutex<Vec<u32>>> = Arc::default();
        let worker = start(&queue, &log);
        let submit = |work| {
            let queue = Arc::clone(&queue);
            thread::spawn(move || {
                queue.push(work, false, Vec::new()).unwrap();
                let number = queue.push(work + 1, work == 10, Vec::new()).unwrap();
                queue.wait(number);
            })
        };
        let threads = [submit(10), submit(20)];
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        queue.close();
        worker.join().unwrap();
        let order = log.lock().unwrap().clone();
        let of = |tens| order.iter().copied().filter(|work| work / 10 == tens).collect::<Vec<_>>();
        assert_eq!((of(1), of(2), order.len()), (vec![10, 11], vec![20, 21], 4));
    });
}

#[test]
fn shares_lose_nothing_and_what_follows_them_waits_for_all() {
    check(|| {
        let queue = Arc::new(Queue::new(false));
        let log = Arc::default();
        let worker = start(&queue, &log);
        // Enough that a share has several.
        let last = 5 * width() as u32;
        for work in 1..=last {
            queue.push(work, work != last, Vec::new()).unwrap();
        }
        let after = queue.push(last + 1, true, Vec::new()).unwrap();
        queue.wait(after);
        queue.close();
        worker.join().unwrap();
        let mut order = log.lock().unwrap().clone();
        assert_eq!(order[order.len() - 2..], [last, last + 1]);
        order.sort_unstable();
        assert_eq!(order, (1..=last + 1).collect::<Vec<_>>());
    });
}

#[test]
fn an_entry_that_waits_for_a_point_is_not_started_by_who_finishes_beside_it() {
    check(|| {
        let (queue, other) = (Arc::new(Queue::new(false)), Arc::new(Queue::new(false)));
        let log = Arc::default();
        let workers = [start(&queue, &log), start(&other, &log)];
        let first = other.push(1, false, Vec::new()).unwrap();
        queue.push(2, true, Vec::new()).unwrap();
        let last = queue.push(3, true, vec![Point::new(Arc::clone(&other), first)]).unwrap();
        queue.wait(last);
        queue.close();
        other.close();
        workers.into_iter().for_each(|worker| worker.join().unwrap());
        let order = log.lock().unwrap().clone();
        let place = |work| order.iter().position(|other| *other == work);
        assert!(place(1) < place(3), "{order:?}");
    });
}
