//! What the library counts.

use std::sync::Arc;
use std::time::Duration;

use hipfile::alloc::{Device, DeviceBuffer, Stream};
use hipfile::{Driver, Feature, Observed, SizeHistograms, Stats};
use hipfile_tests::isolate::isolated;

use crate::common::{Scratch, counted, filled, has_ais, open, pattern, software_devices};

/// Runs `body` in a process in which only the file's alignment decides the path, if the library counts.
fn counting(test: &str, devices: &str, body: impl FnOnce()) {
    let environment = [("HIPFILE_UNSUPPORTED_FILE_SYSTEMS", "true"), ("SOFT_ROCM_DEVICE_COUNT", devices)];
    isolated(test, &environment, || match hipfile::supports(Feature::Stats).unwrap() {
        true => body(),
        false => println!("skipped: the library has no statistics"),
    });
}

/// HF-STATS-08, HF-STATS-09, HF-STATS-14.
#[test]
fn the_path_the_time_and_the_registrations_are_counted() {
    counting("stats::the_path_the_time_and_the_registrations_are_counted", "1", || {
        assert_eq!(hipfile::stats().unwrap(), Stats::default());
        let scratch = Scratch::new();
        let driver = Driver::open().unwrap();
        let path = scratch.file("data", &pattern(1 << 20, 1));
        let all = counted(|| {
            let file = open(&driver, &path);
            let mut memory = driver.register(filled(1 << 20, 0)).unwrap();
            let aligned = counted(|| file.read_exact_at(memory.slice_mut(..).unwrap(), 0).unwrap());
            let observed = if has_ais() { Observed::FastPath } else { Observed::Fallback };
            if file.alignment().unwrap().is_some() {
                assert_eq!((aligned.reads.observed(), aligned.reads.unaligned), (observed, 0));
            }
            let unaligned = counted(|| file.write_all_at(memory.slice(1..10).unwrap(), 7).unwrap());
            assert_eq!(unaligned.writes.observed(), Observed::Fallback);
            assert_eq!((unaligned.writes.operations, unaligned.writes.unaligned), (1, 1));
            assert_eq!(unaligned.reads.observed(), Observed::Nothing);
        });
        assert_eq!((all.files_registered, all.memory_registered), (1, 1));
        assert!(all.reads.time > Duration::ZERO, "a mebibyte takes microseconds");
        assert_eq!(all.reads.mean_time(), Some(all.reads.time));
        let rate = u128::from(all.reads.bytes) * 1_000_000 / all.reads.time.as_micros();
        assert_eq!(all.reads.bytes_per_second().map(u128::from), Some(rate));
    });
}

/// HF-STATS-12, HF-STATS-13, HF-STATS-15.
#[test]
fn each_device_has_counters() {
    if !software_devices() {
        return;
    }
    counting("stats::each_device_has_counters", "3", || {
        assert!(hipfile::device_stats().unwrap().is_empty());
        let scratch = Scratch::new();
        let driver = Driver::open().unwrap();
        let file = open(&driver, &scratch.file("data", &pattern(4096, 1)));
        for (ordinal, reads) in [(0, 2), (2, 3)] {
            let _current = Device::new(ordinal).unwrap().make_current().unwrap();
            let mut memory = DeviceBuffer::new(100).unwrap();
            for _ in 0..reads {
                file.read_exact_at(memory.slice_mut(..).unwrap(), 0).unwrap();
            }
        }
        let devices = hipfile::device_stats().unwrap();
        let counted: Vec<_> = devices
            .iter()
            .map(|device| (device.ordinal, device.uuid, device.reads.operations, device.reads.bytes))
            .collect();
        assert_eq!(counted, [(0, None, 2, 200), (2, None, 3, 300)]);
        let all = hipfile::stats().unwrap().reads;
        let [first, last] = devices.as_slice() else { panic!("{devices:?}") };
        assert_eq!(all.time, first.reads.time + last.reads.time);
        assert_eq!((all.operations, all.fallback, all.unaligned), (5, 5, 5));
    });
}

/// HF-STATS-11, HF-STATS-28: what 0.5 has fields for and does not count.
#[test]
fn sizes_and_transfers_on_streams_are_not_counted() {
    counting("stats::sizes_and_transfers_on_streams_are_not_counted", "1", || {
        assert!(hipfile::supports(Feature::SizeHistograms).unwrap());
        let scratch = Scratch::new();
        let driver = Driver::open().unwrap();
        let file = Arc::new(open(&driver, &scratch.file("data", &pattern(4096, 1))));
        let region = driver.register(DeviceBuffer::new(4096).unwrap()).unwrap().into_region();
        let stats = counted(|| {
            let done = file.read_owned(&Stream::new().unwrap(), region, 0).wait().unwrap();
            assert_eq!(done.bytes, 4096);
        });
        assert_eq!(stats, Stats::default());
        let mut memory = filled(4096, 0);
        file.read_exact_at(memory.slice_mut(..).unwrap(), 0).unwrap();
        assert_eq!(hipfile::size_histograms().unwrap(), SizeHistograms::default());
    });
}
