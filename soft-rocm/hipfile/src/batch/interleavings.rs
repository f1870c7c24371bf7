//! Batches and their pool in many orders of their threads. A lost wake-up shows as a deadlock, which fails the test.

use std::io;

use super::pool::Pool;
use super::queue::{Patience, Queue, Work};
use super::state::{Entry, Event, Outcome, Refused};
use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::{Arc, thread};

/// Orders tried by each test.
const ORDERS: usize = 500;

/// Counts how often operations were begun and ended.
#[derive(Clone, Default)]
struct Counts(Arc<[AtomicUsize; 2]>);

impl Counts {
    fn get(&self) -> [usize; 2] {
        [0, 1].map(|place| self.0[place].load(Ordering::SeqCst))
    }
}

struct Job(Counts);

impl Work for Job {
    fn joins(&self, _next: &Self) -> bool {
        shuttle::rand::Rng::r#gen(&mut shuttle::rand::thread_rng())
    }

    fn run(group: &mut Vec<Entry<Self>>, ended: &mut Vec<Event>) {
        for Entry { cookie, work: Job(counts) } in group.drain(..) {
            counts.0[0].fetch_add(1, Ordering::SeqCst);
            thread::yield_now();
            counts.0[1].fetch_add(1, Ordering::SeqCst);
            ended.push(Event { cookie, outcome: Outcome::Complete(0) });
        }
    }
}

#[derive(Clone)]
struct Scene {
    queue: Arc<Queue<Job>>,
    pool: Arc<Pool<Job>>,
    counts: Counts,
}

impl Scene {
    fn new(capacity: usize, threads: usize) -> Self {
        // The pool's threads never end, which shuttle allows of tasks alone.
        let start = |pool: &Arc<Pool<Job>>| {
            let pool = Arc::clone(pool);
            drop(shuttle::future::spawn(async move { pool.work() }));
            Ok(())
        };
        Self {
            queue: Arc::new(Queue::new(capacity)),
            pool: Arc::new(Pool::new(threads, start)),
            counts: Counts::default(),
        }
    }

    fn submit(&self, cookies: std::ops::Range<usize>) -> Result<(), Refused> {
        let entries = cookies.map(|cookie| Entry { cookie, work: Job(self.counts.clone()) }).collect();
        self.queue.submit(entries)?;
        self.pool.add(&self.queue).unwrap();
        Ok(())
    }

    fn wait(&self, need: usize, patience: Patience) -> Vec<Event> {
        let mut events = Vec::new();
        self.queue.wait(&self.pool, need, patience, usize::MAX, |event| events.push(event));
        events
    }

    fn spawn<R: Send + 'static>(
        &self,
        run: impl FnOnce(&Self) -> R + Send + 'static,
    ) -> thread::JoinHandle<R> {
        let scene = self.clone();
        thread::spawn(move || run(&scene))
    }
}

/// A time that never comes, as shuttle knows no clock: who waits for it does not lend a hand.
fn long() -> Patience {
    Patience::from_now(1_000_000, 0).unwrap()
}

fn cookies(events: &[Event]) -> Vec<usize> {
    let mut cookies: Vec<_> = events.iter().map(|event| event.cookie).collect();
    cookies.sort_unstable();
    cookies
}

fn completed(events: &[Event]) -> usize {
    events.iter().filter(|event| event.outcome == Outcome::Complete(0)).count()
}

fn explore(run: impl Fn() + Send + Sync + 'static) {
    let run = Arc::new(run);
    let again = Arc::clone(&run);
    shuttle::check_random(move || run(), ORDERS);
    shuttle::check_pct(move || again(), ORDERS, 4);
}

#[test]
fn each_operation_yields_one_event() {
    for patience in [Patience::Forever, long()] {
        explore(move || {
            let scene = Scene::new(4, 2);
            let other = scene.spawn(move |scene| {
                scene.submit(0..2).unwrap();
                scene.wait(2, patience)
            });
            scene.submit(2..4).unwrap();
            let mut events = scene.wait(2, patience);
            events.extend(other.join().unwrap());
            // One of the two may have gone home with what the other submitted, or before.
            events.extend(scene.wait(4, patience));
            assert_eq!(cookies(&events), [0, 1, 2, 3]);
            assert_eq!(scene.counts.get(), [4, 4]);
        });
    }
}

#[test]
fn waiters_with_different_wants_all_wake() {
    explore(|| {
        let scene = Scene::new(3, 2);
        scene.submit(0..3).unwrap();
        let waiters = [1, 2, 3].map(|need| scene.spawn(move |scene| scene.wait(need, long())));
        let events: Vec<_> = waiters.into_iter().flat_map(|waiter| waiter.join().unwrap()).collect();
        assert_eq!(cookies(&events), [0, 1, 2]);
    });
}

#[test]
fn a_cancel_finds_each_operation_untouched_or_running() {
    explore(|| {
        let scene = Scene::new(3, 2);
        let canceler = scene.spawn(|scene| scene.queue.cancel());
        scene.submit(0..3).unwrap();
        let events = scene.wait(3, long());
        canceler.join().unwrap();
        assert_eq!(cookies(&events), [0, 1, 2]);
        let run = completed(&events);
        assert_eq!(scene.counts.get(), [run, run]);
        // The batch goes on.
        scene.submit(3..4).unwrap();
        assert_eq!(completed(&scene.wait(1, long())), 1);
    });
}

#[test]
fn nothing_runs_once_a_destroy_is_over() {
    explore(|| {
        let scene = Scene::new(4, 2);
        let submitter = scene.spawn(|scene| [scene.submit(0..2), scene.submit(2..4)]);
        scene.queue.retire();
        scene.queue.quiesce();
        let [begun, ended] = scene.counts.get();
        assert_eq!(begun, ended);
        let answers = submitter.join().unwrap();
        assert_ne!(answers, [Err(Refused::Retired), Ok(())]);
        let accepted = answers.iter().filter(|answer| answer.is_ok()).count() * 2;
        let events = scene.wait(4, Patience::Forever);
        assert_eq!(events.len(), accepted);
        assert_eq!(completed(&events), begun);
        assert_eq!(scene.counts.get(), [begun, ended]);
    });
}

#[test]
fn a_close_sends_waiters_home() {
    for patience in [Patience::Forever, long()] {
        explore(move || {
            let scenes = [Scene::new(2, 1), Scene::new(2, 1)];
            let waiters = scenes.clone().map(|scene| {
                scene.spawn(move |scene| {
                    scene.submit(0..2).map(|()| scene.wait(2, patience)).unwrap_or_default()
                })
            });
            scenes.iter().for_each(|scene| scene.queue.retire());
            scenes.iter().for_each(|scene| scene.queue.quiesce());
            let counts = scenes.each_ref().map(|scene| scene.counts.get());
            let events = waiters.map(|waiter| waiter.join().unwrap());
            for ((scene, [begun, ended]), mut events) in scenes.into_iter().zip(counts).zip(events) {
                assert_eq!(begun, ended);
                events.extend(scene.wait(0, Patience::None));
                assert_eq!(completed(&events), begun);
                assert!(events.is_empty() || cookies(&events) == [0, 1]);
            }
        });
    }
}

#[test]
fn submitters_never_exceed_the_capacity() {
    explore(|| {
        let scene = Scene::new(3, 1);
        let submitters = [0, 2, 4].map(|first| scene.spawn(move |scene| scene.submit(first..first + 2)));
        let answers = submitters.map(|submitter| submitter.join().unwrap());
        assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1);
        assert!(answers.iter().all(|answer| answer.is_ok() || *answer == Err(Refused::Full)));
        assert_eq!(scene.wait(3, long()).len(), 2);
        assert_eq!(scene.submit(6..9), Ok(()));
        assert_eq!(scene.wait(3, Patience::Forever).len(), 3);
    });
}

#[test]
fn batches_share_one_thread() {
    explore(|| {
        let scene = Scene::new(2, 1);
        let other = Scene { queue: Arc::new(Queue::new(2)), ..scene.clone() };
        let waiter = other.spawn(|other| {
            other.submit(0..2).unwrap();
            other.wait(2, long())
        });
        for round in 0..2 {
            scene.submit(round..round + 1).unwrap();
            assert_eq!(cookies(&scene.wait(1, long())), [round]);
        }
        assert_eq!(cookies(&waiter.join().unwrap()), [0, 1]);
    });
}

#[test]
fn a_pool_that_can_not_start_leaves_nothing_behind() {
    explore(|| {
        let mut scene = Scene::new(4, 1);
        let able = Arc::clone(&scene.pool);
        scene.pool = Arc::new(Pool::new(1, |_| Err(io::ErrorKind::WouldBlock.into())));
        let try_it = |scene: &Scene, cookie| {
            let entries = vec![Entry { cookie, work: Job(scene.counts.clone()) }];
            scene.queue.submit(entries).unwrap();
            scene.pool.add(&scene.queue).unwrap_err();
        };
        let other = scene.spawn(move |scene| try_it(scene, 0));
        try_it(&scene, 1);
        other.join().unwrap();
        assert_eq!(cookies(&scene.wait(4, Patience::None)), [0, 1]);
        assert_eq!(scene.counts.get(), [0, 0]);
        scene.pool = able;
        scene.submit(2..3).unwrap();
        assert_eq!(completed(&scene.wait(1, long())), 1);
    });
}
