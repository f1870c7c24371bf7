//! SND-16, SND-17: processes that fork or end while transfers are in flight.

use std::cell::RefCell;
use std::mem;
use std::pin::Pin;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Waker};

use hipfile::alloc::{DeviceBuffer, InFlight, Stream};
use hipfile::{
    Batch, Driver, ErrorKind, OwnedTransfer, Region, RegisteredStream, Request, StreamFlags, TransferError,
};
use hipfile_tests::isolate::{LEAKS, in_child};
use hipfile_tests::{library, soft};

use crate::support::{Prepared, pattern, prepared, stream};

const SIZE: usize = 64 * 1024;

fn region(driver: &Driver) -> Region {
    driver.register(DeviceBuffer::zeroed(SIZE).unwrap()).unwrap().into_region()
}

fn kind(error: &TransferError) -> (ErrorKind, bool) {
    (error.error().kind(), error.region().is_some())
}

/// How many threads this process has.
fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

/// SND-16. In the child, what was in flight is lost and what is new does not start; nothing is waited for, no thread begins.
#[test]
fn a_forked_child_has_no_part_in_operations() {
    soft::only("ends::a_forked_child_has_no_part_in_operations", &[], || {
        let prepared = prepared(&pattern(SIZE, 1));
        let Prepared { driver, file, .. } = &prepared;
        let stream = RegisteredStream::new(driver, stream(), StreamFlags::empty()).unwrap();
        let in_flight = InFlight::new(8);
        let mut spare = [(); 3].map(|()| Some(region(driver)));
        let regions = [(); 5].map(|()| region(driver));
        let paused = soft::pause(stream.stream().as_raw());
        let mut transfers = regions
            .map(|region| Some(Request::read(file, region, 0).place(in_flight.acquire()).submit(&stream)));
        let mut place = Some(in_flight.acquire());
        let mut registered = Some(stream.clone());
        let passed = in_child(|| {
            let mut take = |index: usize| transfers[index].take().unwrap();
            let forked = (ErrorKind::Forked, false);
            let waited = kind(&take(0).wait().unwrap_err()) == forked;
            let tried = kind(&take(1).try_wait().unwrap().unwrap_err()) == forked;
            let mut polled = take(2);
            assert!(polled.is_finished());
            let ready = Pin::new(&mut polled).poll(&mut Context::from_waker(Waker::noop()));
            drop((polled, take(3)));
            mem::forget(take(4));
            let mut fresh = || spare.iter_mut().find_map(Option::take).unwrap();
            let new = Request::read(file, fresh(), 0).place(place.take().unwrap()).submit(&stream).wait();
            let late = Request::read(file, fresh(), 0).late(|values| values).submit(&stream).wait();
            drop(file.read_owned(stream.stream(), fresh(), 0));
            drop(in_flight.acquire());
            drop(registered.take());
            let refused = [new, late].map(|ended| kind(&ended.unwrap_err()));
            waited
                && tried
                && ready.map(|ended| kind(&ended.unwrap_err())) == std::task::Poll::Ready(forked)
                && refused == [(ErrorKind::Forked, true); 2]
                && Stream::new().is_err()
                && threads() == 1
        });
        assert!(passed);
        drop(paused);
        for transfer in transfers {
            assert_eq!(transfer.unwrap().wait().unwrap().bytes, SIZE);
        }
        drop(place);
        assert_eq!(in_flight.in_use(), 0);
    });
}

/// SND-16. Forks at any moment, while other threads submit, wait and drop: no child meets a lock that nobody will open.
#[test]
fn children_of_busy_processes_do_not_hang() {
    soft::only("ends::children_of_busy_processes_do_not_hang", &[LEAKS], || {
        let prepared = prepared(&pattern(SIZE, 2));
        let Prepared { driver, file, .. } = &prepared;
        let (in_flight, stop) = (InFlight::new(4), AtomicBool::new(false));
        std::thread::scope(|threads| {
            for thread in 0..3 {
                let (in_flight, stop) = (&in_flight, &stop);
                threads.spawn(move || {
                    let stream = stream();
                    let mut regions = driver
                        .register(DeviceBuffer::new(SIZE).unwrap())
                        .unwrap()
                        .into_regions(SIZE / 16)
                        .unwrap()
                        .collect::<Vec<_>>();
                    while !stop.load(Ordering::Relaxed) {
                        let Some(region) = regions.pop() else { break };
                        let request = Request::read(file, region, 0).place(in_flight.acquire());
                        let transfer = request.submit(&stream);
                        if thread == 0 {
                            drop(transfer);
                            let memory = DeviceBuffer::new(SIZE / 16).unwrap();
                            regions.push(driver.register(memory).unwrap().into_region());
                        } else {
                            regions.push(transfer.wait().unwrap().region);
                        }
                    }
                });
            }
            let stream = stream();
            for _ in 0..60 {
                let mut mine = Some(region(driver));
                let mut transfer = Some(file.read_owned(&stream, region(driver), 0));
                let mut place = in_flight.try_acquire();
                let passed = in_child(|| {
                    drop(transfer.take());
                    let mut request = Request::read(file, mine.take().unwrap(), 0);
                    if let Some(place) = place.take() {
                        request = request.place(place);
                    }
                    let refused = request.submit(&stream).wait().unwrap_err();
                    refused.error().kind() == ErrorKind::Forked && in_flight.in_use() == 0
                });
                assert!(passed);
            }
            stop.store(true, Ordering::Relaxed);
        });
    });
}

/// What is in flight when a process ends. Nothing drops a static.
static IN_A_STATIC: Mutex<Option<(OwnedTransfer, Batch, RegisteredStream)>> = Mutex::new(None);

thread_local! {
    /// This is dropped, and does not wait.
    static IN_A_LOCAL: RefCell<Option<OwnedTransfer>> = const { RefCell::new(None) };
}

/// SND-17. The process ends with its own status although streams are held and batches run.
#[test]
fn a_process_ends_with_transfers_in_flight() {
    if !library::has_0_5() {
        return;
    }
    soft::only("ends::a_process_ends_with_transfers_in_flight", &[LEAKS], || {
        let prepared = prepared(&pattern(SIZE, 3));
        let driver = &prepared.driver;
        let stream = RegisteredStream::new(driver, stream(), StreamFlags::empty()).unwrap();
        let regions = [(); 4].map(|()| region(driver));
        let in_the_batch = region(driver);
        // Held for good, and never let go.
        mem::forget(soft::pause(stream.stream().as_raw()));
        let [kept, local, mut polled, forgotten] =
            regions.map(|region| prepared.file.read_owned(&stream, region, 0));
        let mut batch = Batch::new(driver, 1).unwrap();
        batch.submit([Request::read(&prepared.file, in_the_batch, 0)]).unwrap();
        *IN_A_STATIC.lock().unwrap() = Some((kept, batch, stream));
        IN_A_LOCAL.set(Some(local));
        assert!(Pin::new(&mut polled).poll(&mut Context::from_waker(Waker::noop())).is_pending());
        drop(polled);
        mem::forget(forgotten);
    });
}
