//! SND-19: what may cross threads, asserted by the compiler, and used so.

use std::marker::PhantomData;
use std::sync::Arc;

use hipfile::alloc::{DeviceBuffer, InFlight, Operation, PinnedBuffer, Place, Scope, Stream};
use hipfile::{
    Batch, Driver, FileHandle, OwnedTransfer, Region, Registered, RegisteredStream, Request, ScopedTransfer,
};
use hipfile_tests::isolate::alone;

use crate::support::{Prepared, pattern, prepared, stream};

const PIECE: usize = 4096;
const PIECES: usize = 64;

/// Stands for a type in [`crosses`].
struct Of<T: ?Sized>(PhantomData<fn() -> Box<T>>);

/// What is so of any type.
trait Not {
    fn send(&self) -> bool {
        false
    }
    fn sync(&self) -> bool {
        false
    }
}

impl<T: ?Sized> Not for &Of<T> {}

trait Sends {
    fn send(&self) -> bool {
        true
    }
}

impl<T: ?Sized + Send> Sends for Of<T> {}

trait Syncs {
    fn sync(&self) -> bool {
        true
    }
}

impl<T: ?Sized + Sync> Syncs for Of<T> {}

/// Whether a type is `Send` and whether it is `Sync`: a method that fits without one more reference is found first.
macro_rules! crosses {
    ($type:ty) => {{
        let of = &Of::<$type>(PhantomData);
        (of.send(), of.sync())
    }};
}

/// SND-19. By type.
#[test]
fn only_what_may_cross_threads_does() {
    assert_eq!(crosses!(std::rc::Rc<u8>), (false, false), "the check itself");
    assert_eq!(crosses!(std::cell::Cell<u8>), (true, false), "the check itself");
    for both in [
        crosses!(Driver),
        crosses!(FileHandle),
        crosses!(Region),
        crosses!(Registered<DeviceBuffer>),
        crosses!(Stream),
        crosses!(RegisteredStream),
        crosses!(InFlight),
        crosses!(Place),
        crosses!(PinnedBuffer),
        crosses!(ScopedTransfer),
        crosses!(OwnedTransfer),
        crosses!(Operation<()>),
    ] {
        assert_eq!(both, (true, true));
    }
    // Closures for late values are called once, so they need not be shared; whoever shares a batch would have to say who gets
    // whose events.
    assert_eq!(crosses!(Request), (true, false));
    assert_eq!(crosses!(Batch), (true, false));
    // The frame that opened it waits for it.
    assert_eq!(crosses!(Scope<'static, 'static>), (false, false));
    // Follows its memory.
    assert_eq!(crosses!(Registered<hipfile::RawMemory>), (true, true));
}

/// SND-19. Pieces of one registration, one file, one stream and one bound, on eight threads at once: each byte comes where it
/// belongs, however the operations of the others end.
#[test]
fn pieces_of_one_pool_on_many_threads() {
    alone("sharing::pieces_of_one_pool_on_many_threads", || {
        let bytes = pattern(PIECE * PIECES, 1);
        let prepared = prepared(&bytes);
        let Prepared { driver, file, .. } = &prepared;
        let pool = driver.register(DeviceBuffer::zeroed(PIECE * PIECES).unwrap()).unwrap();
        let mut regions: Vec<Region> = pool.into_regions(PIECE).unwrap().collect();
        let (stream, in_flight) = (stream(), InFlight::new(5));
        let chunks: Vec<Vec<(usize, Region)>> = {
            let mut numbered: Vec<_> = regions.drain(..).enumerate().collect();
            std::iter::from_fn(|| {
                let rest = numbered.split_off(numbered.len().min(PIECES / 8));
                let chunk = std::mem::replace(&mut numbered, rest);
                (!chunk.is_empty()).then_some(chunk)
            })
            .collect()
        };
        let mut back: Vec<(usize, Region)> = std::thread::scope(|threads| {
            let workers: Vec<_> = chunks
                .into_iter()
                .enumerate()
                .map(|(worker, mut chunk)| {
                    let (stream, in_flight) = (&stream, &in_flight);
                    threads.spawn(move || {
                        for round in 0..20 {
                            chunk = chunk
                                .into_iter()
                                .map(|(number, region)| {
                                    let offset = (number * PIECE) as u64;
                                    if round % 3 == worker % 3 {
                                        // Somebody's operation that nobody waits for.
                                        let memory = DeviceBuffer::new(PIECE).unwrap();
                                        let other = driver.register(memory).unwrap().into_region();
                                        drop(Request::read(file, other, 0).submit(stream));
                                    }
                                    let request = Request::read(file, region, offset);
                                    let done =
                                        request.place(in_flight.acquire()).submit(stream).wait().unwrap();
                                    assert_eq!(done.bytes, PIECE);
                                    (number, done.region)
                                })
                                .collect();
                        }
                        chunk
                    })
                })
                .collect();
            workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
        });
        back.sort_by_key(|(number, _)| *number);
        for (number, region) in &back {
            let got = region.slice(..).unwrap().as_device().to_vec().unwrap();
            assert!(got == bytes[number * PIECE..(number + 1) * PIECE], "piece {number}");
        }
        let whole = back.into_iter().map(|(_, region)| region).reduce(|mut whole, next| {
            whole.unsplit(next).unwrap();
            whole
        });
        let whole = whole.unwrap().try_into_registered::<DeviceBuffer>().unwrap();
        assert!(whole.slice(..).unwrap().as_device().to_vec().unwrap() == bytes);
        while Arc::strong_count(file) > 1 {
            std::thread::yield_now();
        }
    });
}
