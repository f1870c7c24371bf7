//! Live streams and events of the HIP in host memory, which all threads share, and streams that are held or lost.

use core::ffi::{c_int, c_uint, c_void};
use core::ptr;
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use crate::ffi::HostFunction;

/// hipErrorInvalidHandle.
pub const INVALID_HANDLE: c_uint = 400;
/// hipErrorNotReady.
const NOT_READY: c_uint = 600;
/// hipErrorLaunchFailure, after which a device is no more.
pub const LOST: c_uint = 719;

static HANDLES: LazyLock<Mutex<Handles>> = LazyLock::new(Mutex::default);

#[derive(Default)]
pub(super) struct Handles {
    pub(super) streams: HashMap<usize, Stream>,
    pub(super) events: HashMap<usize, Event>,
    last: usize,
    /// Host functions that were refused, by the thread that was told so.
    refused: HashMap<ThreadId, (HostFunction, usize)>,
}

pub(super) struct Stream {
    owner: ThreadId,
    pub(super) flags: c_uint,
    pub(super) priority: c_int,
    held: bool,
    lost: bool,
    /// How much it was given, and how much of that it has done.
    given: u64,
    done: u64,
    functions: Vec<(HostFunction, usize)>,
}

pub(super) struct Event {
    owner: ThreadId,
    /// A stream and how much it had been given.
    recorded: Option<(usize, u64)>,
}

pub(super) fn handles() -> MutexGuard<'static, Handles> {
    HANDLES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Lets `stream` do nothing of what it is given from now on.
pub fn hold(stream: &crate::Stream) {
    handles().streams.get_mut(&stream.as_raw().addr()).unwrap().held = true;
}

/// Lets `stream` do everything, on the calling thread.
pub fn release(stream: &crate::Stream) {
    let functions = {
        let mut handles = handles();
        let stream = handles.streams.get_mut(&stream.as_raw().addr()).unwrap();
        stream.held = false;
        stream.functions.split_off(0)
    };
    for (function, data) in functions {
        // SAFETY: requires a function that may be called once with the data; holds by the promise of who gave it.
        unsafe { function(ptr::with_exposed_provenance_mut(data)) };
    }
    let mut handles = handles();
    let stream = handles.streams.get_mut(&stream.as_raw().addr()).unwrap();
    stream.done = stream.given;
}

/// Lets every question about `stream` and its events be answered with [`LOST`].
pub fn lose(stream: &crate::Stream) {
    handles().streams.get_mut(&stream.as_raw().addr()).unwrap().lost = true;
}

/// Calls the host function that HIP has just refused, with [`LOST`], to call for this thread.
pub fn call_refused() {
    let refused = handles().refused.remove(&thread::current().id());
    let (function, data) = refused.unwrap();
    // SAFETY: requires a function that may be called once with the data; holds by the promise of who gave it.
    unsafe { function(ptr::with_exposed_provenance_mut(data)) };
}

/// Number of live streams and events that the calling thread made.
pub fn streams_and_events() -> (usize, usize) {
    let (handles, me) = (handles(), thread::current().id());
    let streams = handles.streams.values().filter(|stream| stream.owner == me).count();
    (streams, handles.events.values().filter(|event| event.owner == me).count())
}

impl Handles {
    pub(super) fn add_stream(&mut self, flags: c_uint, priority: c_int) -> *mut c_void {
        let owner = thread::current().id();
        let functions = Vec::new();
        let stream =
            Stream { owner, flags, priority, held: false, lost: false, given: 0, done: 0, functions };
        let handle = self.next();
        self.streams.insert(handle, stream);
        ptr::without_provenance_mut(handle)
    }

    pub(super) fn add_event(&mut self) -> *mut c_void {
        let handle = self.next();
        self.events.insert(handle, Event { owner: thread::current().id(), recorded: None });
        ptr::without_provenance_mut(handle)
    }

    fn next(&mut self) -> usize {
        self.last += 16;
        0x5000 + self.last
    }

    pub(super) fn stream_known(&self, stream: *mut c_void) -> c_uint {
        if stream.is_null() || self.streams.contains_key(&stream.addr()) { 0 } else { INVALID_HANDLE }
    }

    pub(super) fn event_known(&self, event: *mut c_void) -> c_uint {
        if self.events.contains_key(&event.addr()) { 0 } else { INVALID_HANDLE }
    }

    /// Whether the stream has done as much as `point`, or everything it was given.
    pub(super) fn stream_state(&self, stream: *mut c_void, point: Option<u64>) -> c_uint {
        match self.streams.get(&stream.addr()) {
            Some(stream) if stream.lost => LOST,
            Some(stream) if stream.done < point.unwrap_or(stream.given) => NOT_READY,
            _ => self.stream_known(stream),
        }
    }

    pub(super) fn event_state(&self, event: *mut c_void) -> c_uint {
        match self.events.get(&event.addr()) {
            Some(Event { recorded: Some((stream, point)), .. }) => {
                self.stream_state(ptr::without_provenance_mut(*stream), Some(*point))
            }
            _ => self.event_known(event),
        }
    }

    pub(super) fn record(&mut self, event: *mut c_void, stream: *mut c_void) -> c_uint {
        if let Some(given_to) = self.streams.get_mut(&stream.addr()) {
            given_to.given += 1;
            given_to.done += u64::from(!given_to.held);
            if let Some(event) = self.events.get_mut(&event.addr()) {
                event.recorded = Some((stream.addr(), given_to.given));
            }
        }
        self.stream_known(stream).max(self.event_known(event))
    }

    pub(super) fn refuse(&mut self, function: HostFunction, data: *mut c_void) {
        self.refused.insert(thread::current().id(), (function, data.expose_provenance()));
    }

    /// Keeps the function if the stream is held; else it is for the caller to call.
    pub(super) fn keep(&mut self, stream: *mut c_void, function: HostFunction, data: *mut c_void) -> bool {
        let Some(stream) = self.streams.get_mut(&stream.addr()) else { return false };
        stream.given += 1;
        if stream.held {
            stream.functions.push((function, data.expose_provenance()));
        } else {
            stream.done += 1;
        }
        stream.held
    }
}
