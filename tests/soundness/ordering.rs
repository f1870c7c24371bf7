//! SND-11: what waits for a stream and what does not, on streams that begin only when they are asked or waited for.

use std::fs;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};

use hipfile::alloc::{DeviceBuffer, DeviceSlice, Event};
use hipfile::{After, FileHandle, RegisteredStream, StreamFlags};
use hipfile_tests::soft;

use crate::support::{Prepared, Watched, pattern, prepared, stream};

const SIZE: usize = 16 * 1024;
const LAZY: (&str, &str) = ("SOFT_ROCM_STREAMS", "lazy");

/// SND-11. A blocking write sees what the stream has not done yet; one that is told what to wait for does not.
#[test]
fn blocking_transfers_wait_for_what_they_are_told() {
    fn check(prepared: &Prepared, value: u8, after: impl After, memory: DeviceSlice<'_>) {
        let Prepared { file, path, .. } = prepared;
        let before = value - 1;
        assert_eq!(file.write_at(memory, 0).unwrap(), SIZE);
        assert!(fs::read(path).unwrap().iter().all(|byte| *byte == before), "it waited for a stream");
        assert_eq!(file.write_at_after(after, memory, 0).unwrap(), SIZE);
        assert!(fs::read(path).unwrap().iter().all(|byte| *byte == value), "it did not wait");
    }
    soft::only("ordering::blocking_transfers_wait_for_what_they_are_told", &[LAZY], || {
        let prepared = prepared(&[0; SIZE]);
        let stream = RegisteredStream::new(&prepared.driver, stream(), StreamFlags::empty()).unwrap();
        let memory = DeviceBuffer::zeroed(SIZE).unwrap();
        let (address, device) = (memory.as_ptr(), memory.device());
        // SAFETY: requires live device memory that is not written as the reader does not expect; holds because the buffer
        // stays in the loop below, and what the stream does to it is what is tested.
        let seen = unsafe { DeviceSlice::from_raw_parts(address, SIZE, device) };
        let mut memory = memory;
        for value in 1..=4 {
            stream.stream().scope(|scope| {
                scope.fill(memory.slice_mut(..).unwrap(), value).unwrap();
                let event = Event::new().unwrap();
                event.record(scope.stream()).unwrap();
                match value {
                    1 => check(&prepared, value, scope.stream(), seen),
                    2 => check(&prepared, value, stream.stream(), seen),
                    3 => check(&prepared, value, &event, seen),
                    _ => check(&prepared, value, &stream, seen),
                }
            });
        }
    });
}

struct Unpark(std::thread::Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// SND-01, SND-11. Owned transfers on streams that begin only when asked end nevertheless, whoever waits for them or nobody.
#[test]
fn transfers_on_lazy_streams_end() {
    soft::only("ordering::transfers_on_lazy_streams_end", &[LAZY], || {
        let prepared = prepared(&pattern(SIZE, 1));
        let read = |file: &Arc<FileHandle>| {
            let (memory, gone) = Watched::new(SIZE);
            let region = prepared.driver.register(memory).unwrap().into_region();
            (file.read_owned(&stream(), region, 0), gone)
        };
        let (transfer, _) = read(&prepared.file);
        assert_eq!(transfer.wait().unwrap().bytes, SIZE);

        let (mut transfer, _) = read(&prepared.file);
        let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
        while Pin::new(&mut transfer).poll(&mut Context::from_waker(&waker)).is_pending() {
            std::thread::park();
        }

        let (transfer, gone) = read(&prepared.file);
        drop(transfer);
        assert!(gone.recv().unwrap() == pattern(SIZE, 1));

        let (mut transfer, gone) = read(&prepared.file);
        while let Err(again) = transfer.try_wait() {
            transfer = again;
        }
        assert!(gone.recv().unwrap() == pattern(SIZE, 1));
    });
}
