//! Streams of HIP, and operations that are put on them.

use std::ffi::c_void;
use std::sync::atomic::{AtomicI64, AtomicIsize, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use hipfile_sys::{hipFileHandle_t, hipStream_t};

use crate::case::{Case, Need};
use crate::hip;
use crate::raw::{Answer, OK, answer, api};

/// A value's flag: it is read at submission only.
pub const FIXED_BUFFER_OFFSET: u32 = 1;
pub const FIXED_FILE_OFFSET: u32 = 2;
pub const FIXED_SIZE: u32 = 4;
/// All three.
pub const FIXED: u32 = 7;

/// The case needs streams and functions on them.
pub fn on_streams(case: Case) -> Case {
    case.needs(Need::Hip("hipStreamCreate")).needs(Need::Hip("hipLaunchHostFunc"))
}

/// A stream of HIP, or the NULL stream.
#[derive(Debug)]
pub struct Stream {
    pub at: usize,
}

impl Stream {
    /// A new stream of the current device.
    pub fn new() -> Self {
        let mut at = 0;
        assert_eq!(hip::stream_create(&mut at), 0, "hipStreamCreate");
        Self { at }
    }

    /// A new stream, registered with these flags.
    pub fn with_flags(flags: u32) -> Self {
        let stream = Self::new();
        assert_eq!(register(stream.at, flags), OK, "{flags:#x}");
        stream
    }

    /// The default stream.
    pub fn null() -> Self {
        Self { at: 0 }
    }

    /// Waits for everything on it.
    pub fn wait(&self) {
        assert_eq!(hip::stream_synchronize(self.at), 0, "hipStreamSynchronize");
    }

    /// Lets the stream wait for the gate before it goes on to what is put on it later.
    pub fn hold(&self) -> Gate {
        let gate = Gate::default();
        let data = Arc::into_raw(Arc::clone(&gate.0)).cast_mut().cast();
        assert_eq!(hip::launch_host_function(self.at, pass, data), 0, "hipLaunchHostFunc");
        gate
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if self.at != 0 {
            // A stream that a case has destroyed is an error, which is of no interest.
            let _ = hip::stream_destroy(self.at);
        }
    }
}

/// What a stream waits for until it is opened.
#[derive(Debug, Default)]
pub struct Gate(Arc<(Mutex<bool>, Condvar)>);

impl Gate {
    /// Lets the stream go on.
    pub fn open(&self) {
        *self.0.0.lock().unwrap() = true;
        self.0.1.notify_all();
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.open();
    }
}

unsafe extern "C" fn pass(data: *mut c_void) {
    // SAFETY: requires a reference made raw, once; holds because `hold` made it and a stream calls once.
    let gate = unsafe { Arc::from_raw(data.cast::<(Mutex<bool>, Condvar)>()) };
    let mut open = gate.0.lock().unwrap();
    while !*open {
        open = gate.1.wait(open).unwrap();
    }
}

/// `hipFileStreamRegister`
pub fn register(stream: usize, flags: u32) -> Answer {
    // SAFETY: requires a stream, NULL, or flags that are refused before the stream is looked at.
    answer(unsafe { (api().hipFileStreamRegister)(stream as hipStream_t, flags) })
}

/// `hipFileStreamDeregister`
pub fn deregister(stream: usize) -> Answer {
    // SAFETY: requires nothing; an unknown value is an error.
    answer(unsafe { (api().hipFileStreamDeregister)(stream as hipStream_t) })
}

/// From the device to the file, or the other way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Read,
    Write,
}

/// Both.
pub const BOTH: [Direction; 2] = [Direction::Read, Direction::Write];

/// The four places that an operation has, where library and case meet.
#[derive(Debug)]
struct Slots {
    size: AtomicUsize,
    file_offset: AtomicI64,
    buffer_offset: AtomicI64,
    bytes: AtomicIsize,
}

/// What an operation is given. Its places stay until the end of the process.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    handle: usize,
    base: usize,
    slots: &'static Slots,
}

/// What is in the place of the result before a submission.
pub const UNTOUCHED: isize = 77;

impl Operation {
    /// `size` bytes from these offsets.
    pub fn new(handle: usize, base: usize, size: usize, file_offset: i64, buffer_offset: i64) -> Self {
        let slots = Slots {
            size: size.into(),
            file_offset: file_offset.into(),
            buffer_offset: buffer_offset.into(),
            bytes: UNTOUCHED.into(),
        };
        Self { handle, base, slots: Box::leak(Box::new(slots)) }
    }

    /// Puts it on a stream.
    pub fn submit(&self, direction: Direction, stream: &Stream) -> Answer {
        let Slots { size, file_offset, buffer_offset, bytes } = self.slots;
        let call = match direction {
            Direction::Read => api().hipFileReadAsync,
            Direction::Write => api().hipFileWriteAsync,
        };
        let (handle, base) = (self.handle as hipFileHandle_t, self.base as *mut c_void);
        let [file_offset, buffer_offset] = [file_offset.as_ptr(), buffer_offset.as_ptr()];
        let (size, bytes, stream) = (size.as_ptr(), bytes.as_ptr(), stream.at as hipStream_t);
        // SAFETY: requires places that live until the operation ends; holds because these are never freed.
        answer(unsafe { call(handle, base, size, file_offset, buffer_offset, bytes, stream) })
    }

    /// Submits it, which must succeed.
    pub fn put(self, direction: Direction, stream: &Stream) -> Self {
        assert_eq!(self.submit(direction, stream), OK, "{direction:?} {self:?}");
        self
    }

    /// Submits it, which must succeed, waits for the stream, and gives the result.
    pub fn result(self, direction: Direction, stream: &Stream) -> isize {
        self.put(direction, stream);
        stream.wait();
        self.bytes()
    }

    /// Changes the values.
    pub fn change(&self, size: usize, file_offset: i64, buffer_offset: i64) {
        self.slots.size.store(size, Ordering::SeqCst);
        self.slots.file_offset.store(file_offset, Ordering::SeqCst);
        self.slots.buffer_offset.store(buffer_offset, Ordering::SeqCst);
    }

    /// What is in the place of the result.
    pub fn bytes(&self) -> isize {
        self.slots.bytes.load(Ordering::SeqCst)
    }
}
