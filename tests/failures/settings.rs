//! The library and its driver: versions, features, statistics, properties and parameters.

use std::time::Duration;

use hipfile::{Driver, Feature, Parameter};

use crate::entry::{About, Entry, Named, all, done, kept};
use crate::stage::Stage;

pub fn entries() -> Vec<Entry> {
    let named: &[Named] = &[
        ("version", |_| done(hipfile::version()?)),
        ("supports(Async)", |_| done(hipfile::supports(Feature::Async)?)),
        ("supports(Properties)", |_| done(hipfile::supports(Feature::Properties)?)),
        ("supports(Parameters)", |_| done(hipfile::supports(Feature::Parameters)?)),
        ("supports(HostMemory)", |_| done(hipfile::supports(Feature::HostMemory)?)),
        ("library_path", |_| done(hipfile::library_path()?)),
        ("stats", |_| done(hipfile::stats()?)),
        ("device_stats", |_| done(hipfile::device_stats()?)),
        ("size_histograms", |_| done(hipfile::size_histograms()?)),
        ("Driver::open", |stage| kept(stage, Driver::open()?)),
        ("Driver::use_count", |stage| done(stage.driver().use_count()?)),
        ("Driver::close", |_| Ok(Driver::open()?.close()?)),
        ("Driver::properties", |stage| done(stage.driver().properties()?)),
        ("Driver::set_poll_mode", |stage| Ok(stage.driver().set_poll_mode(true, 4096)?)),
        ("Driver::set_max_direct_io", |stage| Ok(stage.driver().set_max_direct_io(1 << 20)?)),
        ("Driver::set_max_device_cache", |stage| Ok(stage.driver().set_max_device_cache(1 << 20)?)),
        ("Driver::set_max_pinned_memory", |stage| Ok(stage.driver().set_max_pinned_memory(1 << 20)?)),
    ];
    let parameters: &[Named] = &[
        ("Parameter::get of a size", |_| done(Parameter::MAX_DIRECT_IO.get()?)),
        ("Parameter::get of a time", |_| done(Parameter::MAX_BATCH_TIME.get()?)),
        ("Parameter::get of a flag", |_| done(Parameter::FORCE_COMPAT_MODE.get()?)),
        ("Parameter::get of a text", |_| done(Parameter::LOG_DIR.get()?)),
        ("Parameter::set of a size", |_| Ok(Parameter::MAX_DIRECT_IO.set(1 << 20)?)),
        ("Parameter::set of a time", |_| Ok(Parameter::MAX_BATCH_TIME.set(Duration::from_millis(9))?)),
        ("Parameter::set of a flag", |_| Ok(Parameter::AGGRESSIVE_CHECKS.set(true)?)),
        ("Parameter::set of a text", |_| Ok(Parameter::LOG_DIR.set("/tmp".into())?)),
    ];
    // They are taken while the driver is closed.
    let parameters = all(About::Operation, parameters).map(|entry| entry.prepared(Stage::close));
    all(About::Operation, named).chain(parameters).collect()
}
