//! Ten thousand reads, each of which owns its region of one pool.

use hipfile::alloc::{DeviceBuffer, InFlight};
use hipfile::{OwnedTransfer, Region, RegisteredStream, Request};
use hipfile_tests::soft;

use crate::counting::allocations;
use crate::scene::{Scene, library_knows};

const READS: usize = 10_000;
const LEN: usize = 64 << 10;
/// Every read is of another place in the file.
const STEP: usize = 4096;
const POOL: usize = 640 << 20;
const IN_FLIGHT: usize = 256;
/// Whose multiples visit every read once.
const ORDERS: [usize; 2] = [7919, 4241];

/// The reads of an order, by index.
fn order(factor: usize) -> impl Iterator<Item = usize> {
    (0..READS).map(move |index| index * factor % READS)
}

#[test]
fn ten_thousand_owned_reads_of_one_pool() {
    soft::only("many::ten_thousand_owned_reads_of_one_pool", &[], || {
        let scene = Scene::new(READS * STEP + LEN);
        let first = scene.stream();
        let before = scene.held(&first);

        let memory = scene.driver.register(DeviceBuffer::new(POOL).unwrap()).unwrap();
        let base = memory.as_ptr();
        let mut regions: Vec<Option<Region>> = memory.into_regions(LEN).unwrap().map(Some).collect();
        let streams: Vec<RegisteredStream> = (0..4).map(|_| scene.stream()).collect();
        let in_flight = InFlight::new(IN_FLIGHT);
        let mut transfers: Vec<Option<OwnedTransfer>> = (0..READS).map(|_| None).collect();

        // What is held cannot make room, so that the bound shows.
        let mut paused: Vec<_> = streams.iter().map(|stream| soft::pause(stream.stream().as_raw())).collect();
        let allocated = allocations();
        for (number, index) in order(ORDERS[0]).enumerate() {
            if number == IN_FLIGHT {
                assert!(in_flight.try_acquire().is_none());
                assert!(transfers.iter().flatten().all(|transfer| !transfer.is_finished()));
                paused.clear();
            }
            let place = in_flight.acquire();
            let region = regions[index].take().unwrap();
            let request = Request::read(&scene.file, region, (index * STEP) as u64).place(place);
            transfers[index] = Some(request.submit(&streams[index % streams.len()]));
        }
        for index in order(ORDERS[1]) {
            let done = transfers[index].take().unwrap().wait().unwrap();
            assert_eq!(done.bytes, LEN);
            regions[index] = Some(done.region);
        }
        let allocated = allocations() - allocated;
        println!("{allocated} heap allocations for {READS} reads");
        assert!(allocated <= READS + READS / 100, "{allocated} heap allocations for {READS} reads");

        for (index, region) in regions.iter().take(READS).enumerate() {
            assert!(scene.has(region.as_ref().unwrap(), index * STEP), "read {index}");
        }
        let mut regions = regions.into_iter().flatten();
        let mut whole = regions.next().unwrap();
        regions.for_each(|region| whole.unsplit(region).unwrap());
        assert_eq!((whole.as_ptr(), whole.len()), (base, POOL));
        let memory = whole.try_into_registered::<DeviceBuffer>().unwrap().deregister().unwrap();
        assert!(!library_knows(base));
        memory.free().unwrap();
        assert_eq!(in_flight.in_use(), 0);
        drop((streams, transfers));
        before.again();
    });
}
