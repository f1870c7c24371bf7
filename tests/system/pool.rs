//! A pool that somebody else owns, registered once, used through pointers into it and through regions.
//!
//! The library asks HIP about memory that it does not know, and about no other. So its calls of HIP show which transfers
//! met a registration, and its own counters what they moved.

use std::ffi::c_void;
use std::sync::Arc;

use hipfile::alloc::{Device, DeviceBuffer, DeviceSliceMut, Stream};
use hipfile::{
    Batch, Driver, ErrorKind, Feature, FileHandle, OpError, OwnedTransfer, RawMemory, Region, Registered,
    RegisteredSlice, RegisteredSliceMut, Request, Stats,
};
use hipfile_tests::isolate::shimmed;
use hipfile_tests::shim;

use crate::common::{Scratch, open, pattern};

/// How often the library asked HIP what a pointer is.
fn lookups() -> u64 {
    shim::outer_calls("hipPointerGetAttributes") + shim::outer_calls("hipMemGetAddressRange")
}

/// The registrations that the library counted.
fn registrations() -> u64 {
    let mut counted = hipfile::sys::hipFileStatsLevel1_t::default();
    let stats = hipfile::sys::api::get().unwrap().hipFileGetStatsL1.unwrap();
    // SAFETY: requires a place for the numbers; holds for a local variable.
    let answer = unsafe { stats(&raw mut counted) };
    assert_eq!(answer.err, hipfile::sys::hipFileSuccess);
    counted.buf_register_ops.ok
}

/// A pool as a framework has it: an address and a length, freed by hand.
struct Pool {
    memory: DeviceBuffer,
    device: Device,
}

impl Pool {
    fn new(len: usize) -> Self {
        let memory = DeviceBuffer::zeroed(len).unwrap();
        let device = memory.device();
        Self { memory, device }
    }

    fn at(&self, offset: usize) -> *mut c_void {
        self.memory.as_ptr().wrapping_byte_add(offset)
    }

    fn register(&self, driver: &Driver, offset: usize, len: usize) -> Registered<RawMemory> {
        // SAFETY: requires device memory of the current device that outlives the guard and that nobody else uses meanwhile;
        // holds because the tests drop the pool last and use its bytes through one slice at a time.
        unsafe { Registered::from_raw(driver, self.at(offset), len, 0) }.unwrap()
    }

    /// Reads `len` bytes from the start of the file into the pool at `offset`.
    fn read(&self, file: &FileHandle, offset: usize, len: usize) -> hipfile::Result<()> {
        // SAFETY: requires memory of that device that nobody else uses; holds for bytes of the pool, which is not borrowed.
        let slice = unsafe { RegisteredSliceMut::from_raw_parts(self.at(offset), len, self.device) };
        assert_eq!((slice.as_ptr(), slice.len(), slice.device()), (self.at(offset), len, self.device));
        file.read_exact_at(slice, 0)
    }

    fn holds(&self, offset: usize, expected: &[u8]) -> bool {
        self.memory.slice(offset..offset + expected.len()).unwrap().to_vec().unwrap() == expected
    }
}

/// HF-BUF-12, SND-12.
#[test]
fn every_pointer_into_a_registered_pool_meets_the_registration() {
    shimmed("pool::every_pointer_into_a_registered_pool_meets_the_registration", &[], || {
        if !hipfile::supports(Feature::Stats).unwrap() {
            println!("skipped: this libhipfile counts nothing");
            return;
        }
        const POOL: usize = 1 << 20;
        let scratch = Scratch::new();
        let content = pattern(70_000, 1);
        let driver = Driver::open().unwrap();
        let file = open(&driver, &scratch.file("data", &content));
        let pool = Pool::new(POOL);
        let registered = pool.register(&driver, 0, POOL);
        assert_eq!(registrations(), 1);

        let places = [(0, 4096), (4097, 1), (8192, 65_536), (80_001, 511), (300_001, 69_999), (POOL - 7, 7)];
        let (before, counted) = (lookups(), hipfile::stats().unwrap());
        for (offset, len) in places {
            pool.read(&file, offset, len).unwrap();
        }
        assert_eq!(lookups(), before, "the library knew every pointer");
        let reads = hipfile::stats().unwrap().since(counted).reads;
        assert_eq!((reads.operations, reads.errors), (places.len() as u64, 0));
        assert_eq!(reads.bytes, places.iter().map(|(_, len)| *len as u64).sum::<u64>());
        for (offset, len) in places {
            assert!(pool.holds(offset, &content[..len]), "{len} bytes at {offset}");
        }

        // SAFETY: requires memory of that device that nobody writes; holds for bytes of the pool, which is not borrowed.
        let tail = unsafe { RegisteredSlice::from_raw_parts(pool.at(300_001), 69_999, pool.device) };
        file.write_all_at(tail.slice(1000..2000).unwrap(), 100_000).unwrap();
        assert_eq!(lookups(), before);
        assert_eq!(std::fs::read(scratch.path("data")).unwrap()[100_000..], content[1000..2000]);

        // The same pointers without the look-up: HIP is asked, so that the numbers above mean something.
        // SAFETY: requires memory of that device that nobody else uses; holds for bytes of the pool, which is not borrowed.
        let plain = unsafe { DeviceSliceMut::from_raw_parts(pool.at(80_001), 511, pool.device) };
        file.read_exact_at(plain, 0).unwrap();
        assert!(lookups() > before);
        assert_eq!(registrations(), 1);
        drop(registered);
    });
}

/// HF-BUF-13, HF-READ-19, SND-12: a base with too short a length would be an error, so the right one is found.
#[test]
fn of_several_registrations_the_one_that_contains_the_bytes_is_met() {
    shimmed("pool::of_several_registrations_the_one_that_contains_the_bytes_is_met", &[], || {
        let scratch = Scratch::new();
        let content = pattern(40_000, 2);
        let driver = Driver::open().unwrap();
        let file = open(&driver, &scratch.file("data", &content));
        let pool = Pool::new(50_000);
        let left = pool.register(&driver, 10_000, 10_000);
        let right = pool.register(&driver, 20_000, 10_000);
        let inner = pool.register(&driver, 12_000, 500);

        let before = lookups();
        for (offset, len) in [(10_000, 10_000), (20_000, 10_000), (12_000, 500), (12_100, 501), (19_999, 1)] {
            pool.read(&file, offset, len).unwrap();
            assert!(pool.holds(offset, &content[..len]));
        }
        assert_eq!(lookups(), before);
        // In none of them, or in no single one.
        for (offset, len) in [(0, 5000), (9999, 2), (19_999, 2), (29_000, 1001), (5000, 40_000)] {
            let before = lookups();
            pool.read(&file, offset, len).unwrap();
            assert!(lookups() > before);
            assert!(pool.holds(offset, &content[..len]));
        }
        let before = lookups();
        drop(inner);
        pool.read(&file, 12_100, 300).unwrap();
        assert_eq!(lookups(), before, "the wider one still contains them");
        drop(left);
        pool.read(&file, 12_100, 300).unwrap();
        assert!(lookups() > before, "what is deregistered is not met any more");
        drop(right);
    });
}

/// HF-READ-18, SND-12.
#[test]
fn a_slice_outlives_its_registration() {
    let scratch = Scratch::new();
    let content = pattern(10_000, 3);
    let driver = Driver::open().unwrap();
    let file = open(&driver, &scratch.file("data", &content));
    let pool = Pool::new(30_000);
    let registered = pool.register(&driver, 5000, 20_000);
    // SAFETY: requires memory of that device that nobody else uses; holds for bytes of the pool, which is not borrowed.
    let mut slice = unsafe { RegisteredSliceMut::from_raw_parts(pool.at(15_000), 10_000, pool.device) };
    drop(registered);
    file.read_exact_at(&mut slice, 0).unwrap();
    assert!(pool.holds(15_000, &content));
    // The base of the old registration now has a shorter one: an error, as the length of a registration is enforced.
    let short = pool.register(&driver, 5000, 100);
    let error = file.read_at(&mut slice, 0).unwrap_err();
    assert_eq!((error.kind(), error.op_error()), (ErrorKind::InvalidInput, Some(OpError::InvalidValue)));
    drop(short);
}

/// SND-12: regions of a raw pool, each read into by a thread of its own.
#[test]
fn regions_of_a_pool_meet_its_registration() {
    shimmed("pool::regions_of_a_pool_meet_its_registration", &[], || {
        const PIECE: usize = 10_007;
        let scratch = Scratch::new();
        let content = pattern(100_000, 4);
        let driver = Driver::open().unwrap();
        let file = open(&driver, &scratch.file("data", &content));
        let pool = Pool::new(content.len() + 3);
        let regions = pool.register(&driver, 3, content.len()).into_regions(PIECE).unwrap();
        let counted: Option<Stats> = hipfile::stats().ok();
        let before = lookups();
        let read = |(index, mut region): (usize, Region)| {
            let all = region.slice_mut(..).unwrap();
            file.read_exact_at(all, (index * PIECE) as u64).map(|()| region)
        };
        let mut regions: Vec<Region> = std::thread::scope(|scope| {
            let readers: Vec<_> = regions.enumerate().map(|piece| scope.spawn(|| read(piece))).collect();
            readers.into_iter().map(|reader| reader.join().unwrap().unwrap()).collect()
        });
        assert_eq!(lookups(), before);
        if let Some(counted) = counted {
            let reads = hipfile::stats().unwrap().since(counted).reads;
            assert_eq!((reads.operations, reads.bytes), (10, content.len() as u64));
        }
        let mut all = regions.remove(0);
        for region in regions {
            all.unsplit(region).unwrap();
        }
        assert_eq!(all.slice(..).unwrap().as_device().to_vec().unwrap(), content);
        let registered = all.try_into_registered::<RawMemory>().unwrap();
        registered.deregister().unwrap();
    });
}

/// SND-12: transfers that are put on a stream or handed to a batch meet the registration too.
#[test]
fn submitted_transfers_meet_the_registration() {
    shimmed("pool::submitted_transfers_meet_the_registration", &[], || {
        const PIECE: usize = 5003;
        let scratch = Scratch::new();
        let content = pattern(4 * PIECE, 5);
        let driver = Driver::open().unwrap();
        let file = Arc::new(open(&driver, &scratch.file("data", &content)));
        let pool = Pool::new(9 + content.len());
        let registered = pool.register(&driver, 9, content.len());
        let before = lookups();

        // SAFETY: requires memory of that device that nobody else uses; holds for bytes of the pool, which is not borrowed.
        let slice = unsafe { RegisteredSliceMut::from_raw_parts(pool.at(1000), PIECE, pool.device) };
        let stream = Stream::new().unwrap();
        let transfer = stream.scope(|scope| file.read_at_in(scope, slice, 7)).unwrap();
        assert_eq!(transfer.result().unwrap().unwrap(), PIECE);
        assert_eq!(lookups(), before, "on a stream");
        assert!(pool.holds(1000, &content[7..7 + PIECE]));

        let regions = registered.into_regions(PIECE).unwrap().enumerate();
        let reads = regions.map(|(index, region)| file.read_owned(&stream, region, (index * PIECE) as u64));
        let reads: Vec<OwnedTransfer> = reads.collect();
        let regions: Vec<Region> = reads.into_iter().map(|read| read.wait().unwrap().region).collect();
        assert_eq!(lookups(), before, "owned");
        assert!(pool.holds(9, &content));

        if !hipfile::supports(Feature::Batch).unwrap() {
            println!("no batches: this libhipfile has none");
            return;
        }
        let mut batch = Batch::new(&driver, 4).unwrap();
        let offset = |index| (content.len() - (index + 1) * PIECE) as u64;
        let requests = regions.into_iter().enumerate();
        let requests = requests.map(|(index, region)| Request::read(&file, region, offset(index)));
        batch.submit(requests).unwrap();
        batch.wait(4, None).unwrap();
        while let Some(completion) = batch.try_next().unwrap() {
            assert_eq!(completion.result.unwrap(), PIECE);
        }
        assert_eq!(lookups(), before, "in a batch");
        let turned: Vec<u8> = content.chunks(PIECE).rev().flatten().copied().collect();
        assert!(pool.holds(9, &turned));
    });
}
