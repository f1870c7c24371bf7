//! Properties and parameters: refused where the library has none, as AMD's, and in our units where it has.

use std::ffi::OsString;
use std::fmt;
use std::os::unix::ffi::OsStringExt;
use std::time::Duration;

use hipfile::{
    ControlFlags, Driver, ErrorKind, Feature, FeatureFlags, Observed, OpError, Parameter, ParameterValue,
    Properties, StorageFlags,
};
use hipfile_tests::isolate::{alone, in_child, isolated};

use crate::common::{Scratch, counted, filled, has_ais, open, pattern, software};

const EXTENSIONS: [(&str, &str); 1] = [("SOFT_ROCM_EXTENSIONS", "properties,parameters")];

/// The kind and code of each thing that can be asked or set.
fn refusals(driver: &Driver) -> Vec<hipfile::Error> {
    fn of<T: ParameterValue>(parameter: Parameter<T>, value: T) -> [hipfile::Error; 2] {
        [parameter.get().unwrap_err(), parameter.set(value).unwrap_err()]
    }
    let properties = [
        driver.properties().unwrap_err(),
        driver.set_poll_mode(true, 4096).unwrap_err(),
        driver.set_max_direct_io(4096).unwrap_err(),
        driver.set_max_device_cache(4096).unwrap_err(),
        driver.set_max_pinned_memory(4096).unwrap_err(),
    ];
    let parameters = [
        of(Parameter::MAX_DIRECT_IO, 4096),
        of(Parameter::MAX_BATCH_TIME, Duration::from_secs(1)),
        of(Parameter::FORCE_COMPAT_MODE, true),
        of(Parameter::LOG_DIR, "/tmp".into()),
    ];
    properties.into_iter().chain(parameters.into_iter().flatten()).collect()
}

/// HF-PROP-01 to HF-PROP-05, HF-PARAM-01 to HF-PARAM-06, SND-21.
#[test]
fn a_library_without_them_is_told_from_one_that_fails() {
    alone("settings::a_library_without_them_is_told_from_one_that_fails", || {
        let supported = hipfile::supports(Feature::Properties).unwrap();
        assert!(!(supported && software()), "where nobody asked for it");
        if supported {
            println!("skipped: the library has properties");
            return;
        }
        assert!(!hipfile::supports(Feature::Parameters).unwrap());
        let driver = Driver::open().unwrap();
        let refused = refusals(&driver);
        assert_eq!(refused.len(), 13);
        for error in &refused {
            assert_eq!(
                (error.kind(), error.op_error()),
                (ErrorKind::Unsupported, Some(OpError::InternalError)),
                "{error}"
            );
            assert_eq!(error.raw_code(), Some(5030));
        }
        assert_eq!(
            driver.properties().unwrap_err().to_string(),
            "read driver properties: the library in use has no driver properties, as no release of AMD's has \
             (5030 hipFileInternalError)"
        );
        assert_eq!(
            Parameter::LOG_LEVEL.get().unwrap_err().to_string(),
            "read parameter hipFileParamLoggingLevel: the library in use has no parameters, as no release of \
             AMD's has (5030 hipFileInternalError)"
        );
        assert_eq!(driver.use_count().unwrap(), 1);
    });
}

/// Runs `body` with the software library's properties and parameters.
fn extended(test: &str, body: impl FnOnce()) {
    if software() {
        isolated(test, &EXTENSIONS, body);
    } else {
        println!("{test} skipped: only the software library has properties and parameters");
    }
}

/// HF-PROP-06, HF-PROP-08.
#[test]
fn properties_are_in_bytes_and_what_is_set_shows() {
    extended("settings::properties_are_in_bytes_and_what_is_set_shows", || {
        assert!(hipfile::supports(Feature::Properties).unwrap(), "also while the driver is closed");
        let driver = Driver::open().unwrap();
        let before = driver.properties().unwrap();
        assert_eq!((before.kernel_driver, before.max_direct_io), ((0, 0), 0x7fff_f000));
        assert_eq!(before.control, ControlFlags::ALLOW_COMPAT_MODE);
        assert!(before.features.contains(FeatureFlags::STREAMS));
        let batches = hipfile::supports(Feature::Batch).unwrap();
        assert_eq!(before.features.contains(FeatureFlags::BATCH), batches);
        assert_eq!(before.storage == StorageFlags::NVME, has_ais());
        assert_eq!((before.max_batch_len, before.max_batch_time), (128, Duration::ZERO));
        assert_eq!((before.max_device_cache, before.per_buffer_cache, before.poll_threshold), (0, 0, 0));
        assert!(before.max_pinned_memory > 1 << 50, "no limit");

        driver.set_poll_mode(true, 64 << 10).unwrap();
        driver.set_max_direct_io(1 << 20).unwrap();
        driver.set_max_device_cache(2 << 20).unwrap();
        driver.clone().set_max_pinned_memory(3 << 20).unwrap();
        let after = driver.properties().unwrap();
        assert_eq!(after.control, ControlFlags::POLL_MODE | ControlFlags::ALLOW_COMPAT_MODE);
        let sizes = |properties: Properties| {
            [
                properties.poll_threshold,
                properties.max_direct_io,
                properties.max_device_cache,
                properties.max_pinned_memory,
            ]
        };
        assert_eq!(sizes(after), [64 << 10, 1 << 20, 2 << 20, 3 << 20]);
        driver.close().unwrap();
        assert_eq!(Driver::open().unwrap().properties().unwrap(), before, "until the last close");
    });
}

/// HF-PROP-07, HF-PROP-09.
#[test]
fn sizes_that_are_not_taken_are_named_and_change_nothing() {
    extended("settings::sizes_that_are_not_taken_are_named_and_change_nothing", || {
        let driver = Driver::open().unwrap();
        let before = driver.properties().unwrap();
        let text = |result: hipfile::Result<()>| {
            let error = result.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidInput, "{error}");
            error.to_string()
        };
        assert_eq!(
            text(driver.set_max_direct_io(1000)),
            "set largest direct transfer: 1000 bytes are no whole number of KiB, in which the library counts"
        );
        assert_eq!(
            text(driver.set_max_direct_io(0)),
            "set largest direct transfer: the library does not take 0 bytes: GPU IO driver property value is \
             unsupported (5003 hipFileDriverUnsupportedLimit)"
        );
        assert!(
            text(driver.set_poll_mode(true, 1024)).starts_with("set poll mode: the library does not take")
        );
        assert!(text(driver.set_max_device_cache(5 << 10)).starts_with("set device cache: "));
        assert!(text(driver.set_max_pinned_memory(u64::MAX)).starts_with("set pinned memory: "));
        assert_eq!(driver.properties().unwrap(), before);

        let api = hipfile::sys::api::get().unwrap();
        // SAFETY: requires nothing; it undoes our open, which is what is tested.
        let closed = unsafe { (api.hipFileDriverClose)() };
        assert_eq!(closed.err, hipfile::sys::hipFileSuccess);
        for error in [driver.properties().unwrap_err(), driver.set_max_direct_io(4096).unwrap_err()] {
            assert_eq!((error.kind(), error.raw_code()), (ErrorKind::NotInitialized, Some(5001)));
        }
    });
}

fn round_trip<T: ParameterValue + Clone + PartialEq + fmt::Debug>(parameter: Parameter<T>, value: &T) {
    let default = parameter.get().unwrap();
    assert_ne!(&default, value, "{parameter:?}");
    parameter.set(value.clone()).unwrap();
    assert_eq!(&parameter.get().unwrap(), value, "staged: {parameter:?}");
    let driver = Driver::open().unwrap();
    assert_eq!(&parameter.get().unwrap(), value, "in force: {parameter:?}");
    let late = parameter.set(default.clone()).unwrap_err();
    assert_eq!((late.kind(), late.op_error()), (ErrorKind::Busy, Some(OpError::DriverAlreadyOpen)), "{late}");
    drop(driver);
    assert_eq!(parameter.get().unwrap(), default, "forgotten: {parameter:?}");
}

/// HF-PARAM-07, HF-PARAM-08.
#[test]
fn parameters_are_set_before_the_driver_is_opened() {
    extended("settings::parameters_are_set_before_the_driver_is_opened", || {
        assert!(hipfile::supports(Feature::Parameters).unwrap());
        round_trip(Parameter::STATS_LEVEL, &3);
        round_trip(Parameter::MAX_QUEUE_DEPTH, &17);
        round_trip(Parameter::MAX_IO_THREADS, &18);
        round_trip(Parameter::MIN_SPLIT, &(19 << 10));
        round_trip(Parameter::MAX_REQUEST_PARALLELISM, &20);
        round_trip(Parameter::MAX_DIRECT_IO, &(20 << 10));
        round_trip(Parameter::MAX_DEVICE_CACHE, &(24 << 10));
        round_trip(Parameter::PER_BUFFER_CACHE, &(28 << 10));
        round_trip(Parameter::MAX_PINNED_MEMORY, &(32 << 10));
        round_trip(Parameter::MAX_BATCH_LEN, &33);
        round_trip(Parameter::POLL_THRESHOLD, &(36 << 10));
        round_trip(Parameter::MAX_BATCH_TIME, &Duration::from_millis(1500));
        for parameter in [
            Parameter::POLL_MODE,
            Parameter::ALLOW_COMPAT_MODE,
            Parameter::FORCE_COMPAT_MODE,
            Parameter::AGGRESSIVE_CHECKS,
            Parameter::PARALLEL_IO,
            Parameter::PROFILER_RANGES,
            Parameter::ALLOW_HOST_MEMORY,
            Parameter::PCI_P2PDMA,
            Parameter::PREFER_IO_URING,
            Parameter::FORCE_O_DIRECT,
            Parameter::SKIP_TOPOLOGY_DETECTION,
            Parameter::BYPASS_STREAM_MEMOPS,
        ] {
            round_trip(parameter, &!parameter.get().unwrap());
        }
        round_trip(Parameter::LOG_LEVEL, &"TRACE".into());
        round_trip(Parameter::LOG_FILE, &OsString::from_vec(b"/no such\xff/utf-8".to_vec()));
        round_trip(Parameter::LOG_DIR, &"x".repeat(4095).into());
    });
}

/// HF-PARAM-09.
#[test]
fn values_that_are_not_taken_are_named() {
    extended("settings::values_that_are_not_taken_are_named", || {
        let text = |result: hipfile::Result<()>| {
            let error = result.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidInput, "{error}");
            error.to_string()
        };
        assert_eq!(
            text(Parameter::STATS_LEVEL.set(4)),
            "set parameter hipFileParamProfileStats: the library does not take 4: an argument has an invalid \
             value (5022 hipFileInvalidValue)"
        );
        assert_eq!(
            text(Parameter::POLL_THRESHOLD.set(1025)),
            "set parameter hipFileParamPollthresholdSizeKB: 1025 bytes are no whole number of KiB, in which the \
             library counts"
        );
        assert_eq!(
            text(Parameter::MAX_BATCH_TIME.set(Duration::from_micros(1))),
            "set parameter hipFileParamPropertiesBatchIOTimeoutMs: 1µs is no whole number of milliseconds, in \
             which the library counts"
        );
        assert_eq!(
            text(Parameter::LOG_DIR.set("a\0b".into())),
            "set parameter hipFileParamLogDir: a text for the library can't have a zero byte inside"
        );
        assert!(text(Parameter::LOG_DIR.set("x".repeat(4096).into())).contains("(5022 hipFileInvalidValue)"));
    });
}

/// HF-PARAM-10: what parameters say about paths is done.
#[test]
fn parameters_decide_the_path() {
    extended("settings::parameters_decide_the_path", || {
        let scratch = Scratch::new();
        let path = scratch.file("data", &pattern(4096, 1));
        let mut memory = filled(4096, 0);
        Parameter::FORCE_COMPAT_MODE.set(true).unwrap();
        let driver = Driver::open().unwrap();
        let file = open(&driver, &path);
        let mut read = || file.read_exact_at(memory.slice_mut(..).unwrap(), 0).unwrap();
        if hipfile::supports(Feature::Stats).unwrap() {
            let forced = counted(read).reads;
            assert_eq!((forced.observed(), forced.unaligned), (Observed::Fallback, 0));
        } else {
            read();
        }
        drop((file, driver));

        Parameter::ALLOW_COMPAT_MODE.set(false).unwrap();
        let driver = Driver::open().unwrap();
        assert_eq!(driver.properties().unwrap().control, ControlFlags::empty());
        let file = open(&driver, &path);
        let refused = file.read_at(memory.slice_mut(..100).unwrap(), 0).unwrap_err();
        assert_eq!(refused.op_error(), Some(OpError::InternalError));
    });
}

/// SND-16.
#[test]
fn a_forked_child_neither_asks_nor_sets() {
    extended("settings::a_forked_child_neither_asks_nor_sets", || {
        let driver = Driver::open().unwrap();
        let passed = in_child(|| {
            let asked =
                [hipfile::supports(Feature::Properties).err(), hipfile::supports(Feature::HostMemory).err()];
            let refused = refusals(&driver).into_iter().chain(asked.into_iter().flatten());
            refused.map(|error| error.kind()).eq([ErrorKind::Forked; 15])
        });
        assert!(passed);
    });
}
