//! A thousand transfers as futures of an async runtime.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Waker};
use std::time::Duration;

use hipfile::alloc::InFlight;
use hipfile::{OwnedTransfer, Region, RegisteredStream, Request};
use hipfile_tests::soft;
use tokio::runtime::Builder;
use tokio::time::{MissedTickBehavior, interval, sleep};

use crate::scene::Scene;

const FUTURES: usize = 1000;
const LEN: usize = 4096;
const TICK: Duration = Duration::from_millis(1);

/// A timer that ticks as long as the runtime's thread is let do so.
struct Timer(Arc<AtomicUsize>);

impl Timer {
    fn start() -> Self {
        let ticks = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&ticks);
        tokio::spawn(async move {
            let mut interval = interval(TICK);
            interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                interval.tick().await;
                counted.fetch_add(1, Ordering::Relaxed);
            }
        });
        Self(ticks)
    }

    /// Waits for some more ticks; for ever if something blocks the thread.
    async fn go_on(&self) {
        let goal = self.0.load(Ordering::Relaxed) + 10;
        while self.0.load(Ordering::Relaxed) < goal {
            sleep(TICK).await;
        }
    }
}

/// One thread runs the futures and a timer. While the stream is held, no future can be ready; submitting, polling and
/// dropping them must not keep the timer from ticking all the same.
#[test]
fn a_thousand_futures_half_of_them_dropped() {
    soft::only("tasks::a_thousand_futures_half_of_them_dropped", &[], || {
        let scene = Scene::new(FUTURES * LEN);
        let runtime = Builder::new_current_thread().enable_time().build().unwrap();
        let stream = scene.stream();
        let held = scene.held(&stream);

        let regions = scene.regions(FUTURES, LEN);
        let paused = soft::pause(stream.stream().as_raw());
        runtime.block_on(async {
            let timer = Timer::start();
            let (mut kept, mut dropped) = (Vec::new(), Vec::new());
            for (index, region) in regions.into_iter().enumerate() {
                let mut transfer = scene.file.read_owned(&stream, region, (index * LEN) as u64);
                let polled = Pin::new(&mut transfer).poll(&mut Context::from_waker(Waker::noop()));
                assert!(polled.is_pending());
                if index % 2 == 0 {
                    kept.push((index, tokio::spawn(transfer)));
                } else {
                    dropped.push(transfer);
                }
            }
            timer.go_on().await;
            drop::<Vec<OwnedTransfer>>(dropped);
            timer.go_on().await;
            assert!(kept.iter().all(|(_, task)| !task.is_finished()));
            drop(paused);
            for (index, task) in kept {
                let done = task.await.unwrap().unwrap();
                assert_eq!(done.bytes, LEN);
                assert!(scene.has(&done.region, index * LEN), "read {index}");
            }
            timer.go_on().await;
        });
        held.again();
    });
}

/// Tasks that are cancelled wherever they are: waiting for a place, or for their transfer.
#[test]
fn cancelled_tasks_leave_nothing_behind() {
    soft::only("tasks::cancelled_tasks_leave_nothing_behind", &[], || {
        let scene = Arc::new(Scene::new(FUTURES * LEN));
        let stream = scene.stream();
        let held = scene.held(&stream);

        let regions = scene.regions(FUTURES, LEN);
        let in_flight = InFlight::new(64);
        let runtime = Builder::new_multi_thread().worker_threads(4).enable_time().build().unwrap();
        let paused = soft::pause(stream.stream().as_raw());
        runtime.block_on(async {
            let read =
                |(index, region)| read(Arc::clone(&scene), stream.clone(), in_flight.clone(), index, region);
            let tasks: Vec<_> = regions.into_iter().enumerate().map(read).map(tokio::spawn).collect();
            while in_flight.in_use() < in_flight.limit() {
                sleep(TICK).await;
            }
            tasks.iter().step_by(2).for_each(|task| task.abort());
            drop(paused);
            for (index, task) in tasks.into_iter().enumerate() {
                match task.await {
                    Ok(right) => assert!(right, "read {index}"),
                    Err(error) => assert!(error.is_cancelled() && index % 2 == 0, "read {index}: {error}"),
                }
            }
        });
        drop(runtime);
        held.again();
        assert_eq!(in_flight.in_use(), 0);
    });
}

/// Reads one region, and says whether it has the right bytes.
async fn read(
    scene: Arc<Scene>,
    stream: RegisteredStream,
    in_flight: InFlight,
    index: usize,
    region: Region,
) -> bool {
    let place = in_flight.acquire_async().await;
    let request = Request::read(&scene.file, region, (index * LEN) as u64).place(place);
    let done = request.submit(&stream).await.unwrap();
    done.bytes == LEN && scene.has(&done.region, index * LEN)
}
