//! The driver, its settings and statistics, files and registrations.

use std::fs::File;
use std::sync::Arc;

use hipfile::{
    Driver, Feature, FileHandle, OpenOptions, Parameter, Registered, RegisteredStream, StreamFlags,
};

use crate::entry::{About, Entry, Named, Outcome, done, kept};
use crate::stage::{LEN, Stage};

pub fn entries() -> Vec<Entry> {
    let operations: [Named; 30] = [
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
        ("Parameter::get of a size", |_| done(Parameter::MAX_DIRECT_IO.get()?)),
        ("Parameter::get of a flag", |_| done(Parameter::FORCE_COMPAT_MODE.get()?)),
        ("Parameter::get of a text", |_| done(Parameter::LOG_DIR.get()?)),
        ("Driver::register", |stage| {
            let buffer = stage.buffer.take().expect("it is there");
            registered(stage, |driver| driver.register(buffer))
        }),
        ("Driver::register_range", |stage| {
            let buffer = stage.buffer.take().expect("it is there");
            registered(stage, |driver| driver.register_range(buffer, ..LEN / 2))
        }),
        ("Driver::try_register", |stage| {
            let buffer = stage.buffer.take().expect("it is there");
            match stage.driver().try_register(buffer) {
                Ok(registered) => kept(stage, registered),
                Err(failed) => {
                    let (error, buffer) = failed.into_parts();
                    kept(stage, buffer)?;
                    Err(error.into())
                }
            }
        }),
        ("Registered::deregister", |stage| {
            match stage.registered.take().expect("it is there").deregister() {
                Ok(buffer) => kept(stage, buffer),
                Err(failed) => {
                    let (error, registered) = failed.into_parts();
                    kept(stage, registered)?;
                    Err(error.into())
                }
            }
        }),
        ("drop of Registered", |stage| done(stage.registered.take())),
        ("drop of Region", |stage| done(stage.region.take())),
        ("Region::try_into_registered", |stage| {
            let region = stage.region.take().expect("it is there");
            let registered: Registered<hipfile::alloc::DeviceBuffer> =
                region.try_into_registered().expect("it is whole");
            kept(stage, registered)
        }),
        ("RegisteredStream::new", |stage| {
            let stream = stage.stream().clone();
            let stream = RegisteredStream::new(stage.driver(), stream, StreamFlags::empty())?;
            kept(stage, stream)
        }),
        ("RegisteredStream::deregister", |stage| {
            match stage.registered_stream.take().expect("it is there").deregister() {
                Ok(stream) => kept(stage, stream),
                Err(failed) => {
                    let (error, stream) = failed.into_parts();
                    kept(stage, stream)?;
                    Err(error.into())
                }
            }
        }),
        ("drop of RegisteredStream", |stage| done(stage.registered_stream.take())),
    ];
    let of_files: [Named; 9] = [
        ("OpenOptions::open", |stage| {
            let file = OpenOptions::new().read(true).open(stage.driver(), &stage.path)?;
            kept(stage, file)
        }),
        ("FileHandle::try_clone", |stage| {
            let file = stage.file().try_clone()?;
            kept(stage, file)
        }),
        ("FileHandle::alignment", |stage| done(stage.file().alignment()?)),
        ("FileHandle::len", |stage| done(stage.file().len()?)),
        ("FileHandle::set_len", |stage| Ok(stage.file().set_len(9)?)),
        ("FileHandle::sync_data", |stage| Ok(stage.file().sync_data()?)),
        ("FileHandle::sync_all", |stage| Ok(stage.file().sync_all()?)),
        ("FileHandle::preallocate", |stage| done(stage.file().preallocate(0, 1 << 20)?)),
        ("FileHandle::into_fd", |stage| {
            let file = stage.file.take().and_then(Arc::into_inner).expect("nobody else has it");
            kept(stage, file.into_fd())
        }),
    ];
    let without_path: [Named; 2] = [
        ("FileHandle::new", |stage| {
            let file = File::open(&stage.path).expect("it is there");
            match FileHandle::new(stage.driver(), file) {
                Ok(file) => kept(stage, file),
                Err(failed) => {
                    let (error, file) = failed.into_parts();
                    kept(stage, file)?;
                    Err(error.into())
                }
            }
        }),
        ("drop of FileHandle", |stage| done(stage.file.take())),
    ];
    let entries = |about, (name, call)| Entry::new(name, about, call);
    let operations = operations.map(|pair| entries(About::Operation, pair));
    let of_files = of_files.map(|pair| entries(About::File, pair));
    let without_path = without_path.map(|pair| entries(About::Operation, pair));
    operations.into_iter().chain(of_files).chain(without_path).collect()
}

fn registered(
    stage: &mut Stage,
    register: impl FnOnce(&Driver) -> hipfile::Result<Registered<hipfile::alloc::DeviceBuffer>>,
) -> Outcome {
    let registered = register(stage.driver())?;
    kept(stage, registered)
}
