//! Batches as values, entries and events as the cases write them.

use std::ffi::c_void;
use std::ptr;
use std::time::Duration;

use hipfile_sys::{
    hipFileBatchHandle_t, hipFileBatchMode_t, hipFileHandle_t, hipFileIOEvents_t, hipFileIOParams_t,
    hipFileOpcode_t,
};

use libc::timespec;

use crate::raw::{Answer, OK, answer, api};

/// Event states.
pub const CANCELED: u32 = 8;
pub const COMPLETE: u32 = 16;
pub const FAILED: u32 = 64;

pub const READ: u32 = 0;
pub const WRITE: u32 = 1;

/// The most that one batch takes.
pub const MOST: u32 = 128;

/// What one operation of a batch is given.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    pub handle: usize,
    pub base: usize,
    pub size: usize,
    pub file_offset: i64,
    pub buffer_offset: i64,
    pub opcode: u32,
    pub mode: u32,
    pub cookie: usize,
}

impl Entry {
    /// A read of `size` bytes from the start to the start.
    pub fn new(handle: usize, base: usize, size: usize) -> Self {
        Self { handle, base, size, file_offset: 0, buffer_offset: 0, opcode: READ, mode: 1, cookie: 0 }
    }

    /// The same as a write.
    pub fn write(self) -> Self {
        Self { opcode: WRITE, ..self }
    }

    /// The same from and to other offsets.
    pub fn at(self, file_offset: i64, buffer_offset: i64) -> Self {
        Self { file_offset, buffer_offset, ..self }
    }

    /// The same with a cookie.
    pub fn cookie(self, cookie: usize) -> Self {
        Self { cookie, ..self }
    }

    fn raw(&self) -> hipFileIOParams_t {
        let mut raw = hipFileIOParams_t {
            mode: hipFileBatchMode_t(self.mode),
            fh: self.handle as hipFileHandle_t,
            opcode: hipFileOpcode_t(self.opcode),
            cookie: self.cookie as *mut c_void,
            ..hipFileIOParams_t::default()
        };
        raw.u.batch.devPtr_base = self.base as *mut c_void;
        raw.u.batch.file_offset = self.file_offset;
        raw.u.batch.devPtr_offset = self.buffer_offset;
        raw.u.batch.size = self.size;
        raw
    }
}

/// What became of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Event {
    pub cookie: usize,
    pub status: u32,
    pub ret: isize,
}

/// How long a call of status may wait.
#[derive(Clone, Copy, Debug)]
pub enum Wait {
    Forever,
    For(Duration),
    /// Seconds and nanoseconds as they are.
    Raw(i64, i64),
}

/// Not at all.
pub const AT_ONCE: Wait = Wait::For(Duration::ZERO);

/// A handle. It is not destroyed on drop: what happens at the end is what cases are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batch {
    pub at: usize,
}

impl Batch {
    /// A batch of that capacity.
    pub fn new(capacity: u32) -> Self {
        let mut handle: hipFileBatchHandle_t = ptr::null_mut();
        // SAFETY: requires room for a handle; holds because it is ours.
        assert_eq!(answer(unsafe { (api().hipFileBatchIOSetUp)(&mut handle, capacity) }), OK, "{capacity}");
        assert!(!handle.is_null());
        Self { at: handle as usize }
    }

    fn handle(self) -> hipFileBatchHandle_t {
        self.at as hipFileBatchHandle_t
    }

    /// `hipFileBatchIOSubmit`. The array is overwritten as soon as the call returned.
    pub fn submit(self, entries: &[Entry]) -> Answer {
        self.submit_with(entries, 0)
    }

    /// The same with flags.
    pub fn submit_with(self, entries: &[Entry], flags: u32) -> Answer {
        let mut raw: Vec<_> = entries.iter().map(Entry::raw).collect();
        let (count, array) = (raw.len() as u32, raw.as_mut_ptr());
        // SAFETY: requires that many entries; holds because the vector has them.
        let error = unsafe { (api().hipFileBatchIOSubmit)(self.handle(), count, array, flags) };
        raw.fill(hipFileIOParams_t::default());
        answer(error)
    }

    /// `hipFileBatchIOGetStatus` with room for `room` events; what it answered, the count it left and the events.
    pub fn status(self, min: u32, room: u32, wait: Wait) -> (Answer, u32, Vec<Event>) {
        let untouched = hipFileIOEvents_t {
            cookie: ptr::dangling_mut(),
            status: hipfile_sys::hipFileStatus_t(0x77),
            ret: 0x77,
        };
        let mut events = vec![untouched; room as usize];
        let mut count = room;
        let [seconds, nanoseconds] = match wait {
            Wait::Forever => [0, 0],
            Wait::For(time) => [time.as_secs() as i64, i64::from(time.subsec_nanos())],
            Wait::Raw(seconds, nanoseconds) => [seconds, nanoseconds],
        };
        let mut time = timespec { tv_sec: seconds, tv_nsec: nanoseconds };
        let timeout = if matches!(wait, Wait::Forever) { ptr::null_mut() } else { &raw mut time };
        let array = events.as_mut_ptr();
        // SAFETY: requires room for `count` events; holds because the vector has it.
        let error =
            unsafe { (api().hipFileBatchIOGetStatus)(self.handle(), min, &mut count, array, timeout) };
        let delivered = if answer(error) == OK { count.min(room) as usize } else { 0 };
        assert!(events[delivered..].iter().all(|event| event.ret == 0x77 && event.status.0 == 0x77));
        let events = events[..delivered].iter().map(|event| Event {
            cookie: event.cookie as usize,
            status: event.status.0,
            ret: event.ret as isize,
        });
        (answer(error), count, events.collect())
    }

    /// Waits for `count` events, which must come, and gives them in the order of their cookies.
    pub fn events(self, count: u32) -> Vec<Event> {
        let mut all = Vec::new();
        while all.len() < count as usize {
            let left = count - all.len() as u32;
            let (answer, _, events) = self.status(left, left, Wait::Forever);
            assert_eq!(answer, OK);
            assert!(!events.is_empty(), "{} of {count} events came", all.len());
            all.extend(events);
        }
        all.sort_unstable();
        all
    }

    /// Runs entries, which must all be accepted, and gives their events in the order of their cookies.
    pub fn run(self, entries: &[Entry]) -> Vec<Event> {
        assert_eq!(self.submit(entries), OK);
        self.events(entries.len() as u32)
    }

    /// `hipFileBatchIOCancel`
    pub fn cancel(self) -> Answer {
        // SAFETY: requires nothing; an unknown handle is an error.
        answer(unsafe { (api().hipFileBatchIOCancel)(self.handle()) })
    }

    /// `hipFileBatchIODestroy`
    pub fn destroy(self) {
        // SAFETY: requires nothing; an unknown handle is ignored.
        unsafe { (api().hipFileBatchIODestroy)(self.handle()) }
    }
}
