//! All streams of the process: by handle, by device, by thread; and the order between the default stream and others.
//!
//! A handle is a number that is never used again, so a handle of a destroyed stream is unknown.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::{Point, Settings, Stream, Work};
use crate::bindings::{hipError_t, hipErrorInvalidDevice, hipErrorInvalidHandle, hipStreamDefault};
use crate::runtime::{current_device, streams};

/// Handles as the header writes them.
const DEFAULT: usize = 0;
const LEGACY: usize = 1;
const PER_THREAD: usize = 2;
/// Handles of created streams follow. No memory is ever there, so a program that takes one for a pointer faults.
const FIRST_HANDLE: usize = 0x0053_0000_0000_0000;

/// All streams.
#[derive(Debug)]
pub(crate) struct Streams {
    devices: Vec<Device>,
    handles: RwLock<HashMap<usize, Arc<Stream>>>,
    next: AtomicUsize,
    lazy: bool,
}

#[derive(Debug)]
struct Device {
    default: Arc<Stream>,
    /// The other streams that live or still have work.
    others: RwLock<Vec<Arc<Stream>>>,
}

/// Streams behind hipStreamPerThread, one for each device the thread used.
struct PerThread(RefCell<Vec<Arc<Stream>>>);

thread_local! {
    static THREAD: PerThread = const { PerThread(RefCell::new(Vec::new())) };
}

impl Drop for PerThread {
    fn drop(&mut self) {
        // Not in a forked child, where a thread that does not exist may hold a lock.
        let Ok(streams) = streams() else { return };
        for stream in self.0.get_mut() {
            streams.close(stream);
        }
    }
}

impl Streams {
    /// The default streams of some devices.
    pub(crate) fn new(devices: u32, lazy: bool) -> Streams {
        let device = |device| Device {
            default: Arc::new(Stream::new(Settings { device, flags: hipStreamDefault, priority: 0 }, lazy)),
            others: RwLock::new(Vec::new()),
        };
        Streams {
            devices: (0..devices).map(device).collect(),
            handles: RwLock::default(),
            next: AtomicUsize::new(FIRST_HANDLE),
            lazy,
        }
    }

    /// Creates a stream and answers its handle.
    pub(crate) fn create(&self, settings: Settings) -> Result<usize, hipError_t> {
        let stream = self.add(settings)?;
        let handle = self.next.fetch_add(1, Ordering::Relaxed);
        write(&self.handles).insert(handle, stream);
        Ok(handle)
    }

    /// Destroys a stream. What was submitted is still done.
    pub(crate) fn destroy(&self, handle: usize) -> Result<(), hipError_t> {
        let stream = write(&self.handles).remove(&handle).ok_or(hipErrorInvalidHandle)?;
        self.close(&stream);
        Ok(())
    }

    /// The stream of a handle.
    pub(crate) fn find(&self, handle: usize) -> Result<Arc<Stream>, hipError_t> {
        match handle {
            DEFAULT | LEGACY => Ok(Arc::clone(&self.device(current_device())?.default)),
            PER_THREAD => self.of_thread(current_device()),
            _ => read(&self.handles).get(&handle).map(Arc::clone).ok_or(hipErrorInvalidHandle),
        }
    }

    /// Appends work to a stream, in order with the default stream.
    pub(crate) fn submit(
        &'static self,
        stream: &Arc<Stream>,
        work: Work,
        concurrent: bool,
        mut after: Vec<Point>,
    ) -> Result<Point, hipError_t> {
        after.retain(|point| !point.is_of(stream.queue()));
        let device = self.device(stream.device())?;
        if Arc::ptr_eq(stream, &device.default) {
            device.blocking(|point| after.push(point));
        } else if stream.is_blocking() {
            after.extend(device.default.last());
        }
        stream.push(work, concurrent, after, |stream| self.forget(stream))
    }

    /// What a wait for a stream waits for: for the default stream, the blocking ones too.
    pub(crate) fn pending(&self, stream: &Arc<Stream>) -> Result<Vec<Point>, hipError_t> {
        let device = self.device(stream.device())?;
        let mut points: Vec<Point> = stream.last().into_iter().collect();
        if Arc::ptr_eq(stream, &device.default) {
            device.blocking(|point| points.push(point));
        }
        Ok(points)
    }

    /// Waits for the default stream of a device, and the blocking ones.
    pub(crate) fn wait_for_default(&self, device: u32) -> Result<(), hipError_t> {
        self.pending(&self.device(device)?.default)?.iter().for_each(Point::wait);
        Ok(())
    }

    /// Waits for everything of a device.
    pub(crate) fn drain(&self, device: u32) -> Result<(), hipError_t> {
        self.device(device)?
            .streams()
            .iter()
            .filter_map(|stream| stream.last())
            .for_each(|point| point.wait());
        Ok(())
    }

    /// Waits for everything of all devices.
    pub(crate) fn drain_all(&self) -> Result<(), hipError_t> {
        (0..self.devices.len() as u32).try_for_each(|device| self.drain(device))
    }

    /// Lets lazy streams start all they have been given.
    pub(crate) fn release_all(&self) {
        if self.lazy {
            let streams = self.devices.iter().flat_map(Device::streams);
            streams.for_each(|stream| stream.queue().release(stream.queue().submitted()));
        }
    }

    /// Waits for everything of a device, and answers the first error of its streams.
    pub(crate) fn wait_for_device(&self, device: u32) -> Result<(), hipError_t> {
        let streams = self.device(device)?.streams();
        streams.iter().filter_map(|stream| stream.last()).for_each(|point| point.wait());
        // Each is asked, so that none keeps an error for later.
        streams.iter().map(|stream| stream.take_error()).fold(Ok(()), Result::and)
    }

    fn add(&self, settings: Settings) -> Result<Arc<Stream>, hipError_t> {
        let stream = Arc::new(Stream::new(settings, self.lazy));
        write(&self.device(settings.device)?.others).push(Arc::clone(&stream));
        Ok(stream)
    }

    fn close(&self, stream: &Stream) {
        if !stream.close() {
            self.forget(stream);
        }
    }

    fn forget(&self, stream: &Stream) {
        if let Ok(device) = self.device(stream.device()) {
            write(&device.others).retain(|other| !std::ptr::eq(&**other, stream));
        }
    }

    /// The calling thread's own stream of a device. It is closed when the thread ends.
    fn of_thread(&self, device: u32) -> Result<Arc<Stream>, hipError_t> {
        let find = |streams: &PerThread| {
            let mut streams = streams.0.borrow_mut();
            if let Some(stream) = streams.iter().find(|stream| stream.device() == device) {
                return Ok(Arc::clone(stream));
            }
            let stream = self.add(Settings { device, flags: hipStreamDefault, priority: 0 })?;
            streams.push(Arc::clone(&stream));
            Ok(stream)
        };
        // A thread that is at its end has none any more.
        THREAD.try_with(find).map_err(|_| hipErrorInvalidHandle)?
    }

    fn device(&self, device: u32) -> Result<&Device, hipError_t> {
        self.devices.get(device as usize).ok_or(hipErrorInvalidDevice)
    }
}

impl Device {
    /// All its streams.
    fn streams(&self) -> Vec<Arc<Stream>> {
        let others = read(&self.others);
        [&self.default].into_iter().chain(others.iter()).map(Arc::clone).collect()
    }

    /// The last entries of the blocking streams that are not idle.
    fn blocking(&self, add: impl FnMut(Point)) {
        let others = read(&self.others);
        others.iter().filter(|stream| stream.is_blocking()).filter_map(|stream| stream.last()).for_each(add);
    }
}

fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}
