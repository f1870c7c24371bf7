//! Operations as futures without any runtime: an executor of twenty lines.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use hipfile::Request;
use hipfile::alloc::InFlight;
use hipfile_tests::soft;

use crate::scene::{Held, Scene};

const LEN: usize = 64 << 10;

struct Unpark {
    thread: Thread,
    wakes: AtomicUsize,
}

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.wakes.fetch_add(1, Ordering::SeqCst);
        self.thread.unpark();
    }
}

/// Polls until the future is ready, and only when it was woken. Returns how often it was, too.
fn block_on<F: Future>(future: F) -> (F::Output, usize) {
    let unpark = Arc::new(Unpark { thread: thread::current(), wakes: AtomicUsize::new(0) });
    let waker = Waker::from(Arc::clone(&unpark));
    let mut future = pin!(future);
    let mut seen = 0;
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return (output, unpark.wakes.load(Ordering::SeqCst));
        }
        while unpark.wakes.load(Ordering::SeqCst) == seen {
            thread::park();
        }
        seen = unpark.wakes.load(Ordering::SeqCst);
    }
}

#[test]
fn an_executor_of_twenty_lines_is_enough() {
    soft::only("block_on::an_executor_of_twenty_lines_is_enough", &[], || {
        let scene = Scene::new(8 * LEN);
        let stream = scene.stream();
        let mut regions = scene.regions(8, LEN);
        let in_flight = InFlight::new(2);
        let sum = async {
            let mut bytes = 0;
            for (index, region) in regions.drain(..).enumerate() {
                let place = in_flight.acquire_async().await;
                let offset = index * LEN;
                let request = Request::read(&scene.file, region, offset as u64).place(place);
                let done = request.submit(&stream).await.unwrap();
                assert!(scene.has(&done.region, offset));
                bytes += done.bytes;
            }
            bytes
        };
        assert_eq!(block_on(sum).0, 8 * LEN);
    });
}

/// No polling in between: the one wake comes when the stream has passed the operation.
#[test]
fn a_pending_operation_wakes_once() {
    soft::only("block_on::a_pending_operation_wakes_once", &[], || {
        let scene = Scene::new(LEN);
        let stream = scene.stream();
        let region = scene.regions(1, LEN).remove(0);
        let paused = soft::pause(stream.stream().as_raw());
        let transfer = Request::read(&scene.file, region, 0).submit(&stream);
        let (polled, is_polled) = std::sync::mpsc::channel();
        let waiter = thread::spawn(move || {
            let mut transfer = pin!(transfer);
            block_on(std::future::poll_fn(|context| {
                let answer = transfer.as_mut().poll(context);
                polled.send(answer.is_pending()).unwrap();
                answer
            }))
        });
        assert!(is_polled.recv().unwrap(), "the stream is held, so the operation is pending");
        drop(paused);
        let (done, wakes) = waiter.join().unwrap();
        assert_eq!((done.unwrap().bytes, wakes), (LEN, 1));
    });
}

/// Dropped after it was polled, before its stream comes to it: nothing waits, and everything is given back in the end.
#[test]
fn an_abandoned_operation_is_taken_apart_later() {
    soft::only("block_on::an_abandoned_operation_is_taken_apart_later", &[], || {
        let scene = Scene::new(LEN);
        let stream = scene.stream();
        let held = scene.held(&stream);
        let region = scene.regions(1, LEN).remove(0);
        let paused = soft::pause(stream.stream().as_raw());
        let mut transfer = Box::pin(Request::read(&scene.file, region, 0).submit(&stream));
        assert!(transfer.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        drop(transfer);
        assert_ne!(Held::now(), held, "the region belongs to the stream still");
        drop(paused);
        held.again();
    });
}
