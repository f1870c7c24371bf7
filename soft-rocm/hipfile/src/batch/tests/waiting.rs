//! Waiting, canceling and destroying, with operations that end when the test says so.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use super::*;
use crate::batch::queue::{Queue, Work};
use crate::batch::state::{Entry, Refused};

/// Says that it was started, and ends when it is told how.
struct Held(Sender<()>, Receiver<Outcome>);

impl Work for Held {
    fn joins(&self, _next: &Self) -> bool {
        false
    }

    fn run(group: &mut Vec<Entry<Self>>, ended: &mut Vec<Event>) {
        for Entry { cookie, work: Held(started, end) } in group.drain(..) {
            started.send(()).unwrap();
            ended.push(Event { cookie, outcome: end.recv().unwrap() });
        }
    }
}

/// The two ends of a held operation.
struct Hold {
    started: Receiver<()>,
    end: Sender<Outcome>,
}

impl Hold {
    fn new(cookie: usize) -> (Entry<Held>, Self) {
        let ((started, has_started), (end, ends)) = (channel(), channel());
        (Entry { cookie, work: Held(started, ends) }, Self { started: has_started, end })
    }

    fn wait(&self) {
        self.started.recv().unwrap();
    }

    fn complete(&self) {
        self.end.send(Outcome::Complete(1)).unwrap();
    }
}

/// A batch with a pool of two threads.
struct Scene {
    queue: Arc<Queue<Held>>,
    pool: Arc<Pool<Held>>,
}

impl Scene {
    fn new(capacity: usize) -> Self {
        let start = |pool: &Arc<Pool<Held>>| {
            let pool = Arc::clone(pool);
            thread::spawn(move || pool.work());
            Ok(())
        };
        Self { queue: Arc::new(Queue::new(capacity)), pool: Arc::new(Pool::new(2, start)) }
    }

    fn submit(&self, cookies: impl Iterator<Item = usize>) -> Vec<Hold> {
        let (entries, holds) = cookies.map(Hold::new).unzip();
        self.queue.submit(entries).unwrap();
        self.pool.add(&self.queue).unwrap();
        holds
    }

    fn events(&self, need: usize, patience: Patience, most: usize) -> Vec<Event> {
        let mut events = Vec::new();
        self.queue.wait(&self.pool, need, patience, most, |event| events.push(event));
        events
    }
}

fn after(milliseconds: i64) -> Patience {
    Patience::from_now(milliseconds / 1000, milliseconds % 1000 * 1_000_000).unwrap()
}

/// Longer than any test lasts. Not for ever, or the waiter would be offered the work.
fn long() -> Patience {
    after(60_000)
}

fn canceled(cookie: usize) -> Event {
    Event { cookie, outcome: Outcome::Canceled }
}

#[test]
fn nothing_outstanding_is_no_reason_to_wait() {
    // HF-BATCH-11
    let scene = Scene::new(4);
    assert_eq!(scene.events(4, Patience::Forever, 4), []);
}

#[test]
fn enough_all_or_too_long() {
    // HF-BATCH-10
    let scene = Scene::new(4);
    let holds = scene.submit(0..2);
    holds.iter().for_each(Hold::wait);
    assert_eq!(scene.events(0, Patience::Forever, 4), []);
    assert_eq!(scene.events(1, Patience::None, 4), []);
    assert_eq!(scene.events(1, after(5), 4), [], "time ran out");
    holds[1].complete();
    assert_eq!(scene.events(1, long(), 4), [complete(1, 1)], "enough");
    holds[0].complete();
    assert_eq!(scene.events(4, long(), 4), [complete(0, 1)], "all there are");
}

#[test]
fn events_come_once_and_in_the_order_of_the_ends() {
    // HF-BATCH-12
    let scene = Scene::new(4);
    let holds = scene.submit(0..2);
    holds.iter().for_each(Hold::wait);
    holds[1].complete();
    assert_eq!(scene.events(1, long(), 0), []);
    holds[0].complete();
    assert_eq!(scene.events(2, long(), 1), [complete(1, 1)]);
    assert_eq!(scene.events(2, Patience::Forever, 4), [complete(0, 1)], "there are no two any more");
    assert_eq!(scene.events(2, Patience::Forever, 4), []);
}

#[test]
fn cancel_ends_what_was_not_started_and_does_not_wait() {
    // HF-BATCH-13
    let scene = Scene::new(8);
    let holds = scene.submit(0..6);
    holds[..2].iter().for_each(Hold::wait);
    scene.queue.cancel();
    assert_eq!(scene.events(0, Patience::None, 8), [2, 3, 4, 5].map(canceled));
    scene.queue.cancel();
    assert_eq!(scene.events(0, Patience::None, 8), []);
    holds[0].complete();
    holds[1].end.send(Outcome::Failed(-5)).unwrap();
    let mut rest = scene.events(2, long(), 8);
    rest.sort_by_key(|event| event.cookie);
    assert_eq!(rest, [complete(0, 1), Event { cookie: 1, outcome: Outcome::Failed(-5) }]);
    let again = scene.submit(6..7);
    again[0].complete();
    assert_eq!(scene.events(1, long(), 8), [complete(6, 1)], "the batch goes on");
}

#[test]
fn a_cancel_wakes_who_waits() {
    let scene = Scene::new(8);
    let holds = scene.submit(0..4);
    holds[..2].iter().for_each(Hold::wait);
    thread::scope(|scope| {
        let waiter = scope.spawn(|| scene.events(2, long(), 8));
        scene.queue.cancel();
        assert_eq!(waiter.join().unwrap(), [2, 3].map(canceled));
    });
    holds[..2].iter().for_each(Hold::complete);
}

#[test]
fn retiring_wakes_who_waits_and_waits_for_what_runs() {
    // HF-BATCH-14
    let scene = Scene::new(8);
    let holds = scene.submit(0..3);
    holds[..2].iter().for_each(Hold::wait);
    thread::scope(|scope| {
        let waiter = scope.spawn(|| scene.events(8, long(), 8));
        let destroyer = scope.spawn(|| {
            scene.queue.retire();
            scene.queue.quiesce();
        });
        assert_eq!(waiter.join().unwrap(), [canceled(2)]);
        let (entry, _hold) = Hold::new(9);
        assert_eq!(scene.queue.submit(vec![entry]), Err(Refused::Retired));
        holds[0].complete();
        assert_eq!(scene.events(8, Patience::Forever, 0), [], "nobody waits for a batch that is gone");
        assert!(!destroyer.is_finished(), "one still runs");
        holds[1].complete();
        destroyer.join().unwrap();
        assert_eq!(scene.events(0, Patience::None, 8).len(), 2);
    });
}

#[test]
fn batches_share_the_threads() {
    let scene = Scene::new(128);
    let other = Scene { queue: Arc::new(Queue::new(8)), pool: Arc::clone(&scene.pool) };
    let many = scene.submit(0..100);
    many[..50].iter().for_each(Hold::complete);
    let one = other.submit(0..1);
    one[0].complete();
    many[50..].iter().for_each(Hold::complete);
    assert_eq!(other.events(1, long(), 8), [complete(0, 1)]);
    assert_eq!(scene.events(100, long(), 128).len(), 100);
}

#[test]
fn who_waits_for_everything_lends_a_hand() {
    let scene = Scene::new(8);
    let holds = scene.submit(0..3);
    holds[..2].iter().for_each(Hold::wait);
    holds[2].complete();
    thread::scope(|scope| {
        let waiter = scope.spawn(|| scene.events(3, Patience::Forever, 8));
        // Both threads of the pool are held, so it is the waiter who starts this one.
        holds[2].wait();
        holds[..2].iter().for_each(Hold::complete);
        assert_eq!(waiter.join().unwrap().len(), 3);
    });
}

#[test]
fn times() {
    // HF-BATCH-09
    assert_eq!(Patience::from_now(0, 0), Some(Patience::None));
    for (seconds, nanoseconds) in [(-1, 0), (0, -1), (0, 1_000_000_000), (i64::MIN, 0), (0, i64::MAX)] {
        assert_eq!(Patience::from_now(seconds, nanoseconds), None);
    }
    assert_eq!(Patience::from_now(i64::MAX, 999_999_999), Some(Patience::Forever));
    let before = Instant::now();
    let Some(Patience::Until(end)) = Patience::from_now(2, 5) else { panic!("a time") };
    assert!(end >= before + Duration::new(2, 5));
}
