//! Asynchronous and batch I/O of libhipfile and the streams of HIP as plain calls, like [`raw`](crate::raw).

use std::ffi::{CStr, c_int, c_void};
use std::ptr;
use std::time::Duration;

use hipfile_sys::{
    self as sys, hipFileHandle_t, hipFileIOBatchParams_t, hipFileIOEvents_t, hipFileIOParams_t,
    hipFileIOParamsUnion_t, hipStream_t,
};

use crate::raw::{Answer, answer, api};

/// What the pointers of an asynchronous operation lead to. It stays where it is until the stream has passed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    pub size: usize,
    pub file_offset: i64,
    pub buffer_offset: i64,
    /// What became of it.
    pub bytes: isize,
}

impl Slot {
    pub fn new(size: usize, file_offset: i64, buffer_offset: i64) -> Box<Self> {
        Box::new(Self { size, file_offset, buffer_offset, bytes: UNWRITTEN })
    }
}

/// What is in [`Slot::bytes`] until the library writes there.
pub const UNWRITTEN: isize = 0x5555;

/// `hipFileReadAsync` or `hipFileWriteAsync`; `null` leaves out the pointer of that number, in the order of the
/// parameters.
pub fn submit(
    write: bool,
    handle: usize,
    base: usize,
    slot: &mut Slot,
    null: Option<usize>,
    stream: usize,
) -> Answer {
    let call = if write { api().hipFileWriteAsync } else { api().hipFileReadAsync };
    let Slot { size, file_offset, buffer_offset, bytes } = slot;
    let (mut size, mut file_offset): (*mut _, *mut _) = (size, file_offset);
    let (mut buffer_offset, mut bytes): (*mut _, *mut _) = (buffer_offset, bytes);
    match null {
        Some(0) => size = ptr::null_mut(),
        Some(1) => file_offset = ptr::null_mut(),
        Some(2) => buffer_offset = ptr::null_mut(),
        Some(_) => bytes = ptr::null_mut(),
        None => {}
    }
    // SAFETY: requires pointers that are null or stay valid until the stream has passed the operation; holds because
    // callers keep the slot until they have waited for the stream.
    answer(unsafe {
        call(
            handle as hipFileHandle_t,
            base as *mut c_void,
            size,
            file_offset,
            buffer_offset,
            bytes,
            stream as hipStream_t,
        )
    })
}

/// `hipFileStreamRegister`
pub fn stream_register(stream: usize, flags: u32) -> Answer {
    // SAFETY: requires a stream that HIP knows or none; the library looks it up.
    answer(unsafe { (api().hipFileStreamRegister)(stream as hipStream_t, flags) })
}

/// `hipFileStreamDeregister`
pub fn stream_deregister(stream: usize) -> Answer {
    // SAFETY: requires nothing: the stream is looked up.
    answer(unsafe { (api().hipFileStreamDeregister)(stream as hipStream_t) })
}

/// An operation of a batch, with numbers for pointers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    pub write: bool,
    pub handle: usize,
    pub base: usize,
    pub size: usize,
    pub file_offset: i64,
    pub buffer_offset: i64,
    pub mode: u32,
    pub opcode: Option<u32>,
    pub cookie: usize,
}

impl Entry {
    fn params(&self) -> hipFileIOParams_t {
        let batch = hipFileIOBatchParams_t {
            devPtr_base: self.base as *mut c_void,
            file_offset: self.file_offset,
            devPtr_offset: self.buffer_offset,
            size: self.size,
        };
        hipFileIOParams_t {
            mode: sys::hipFileBatchMode_t(self.mode),
            u: hipFileIOParamsUnion_t { batch },
            fh: self.handle as hipFileHandle_t,
            opcode: sys::hipFileOpcode_t(self.opcode.unwrap_or(u32::from(self.write))),
            cookie: self.cookie as *mut c_void,
        }
    }
}

/// What `hipFileBatchIOGetStatus` said of an operation; `ret` as a signed number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Event {
    pub cookie: usize,
    pub status: u32,
    pub ret: isize,
}

/// `hipFileBatchIOSetUp`: the answer and the handle, which is 0 where none was written.
pub fn batch_set_up(capacity: u32) -> (Answer, usize) {
    let mut batch = ptr::null_mut();
    // SAFETY: requires a writable handle; holds, it is a local.
    let status = unsafe { (api().hipFileBatchIOSetUp)(&mut batch, capacity) };
    (answer(status), batch as usize)
}

/// `hipFileBatchIOSetUp` with NULL.
pub fn batch_set_up_nowhere(capacity: u32) -> Answer {
    // SAFETY: requires a writable handle or none.
    answer(unsafe { (api().hipFileBatchIOSetUp)(ptr::null_mut(), capacity) })
}

/// `hipFileBatchIOSubmit`; without entries, of NULL.
pub fn batch_submit(batch: usize, count: u32, entries: Option<&[Entry]>) -> Answer {
    let mut params: Option<Vec<_>> = entries.map(|entries| entries.iter().map(Entry::params).collect());
    let pointer = params.as_mut().map_or(ptr::null_mut(), |params| params.as_mut_ptr());
    assert!(entries.is_none_or(|entries| entries.len() >= count as usize), "{count} entries");
    // SAFETY: requires that many operations, or none; holds, as just checked.
    answer(unsafe { (api().hipFileBatchIOSubmit)(batch as *mut c_void, count, pointer, 0) })
}

/// How long `hipFileBatchIOGetStatus` may wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    Forever,
    For(Duration),
    /// Seconds and nanoseconds that are no time.
    Invalid(i64, i64),
}

/// `hipFileBatchIOGetStatus` with room for `room` events: the answer, the number it wrote, and the events.
pub fn batch_status(batch: usize, least: u32, room: u32, wait: Wait) -> (Answer, u32, Vec<Event>) {
    let mut events = vec![hipFileIOEvents_t::default(); (room as usize).max(1)];
    let mut time = match wait {
        Wait::Forever => None,
        Wait::For(time) => {
            Some(libc::timespec { tv_sec: time.as_secs() as i64, tv_nsec: i64::from(time.subsec_nanos()) })
        }
        Wait::Invalid(tv_sec, tv_nsec) => Some(libc::timespec { tv_sec, tv_nsec }),
    };
    let time = time.as_mut().map_or(ptr::null_mut(), ptr::from_mut);
    let mut count = room;
    let batch = batch as *mut c_void;
    // SAFETY: requires that many writable events, and a time or none; holds, they are locals.
    let status =
        unsafe { (api().hipFileBatchIOGetStatus)(batch, least, &mut count, events.as_mut_ptr(), time) };
    let answer = answer(status);
    let delivered = if answer == crate::raw::OK { count as usize } else { 0 };
    let events = events.iter().take(delivered);
    let events = events.map(|event| Event {
        cookie: event.cookie as usize,
        status: event.status.0,
        ret: event.ret as isize,
    });
    (answer, count, events.collect())
}

/// `hipFileBatchIOCancel`
pub fn batch_cancel(batch: usize) -> Answer {
    // SAFETY: requires nothing: the handle is looked up.
    answer(unsafe { (api().hipFileBatchIOCancel)(batch as *mut c_void) })
}

/// `hipFileBatchIODestroy`
pub fn batch_destroy(batch: usize) {
    // SAFETY: requires nothing: the handle is looked up.
    unsafe { (api().hipFileBatchIODestroy)(batch as *mut c_void) };
}

/// A stream of HIP's on the current device, destroyed at the end.
#[derive(Debug)]
pub struct Stream(usize);

impl Stream {
    /// `hipStreamCreate`; none where HIP has no streams.
    pub fn new() -> Option<Self> {
        // SAFETY: requires the type of the function in HIP's header; holds.
        let create: unsafe extern "C" fn(*mut hipStream_t) -> c_int = unsafe { symbol(c"hipStreamCreate") }?;
        let mut stream = ptr::null_mut();
        // SAFETY: requires a writable stream; holds, it is a local.
        assert_eq!(unsafe { create(&mut stream) }, 0, "hipStreamCreate");
        Some(Self(stream as usize))
    }

    /// The stream as the C functions take it.
    pub fn raw(&self) -> usize {
        self.0
    }

    /// Waits until it is empty.
    pub fn synchronize(&self) {
        synchronize(self.0);
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // SAFETY: requires the type of the function in HIP's header; holds.
        let destroy: unsafe extern "C" fn(hipStream_t) -> c_int =
            unsafe { symbol(c"hipStreamDestroy") }.expect("hipStreamDestroy");
        // SAFETY: requires a stream that nobody uses any more; holds because this owns it.
        unsafe { destroy(self.0 as hipStream_t) };
    }
}

/// `hipStreamSynchronize`; 0 is the default stream.
pub fn synchronize(stream: usize) {
    // SAFETY: requires the type of the function in HIP's header; holds.
    let synchronize: unsafe extern "C" fn(hipStream_t) -> c_int =
        unsafe { symbol(c"hipStreamSynchronize") }.expect("hipStreamSynchronize");
    // SAFETY: requires a stream; holds by what callers pass.
    assert_eq!(unsafe { synchronize(stream as hipStream_t) }, 0, "hipStreamSynchronize");
}

/// A function of the libraries that are loaded.
///
/// # Safety
///
/// `T` is a function pointer of the symbol's type.
unsafe fn symbol<T: Copy>(name: &CStr) -> Option<T> {
    // SAFETY: requires a C string; holds.
    let symbol = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    // SAFETY: requires the type of the symbol; holds by the caller's promise.
    (!symbol.is_null()).then(|| unsafe { std::mem::transmute_copy(&symbol) })
}
