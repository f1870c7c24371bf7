//! SND-01, SND-02, SND-03: owned transfers on a held stream. Whatever becomes of the operation, file and memory are there
//! until the stream has passed it, and no longer than that, except where they were forgotten.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::task::{Context, Poll, Wake, Waker};

use hipfile::alloc::{self, DeviceBuffer, InFlight};
use hipfile::{Done, OwnedTransfer, RegisteredStream, Request, StreamFlags, TransferError};
use hipfile_tests::isolate::LEAKS;
use hipfile_tests::soft::{self, Paused};

use crate::support::{
    Prepared, Watched, assert_never_given_out, content, library_knows, pattern, prepared, stream,
};

const SIZE: usize = 64 * 1024;

/// A read on a held stream, what holds it, and where the memory reports its content when it goes.
struct Held {
    prepared: Prepared,
    stream: RegisteredStream,
    address: usize,
    gone: Receiver<Vec<u8>>,
    paused: Paused,
    others: Vec<DeviceBuffer>,
}

impl Held {
    fn start() -> (Self, OwnedTransfer) {
        let prepared = prepared(&pattern(SIZE, 1));
        let stream = RegisteredStream::new(&prepared.driver, stream(), StreamFlags::FIXED_VALUES).unwrap();
        let (memory, gone) = Watched::new(SIZE);
        let region = prepared.driver.register(memory).unwrap().into_region();
        let address = region.as_ptr().addr();
        let paused = soft::pause(stream.stream().as_raw());
        let transfer = prepared.file.read_owned(&stream, region, 0);
        (Self { prepared, stream, address, gone, paused, others: Vec::new() }, transfer)
    }

    fn assert_all_there(&mut self) {
        assert_eq!(Arc::strong_count(&self.prepared.file), 2, "the file went before the stream had passed");
        assert!(library_knows(std::ptr::without_provenance_mut(self.address)));
        assert_eq!(
            self.gone.try_recv(),
            Err(TryRecvError::Empty),
            "the memory went before the stream had passed"
        );
        self.others = assert_never_given_out(self.address, SIZE);
    }

    /// Lets the stream go on. The memory goes then, after all bytes came, and so does the operation's hold on the file.
    fn goes(mut self) {
        self.assert_all_there();
        drop(self.paused);
        assert!(self.gone.recv().unwrap() == pattern(SIZE, 1));
        while Arc::strong_count(&self.prepared.file) > 1 {
            std::thread::yield_now();
        }
        assert_eq!(alloc::leaked().allocations, 0);
    }
}

/// SND-01, SND-02. Dropped, on this thread or another, by a panic, or as a future that was polled.
#[test]
fn dropped_operations_go_when_the_stream_has_passed() {
    soft::only("operations::dropped_operations_go_when_the_stream_has_passed", &[], || {
        let (held, transfer) = Held::start();
        drop(transfer);
        held.goes();

        let (held, transfer) = Held::start();
        std::thread::spawn(move || drop(transfer)).join().unwrap();
        held.goes();

        let (held, transfer) = Held::start();
        let thread = std::thread::spawn(move || {
            let _transfer = transfer;
            panic!("as planned");
        });
        assert!(thread.join().is_err());
        held.goes();

        let (held, mut transfer) = Held::start();
        let mut context = Context::from_waker(Waker::noop());
        assert!(Pin::new(&mut transfer).poll(&mut context).is_pending());
        drop(transfer);
        held.goes();

        let (held, transfer) = Held::start();
        let transfer = transfer.try_wait().unwrap_err();
        assert!(!transfer.is_finished());
        drop(transfer.try_wait());
        held.goes();
    });
}

/// SND-02. Forgotten: nothing is freed, ever, and nothing is counted, since whoever forgets knows.
#[test]
fn forgotten_operations_keep_everything() {
    soft::only("operations::forgotten_operations_keep_everything", &[LEAKS], || {
        let (mut held, transfer) = Held::start();
        mem::forget(transfer);
        held.assert_all_there();
        let Held { prepared, stream, address, gone, paused, .. } = held;
        drop(paused);
        stream.stream().synchronize().unwrap();
        assert!(content(address, SIZE) == pattern(SIZE, 1));
        assert_never_given_out(address, SIZE);
        assert_eq!(gone.try_recv(), Err(TryRecvError::Empty));
        let (refused, stream) = stream.deregister().unwrap_err().into_parts();
        assert_eq!(refused.kind(), hipfile::ErrorKind::Busy);
        drop((prepared, stream));
        assert!(library_knows(std::ptr::without_provenance_mut(address)));
        assert_eq!(alloc::leaked().allocations, 0);
    });
}

/// SND-07. Whatever the caller has goes before the operation, in each order: it has its own hold on all of it.
#[test]
fn operations_outlive_what_they_were_made_from() {
    soft::only("operations::operations_outlive_what_they_were_made_from", &[], || {
        for order in 0..24 {
            let (held, transfer) = Held::start();
            let Held { prepared, stream, address, gone, paused, .. } = held;
            let mut parts: [Option<Box<dyn FnOnce()>>; 4] = [
                Some(Box::new(move || drop(prepared))),
                Some(Box::new(move || drop(stream))),
                Some(Box::new(move || drop(transfer))),
                Some(Box::new(move || drop(paused))),
            ];
            let (mut left, mut code) = (vec![0, 1, 2, 3], order);
            for choices in (1..=4).rev() {
                let part = left.remove(code % choices);
                code /= choices;
                parts[part].take().unwrap()();
            }
            assert!(gone.recv().unwrap() == pattern(SIZE, 1), "order {order}, memory at {address:#x}");
        }
        assert_eq!(alloc::leaked().allocations, 0);
    });
}

/// Wakes, is cloned and is dropped as only hostile code is.
struct Hostile;

impl Wake for Hostile {
    fn wake(self: Arc<Self>) {
        panic!("as planned, in wake");
    }
}

impl Drop for Hostile {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("as planned, in drop");
        }
    }
}

/// SND-20. Wakers that panic when they are woken and when they are dropped: the thread that wakes them goes on, and so does
/// everybody's operation.
#[test]
fn wakers_that_panic_harm_nobody() {
    soft::only("operations::wakers_that_panic_harm_nobody", &[LEAKS], || {
        for replace in [false, true] {
            let (held, mut transfer) = Held::start();
            let waker = Waker::from(Arc::new(Hostile));
            assert!(Pin::new(&mut transfer).poll(&mut Context::from_waker(&waker)).is_pending());
            let unwound = catch_unwind(AssertUnwindSafe(|| {
                if replace {
                    drop(waker);
                    let mut context = Context::from_waker(Waker::noop());
                    assert!(Pin::new(&mut transfer).poll(&mut context).is_pending());
                }
            }));
            assert_eq!(
                unwound.is_err(),
                replace,
                "the last of the wakers is dropped here, or by who wakes it"
            );
            let Held { gone, paused, .. } = held;
            drop(paused);
            let Done { region, bytes, .. } = transfer.wait().unwrap();
            assert_eq!(bytes, SIZE);
            drop(region);
            assert!(gone.recv().unwrap() == pattern(SIZE, 1));
        }
        // The thread that woke them is still there.
        let (held, transfer) = Held::start();
        drop(transfer);
        held.goes();
    });
}

/// SND-19. Asked by several threads at once, polled on one after the other with other wakers, awaited on another.
#[test]
fn operations_go_from_thread_to_thread() {
    soft::only("operations::operations_go_from_thread_to_thread", &[], || {
        let (mut held, mut transfer) = Held::start();
        for _ in 0..4 {
            std::thread::scope(|threads| {
                for _ in 0..4 {
                    threads.spawn(|| assert!(!transfer.is_finished()));
                }
            });
            transfer = std::thread::spawn(move || {
                struct Unpark(std::thread::Thread);
                impl Wake for Unpark {
                    fn wake(self: Arc<Self>) {
                        self.0.unpark();
                    }
                }
                let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
                assert!(Pin::new(&mut transfer).poll(&mut Context::from_waker(&waker)).is_pending());
                transfer
            })
            .join()
            .unwrap();
        }
        let waiter = std::thread::spawn(move || transfer.wait().unwrap());
        held.assert_all_there();
        drop(held.paused);
        let Done { region, .. } = waiter.join().unwrap();
        assert!(region.slice(..).unwrap().as_device().to_vec().unwrap() == pattern(SIZE, 1));
    });
}

/// SND-02. A result is given once: a future that was ready, and is polled on, never gives the memory a second time.
#[test]
fn results_are_given_once() {
    soft::only("operations::results_are_given_once", &[], || {
        let (held, mut transfer) = Held::start();
        drop(held.paused);
        let mut context = Context::from_waker(Waker::noop());
        let ended: Result<Done, TransferError> = loop {
            match Pin::new(&mut transfer).poll(&mut context) {
                Poll::Ready(ended) => break ended,
                Poll::Pending => std::thread::yield_now(),
            }
        };
        for _ in 0..3 {
            assert!(Pin::new(&mut transfer).poll(&mut context).is_pending());
            transfer = transfer.try_wait().unwrap_err();
            assert!(!transfer.is_finished());
        }
        drop(transfer);
        drop(ended.unwrap());
        assert!(held.gone.recv().unwrap() == pattern(SIZE, 1));
    });
}

/// SND-02. Places come back when the stream has passed, whether operations are kept, dropped or forgotten.
#[test]
fn places_come_back_whatever_becomes_of_operations() {
    soft::only("operations::places_come_back_whatever_becomes_of_operations", &[LEAKS], || {
        let prepared = prepared(&pattern(SIZE, 2));
        let in_flight = InFlight::new(3);
        let stream = stream();
        for forgotten in 1..20 {
            let regions = [(); 3].map(|()| {
                let memory = DeviceBuffer::zeroed(SIZE).unwrap();
                prepared.driver.register(memory).unwrap().into_region()
            });
            let paused = soft::pause(stream.as_raw());
            let mut transfers: Vec<OwnedTransfer> = regions
                .into_iter()
                .map(|region| {
                    Request::read(&prepared.file, region, 0).place(in_flight.acquire()).submit(&stream)
                })
                .collect();
            assert!(in_flight.try_acquire().is_none());
            mem::forget(transfers.pop());
            drop(transfers.pop());
            drop(paused);
            // Waits until all three are back.
            let places: Vec<_> = (0..3).map(|_| in_flight.acquire()).collect();
            assert_eq!(in_flight.in_use(), places.len());
            assert_eq!(transfers.pop().unwrap().wait().unwrap().bytes, SIZE);
            // What was dropped is freed by another thread, which waits for streams that are held.
            while Arc::strong_count(&prepared.file) > 1 + forgotten {
                std::thread::yield_now();
            }
        }
    });
}
