//! What entry points are called with, on another device than the current one; and what a process must not lose.

use std::any::Any;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hipfile::alloc::{self, Device, DeviceBuffer, Event, PinnedBuffer, Stream};
use hipfile::{
    Batch, Driver, FileHandle, OpenOptions, OwnedTransfer, Region, Registered, RegisteredStream, Replacement,
    Request, StreamFlags,
};
use hipfile_tests::raw;

use crate::entry::{Outcome, kept};

/// Bytes of each memory and of the file.
pub const LEN: usize = 16 << 10;

/// The device that is current, and the one on which everything else is.
pub const CURRENT: u32 = 0;
pub const OTHER: u32 = 1;

/// The largest alignment in use.
const MOST_PADDING: usize = 64 << 10;

/// What may be taken away is an `Option`.
pub struct Stage {
    /// What was made or given back, and is dropped before all else.
    pub made: Vec<Box<dyn Any + Send>>,
    pub batch: Option<Batch>,
    pub registered_stream: Option<RegisteredStream>,
    pub registered: Option<Registered<DeviceBuffer>>,
    pub region: Option<Region>,
    pub second_region: Option<Region>,
    pub file: Option<Arc<FileHandle>>,
    /// There if an entry point needs one.
    pub replacement: Option<Replacement>,
    pub driver: Option<Driver>,
    pub events: Option<[Event; 2]>,
    pub stream: Option<Stream>,
    pub buffer: Option<DeviceBuffer>,
    pub host: Option<PinnedBuffer>,
    pub host_bytes: Vec<u8>,
    pub path: PathBuf,
}

impl Stage {
    /// With a file in this folder.
    pub fn new(folder: &Path) -> Self {
        let path = folder.join("data");
        fs::write(&path, vec![7; LEN]).expect("a file");
        let driver = Driver::open().expect("a driver");
        let file = OpenOptions::new().read(true).write(true).open(&driver, &path).expect("a file");
        let _other = Device::new(OTHER).and_then(Device::make_current).expect("two devices");
        let memory = || DeviceBuffer::with_alignment(LEN, 4096).expect("memory");
        let region = || driver.register(memory()).expect("a registration").into_region();
        let events = [(); 2].map(|()| Event::timed().expect("an event"));
        for event in &events {
            event.record(alloc::StreamRef::default_of(event.device())).expect("a record");
            event.synchronize().expect("an end");
        }
        let stream = Stream::new().expect("a stream");
        let registered_stream =
            RegisteredStream::new(&driver, Stream::new().expect("a stream"), StreamFlags::FIXED_VALUES);
        Self {
            made: Vec::new(),
            batch: Some(Batch::new(&driver, 4).expect("a batch")),
            registered_stream: Some(registered_stream.expect("a registration")),
            registered: Some(driver.register(memory()).expect("a registration")),
            region: Some(region()),
            second_region: Some(region()),
            file: Some(Arc::new(file)),
            replacement: None,
            driver: Some(driver.clone()),
            events: Some(events),
            stream: Some(stream),
            buffer: Some(memory()),
            host: Some(PinnedBuffer::zeroed(LEN).expect("memory")),
            host_bytes: vec![3; LEN],
            path,
        }
    }

    /// Takes away all that keeps the driver open, and so the driver, also where closing failed before.
    pub fn close(&mut self) {
        self.made.clear();
        (self.batch, self.registered_stream, self.registered) = (None, None, None);
        (self.region, self.second_region, self.file, self.driver) = (None, None, None, None);
        while raw::count() > 0 {
            assert_eq!(raw::driver_close(), (0, 0), "the driver is closed");
        }
    }

    pub fn driver(&self) -> &Driver {
        self.driver.as_ref().expect("it is there")
    }

    pub fn file(&self) -> &Arc<FileHandle> {
        self.file.as_ref().expect("it is there")
    }

    pub fn stream(&self) -> &Stream {
        self.stream.as_ref().expect("it is there")
    }

    /// The file, and the memory that is registered.
    pub fn file_and_memory(&mut self) -> (Arc<FileHandle>, &mut Registered<DeviceBuffer>) {
        (Arc::clone(self.file()), self.registered.as_mut().expect("it is there"))
    }

    /// A read and a write.
    pub fn requests(&mut self) -> Vec<Request> {
        let [one, two] =
            [self.region.take(), self.second_region.take()].map(|region| region.expect("it is there"));
        vec![Request::read(self.file(), one, 0), Request::write(self.file(), two, LEN as u64)]
    }

    /// Waits for a transfer and keeps what it gives back.
    pub fn ended(&mut self, transfer: OwnedTransfer) -> Outcome {
        match transfer.wait() {
            Ok(done) => kept(self, done.region),
            Err(failed) => {
                let (error, region) = failed.into_parts();
                kept(self, region)?;
                Err(error.into())
            }
        }
    }

    pub fn buffer(&mut self) -> &mut DeviceBuffer {
        self.buffer.as_mut().expect("it is there")
    }
}

/// What this process holds outside any stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Holdings {
    descriptors: usize,
    /// Names in the folder of the file.
    names: usize,
    /// Free bytes of both devices.
    free: [usize; 2],
    /// Opens of the driver.
    opens: i64,
    /// Allocations leaked on purpose, and their bytes.
    leaked: (usize, usize),
}

impl Holdings {
    pub fn now(folder: &Path) -> Self {
        let count = |folder: &Path| fs::read_dir(folder).expect("a folder").count();
        let free = [CURRENT, OTHER]
            .map(|ordinal| Device::new(ordinal).and_then(Device::memory_info).expect("a device").free);
        let leaked = alloc::leaked();
        Self {
            descriptors: count(Path::new("/proc/self/fd")),
            names: count(folder),
            free,
            opens: raw::count(),
            leaked: (leaked.allocations as usize, leaked.bytes as usize),
        }
    }

    /// Allocations leaked since.
    pub fn leaks_since(self, before: Self) -> usize {
        self.leaked.0 - before.leaked.0
    }

    /// What went since `before` without being counted as leaked; the driver may be `left_open`. The thread that ends operations
    /// may be at it still.
    pub fn lost_since(before: Self, folder: &Path, left_open: bool) -> Result<Self, String> {
        let patience = Instant::now() + Duration::from_secs(3);
        loop {
            let now = Self::now(folder);
            let missing: usize =
                before.free.iter().zip(now.free).map(|(before, now)| before.saturating_sub(now)).sum();
            let leaks = now.leaks_since(before);
            // An allocation is larger than what it is for, by its alignment; and what leaks keeps its file and driver.
            let accounted = missing <= now.leaked.1 - before.leaked.1 + leaks * MOST_PADDING;
            let closed = left_open || now.opens <= before.opens;
            let kept =
                leaks > 0 || closed && now.descriptors <= before.descriptors && now.names <= before.names;
            if accounted && kept {
                return Ok(now);
            }
            if Instant::now() > patience {
                return Err(format!("lost: {before:?} became {now:?}"));
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}
