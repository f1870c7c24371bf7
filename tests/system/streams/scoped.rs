//! Transfers that borrow, in scopes.

use hipfile::alloc::{Device, DeviceBuffer, Stream};
use hipfile::{ErrorKind, OpError, OpenOptions, ScopedTransfer, StreamFlags};
use hipfile_tests::isolate::isolated;
use hipfile_tests::soft;

use super::{FALLBACK, PAGE, World, bytes, combinations, only_fast};
use crate::common::{filled, pattern};

fn moved(transfer: &ScopedTransfer) -> usize {
    transfer.result().expect("the scope has ended").unwrap()
}

/// Reads and writes of registered memory, plain memory and regions in one scope, in order.
fn there_and_back() {
    let world = World::new(8 * PAGE);
    let new = pattern(PAGE, 44);
    for flags in combinations() {
        let stream = world.stream(flags);
        let mut registered = world.driver.register(filled(2 * PAGE, 0)).unwrap();
        let mut plain = filled(PAGE, 0);
        let mut region = world.region(PAGE, 0);
        let mut again = filled(PAGE, 0);
        let source = DeviceBuffer::from_host(&new).unwrap();
        let (first, second) = registered.slice_mut(..).unwrap().split_at_mut(PAGE).unwrap();
        let transfers = stream.stream().scope(|scope| -> hipfile::Result<_> {
            let page = PAGE as u64;
            Ok([
                world.file.read_at_in(scope, first, 0)?,
                world.file.read_at_in(scope, second, page)?,
                world.file.read_at_in(scope, plain.slice_mut(..)?, 2 * page)?,
                world.file.read_at_in(scope, region.slice_mut(..)?, 3 * page)?,
                world.file.write_at_in(scope, source.slice(..)?, 5 * page)?,
                world.file.read_at_in(scope, again.slice_mut(..)?, 5 * page)?,
            ])
        });
        assert_eq!(transfers.unwrap().each_ref().map(moved), [PAGE; 6], "{flags:?}");
        assert!(registered.memory().to_vec().unwrap() == world.content[..2 * PAGE]);
        assert!(plain.to_vec().unwrap() == world.content[2 * PAGE..3 * PAGE]);
        assert!(bytes(&region) == world.content[3 * PAGE..4 * PAGE]);
        assert!(again.to_vec().unwrap() == new, "what was written before was read");
    }
}

#[test]
fn on_the_fallback() {
    isolated("streams::scoped::on_the_fallback", &FALLBACK, there_and_back);
}

#[test]
fn on_the_fast_path() {
    only_fast("streams::scoped::on_the_fast_path", there_and_back);
}

#[test]
fn with_0_2_and_0_4() {
    for version in ["0.2", "0.4"] {
        let environment = [("SOFT_ROCM_HIPFILE_VERSION", version)];
        soft::only("streams::scoped::with_0_2_and_0_4", &environment, there_and_back);
    }
}

#[test]
fn results_come_with_a_wait() {
    let world = World::new(PAGE + 100);
    let (mut a, mut b) = (filled(2 * PAGE, 0), filled(PAGE, 0));
    let stream = Stream::new().unwrap();
    let (first, second) = stream.scope(|scope| {
        let first = world.file.read_at_in(scope, a.slice_mut(..).unwrap(), PAGE as u64).unwrap();
        assert!(first.result().is_none());
        scope.synchronize().unwrap();
        assert_eq!(moved(&first), 100, "short at the end of the file");
        let second = world.file.read_at_in(scope, b.slice_mut(..).unwrap(), 2 * PAGE as u64).unwrap();
        assert!(second.result().is_none());
        assert_eq!(moved(&first), 100);
        (first, second)
    });
    assert_eq!((moved(&first), moved(&second)), (100, 0));
    assert!(a.to_vec().unwrap()[..100] == world.content[PAGE..]);
    let text = format!("{second:?}");
    assert!(text.contains("ScopedTransfer") && text.contains("Some(Ok(0))"), "{text}");
}

/// SND-13, SND-12
#[test]
fn what_is_refused_or_empty_is_not_put_on_the_stream() {
    let two = [("SOFT_ROCM_DEVICE_COUNT", "2")];
    soft::only("streams::scoped::what_is_refused_or_empty_is_not_put_on_the_stream", &two, || {
        let world = World::new(PAGE);
        let mut memory = filled(PAGE, 7);
        let stream = Stream::new().unwrap();
        let other = {
            let _guard = Device::new(1).unwrap().make_current().unwrap();
            Stream::new().unwrap()
        };
        soft::plan_hipfile("hipFileReadAsync:hipfile=5001;hipFileWriteAsync:hipfile=5001");
        stream.scope(|scope| {
            let empty = world.file.write_at_in(scope, memory.slice(..0).unwrap(), 3).unwrap();
            assert_eq!(moved(&empty), 0);
            let error = world.file.write_at_in(scope, memory.slice(..).unwrap(), u64::MAX).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidInput);
        });
        let error =
            other.scope(|scope| world.file.read_at_in(scope, memory.slice_mut(..).unwrap(), 0)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        let text = error.to_string();
        assert!(
            text.ends_with(" at offset 0, 4096 bytes: the memory is on device 0 and the stream on device 1"),
            "{text}"
        );
        assert_eq!(Device::current().unwrap().ordinal(), 0);
        assert_eq!(memory.to_vec().unwrap(), [7; PAGE]);
    });
}

/// SND-01: after a failed submission the scope keeps what it was given, and ends as always.
#[test]
fn failed_submissions_and_transfers_are_told() {
    soft::only("streams::scoped::failed_submissions_and_transfers_are_told", &FALLBACK, || {
        let world = World::new(PAGE);
        let folder = OpenOptions::new().read(true).open(&world.driver, "/").unwrap();
        let mut memory = filled(PAGE, 7);
        let stream = Stream::new().unwrap();
        soft::plan_hipfile("hipFileReadAsync:hipfile=5030@1");
        let error =
            stream.scope(|scope| world.file.read_at_in(scope, memory.slice_mut(..).unwrap(), 0)).unwrap_err();
        assert_eq!(error.op_error(), Some(OpError::InternalError));

        let transfer =
            stream.scope(|scope| folder.read_at_in(scope, memory.slice_mut(..).unwrap(), 0)).unwrap();
        for _ in 0..2 {
            let error = transfer.result().unwrap().unwrap_err();
            assert_eq!((error.kind(), error.os_error()), (ErrorKind::Os, None));
            assert_eq!(
                error.to_string(),
                "read / at offset 0, 4096 bytes: a system call failed, and on a stream the library does not tell how (-1)"
            );
        }
        assert!(world.file_content() == world.content);
        assert_eq!(memory.to_vec().unwrap(), [7; PAGE]);
    });
}

/// What a panic leaves is waited for: the memory can be used after it was caught.
#[test]
fn a_panic_in_the_scope_waits_too() {
    let world = World::new(4 * PAGE);
    let mut memory = filled(4 * PAGE, 0);
    let stream = world.stream(StreamFlags::FIXED_VALUES);
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        stream.stream().scope(|scope| {
            let _transfer = world.file.read_at_in(scope, memory.slice_mut(..).unwrap(), 0).unwrap();
            panic!("on purpose");
        })
    }));
    assert!(caught.is_err());
    assert!(memory.to_vec().unwrap() == world.content);
}
