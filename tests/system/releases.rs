//! Earlier releases of libhipfile: what they lack is refused by name, the rest works.

use hipfile::alloc::DeviceBuffer;
use hipfile::{Driver, ErrorKind, Feature, Version};
use hipfile_tests::isolate::isolated;

use crate::common::{Scratch, open, pattern, software};

/// What holds with a libhipfile from before 0.5.
fn without_batches_and_statistics(minor: u32) {
    assert_eq!(hipfile::version().unwrap(), Version { major: 0, minor, patch: 0 });
    let of_0_5 = [Feature::Batch, Feature::Stats, Feature::SizeHistograms, Feature::AsyncFastPath];
    for feature in of_0_5 {
        assert!(!hipfile::supports(feature).unwrap(), "{feature:?}");
    }
    for feature in [Feature::Properties, Feature::Parameters, Feature::HostMemory] {
        assert!(!hipfile::supports(feature).unwrap(), "{feature:?} in no release");
    }
    assert!(hipfile::supports(Feature::Async).unwrap());
    let expected = format!("0.{minor}.0");
    for refused in [
        hipfile::stats().unwrap_err(),
        hipfile::device_stats().unwrap_err(),
        hipfile::size_histograms().unwrap_err(),
    ] {
        assert_eq!(refused.kind(), ErrorKind::Unsupported);
        assert!(refused.to_string().contains(&expected), "{refused} names {expected}");
    }

    let scratch = Scratch::new();
    let content = pattern(100_000, 1);
    let driver = Driver::open().unwrap();
    let file = open(&driver, &scratch.file("data", &content));
    let mut memory = driver.register(DeviceBuffer::zeroed(content.len()).unwrap()).unwrap();
    file.read_exact_at(memory.slice_mut(..).unwrap(), 0).unwrap();
    assert!(memory.memory().to_vec().unwrap() == content);
    file.write_all_at(memory.slice(10..20).unwrap(), 5).unwrap();
}

#[test]
fn the_software_library_as_0_4() {
    if software() {
        let test = "releases::the_software_library_as_0_4";
        isolated(test, &[("SOFT_ROCM_HIPFILE_VERSION", "0.4")], || without_batches_and_statistics(4));
    }
}

#[test]
fn the_software_library_as_0_2() {
    if software() {
        let test = "releases::the_software_library_as_0_2";
        isolated(test, &[("SOFT_ROCM_HIPFILE_VERSION", "0.2")], || without_batches_and_statistics(2));
    }
}

/// HF-ABI-29: the functions of 0.5 are missing, not only refused. `cargo xtask ci` has such a library.
#[test]
fn a_library_without_the_functions_of_0_5() {
    if hipfile::sys::Api::linked().hipFileGetStatsL1.is_some() {
        return println!("skipped: libhipfile has the functions of 0.5");
    }
    without_batches_and_statistics(4);
}
