//! What the library in use can do.

use hipfile::{Driver, ErrorKind, Feature};
use hipfile_tests::isolate::{alone, isolated};

use crate::common::{counted_if_any, software, software_devices};

/// HF-BUF-29: nothing says whether host memory is taken, so the library is tried, and is afterwards as it was.
#[test]
fn host_memory_is_tried_out() {
    let ask = |expected: bool| {
        assert_eq!(hipfile::supports(Feature::HostMemory).unwrap(), expected);
        let driver = Driver::open().unwrap();
        assert_eq!(driver.use_count().unwrap(), 1, "no open is left behind");
        for _ in 0..3 {
            assert_eq!(hipfile::supports(Feature::HostMemory).unwrap(), expected);
        }
        assert_eq!(driver.use_count().unwrap(), 1);
        assert_eq!(hipfile::alloc::leaked(), hipfile::alloc::Leaked::default());
    };
    alone("features::host_memory_is_tried_out", || ask(false));
}

/// HF-BUF-29.
#[test]
fn host_memory_of_a_library_that_takes_it() {
    if software() {
        let environment = [("SOFT_ROCM_EXTENSIONS", "host-memory")];
        isolated("features::host_memory_of_a_library_that_takes_it", &environment, || {
            let ask = || assert!(hipfile::supports(Feature::HostMemory).unwrap());
            let stats = counted_if_any(ask);
            assert!(stats.is_none_or(|stats| stats.memory_registered == 1));
            assert!(!hipfile::supports(Feature::Properties).unwrap());
            assert_eq!(Driver::open().unwrap().use_count().unwrap(), 1);
            assert_eq!(hipfile::alloc::leaked(), hipfile::alloc::Leaked::default());
        });
    }
}

#[test]
fn without_a_device_host_memory_can_not_be_tried() {
    if software_devices() {
        let none = [("SOFT_ROCM_DEVICE_COUNT", "0")];
        isolated("features::without_a_device_host_memory_can_not_be_tried", &none, || {
            let error = hipfile::supports(Feature::HostMemory).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::NoDevice, "{error}");
            assert!(error.to_string().starts_with("ask for a feature: "), "{error}");
            let driver = Driver::open().unwrap();
            assert_eq!(driver.use_count().unwrap(), 1);
        });
    }
}
