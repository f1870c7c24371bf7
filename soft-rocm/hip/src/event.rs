//! Events: places in the work of streams.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};
use std::time::Instant;

use crate::bindings::{hipError_t, hipErrorInvalidHandle};
use crate::stream::{Point, Stream};

/// The handle of the first event; none is used again. No memory is ever there.
const FIRST_HANDLE: usize = 0x0045_0000_0000_0000;

/// An event.
#[derive(Debug)]
pub(crate) struct Event {
    /// Its device.
    pub(crate) device: u32,
    /// Flags of hipEventCreateWithFlags.
    pub(crate) flags: u32,
    recorded: Mutex<Option<Recorded>>,
}

/// What an event recorded.
#[derive(Clone, Debug)]
pub(crate) struct Recorded {
    /// The stream.
    pub(crate) stream: Arc<Stream>,
    /// The operation that notes the time.
    pub(crate) point: Point,
    /// The time.
    pub(crate) stamp: Arc<Stamp>,
}

/// When a stream passed an event.
#[derive(Debug, Default)]
pub(crate) struct Stamp(AtomicU64);

impl Stamp {
    /// Notes the time.
    pub(crate) fn set(&self) {
        static START: OnceLock<Instant> = OnceLock::new();
        let nanoseconds = START.get_or_init(Instant::now).elapsed().as_nanos();
        self.0.store(u64::try_from(nanoseconds).unwrap_or(u64::MAX), Ordering::Release);
    }

    /// Milliseconds from an earlier one to this.
    pub(crate) fn since(&self, start: &Stamp) -> f32 {
        let nanoseconds = |stamp: &Stamp| stamp.0.load(Ordering::Acquire) as f64;
        ((nanoseconds(self) - nanoseconds(start)) / 1e6) as f32
    }
}

impl Event {
    /// What it recorded last.
    pub(crate) fn recorded(&self) -> Option<Recorded> {
        self.recorded.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Makes `record` the last one.
    pub(crate) fn record(&self, recorded: Recorded) {
        *self.recorded.lock().unwrap_or_else(PoisonError::into_inner) = Some(recorded);
    }
}

/// All events by handle.
#[derive(Debug)]
pub(crate) struct Events {
    handles: RwLock<HashMap<usize, Arc<Event>>>,
    next: AtomicUsize,
}

impl Events {
    /// No events.
    pub(crate) fn new() -> Events {
        Events { handles: RwLock::default(), next: AtomicUsize::new(FIRST_HANDLE) }
    }

    /// Creates one and answers its handle.
    pub(crate) fn create(&self, device: u32, flags: u32) -> usize {
        let handle = self.next.fetch_add(1, Ordering::Relaxed);
        let event = Arc::new(Event { device, flags, recorded: Mutex::new(None) });
        self.handles.write().unwrap_or_else(PoisonError::into_inner).insert(handle, event);
        handle
    }

    /// The event of a handle.
    pub(crate) fn find(&self, handle: usize) -> Result<Arc<Event>, hipError_t> {
        let handles = self.handles.read().unwrap_or_else(PoisonError::into_inner);
        handles.get(&handle).map(Arc::clone).ok_or(hipErrorInvalidHandle)
    }

    /// Forgets an event.
    pub(crate) fn destroy(&self, handle: usize) -> Result<(), hipError_t> {
        let mut handles = self.handles.write().unwrap_or_else(PoisonError::into_inner);
        handles.remove(&handle).map(|_| ()).ok_or(hipErrorInvalidHandle)
    }
}
