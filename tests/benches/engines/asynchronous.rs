//! `hipFileReadAsync`: all reads submitted to one registered stream, which is then waited for.

use std::ffi::{CStr, c_int};

use hipfile_sys::hipStream_t;

use crate::Result;
use crate::plain::Round;
use crate::rows::Row;
use crate::stage::{Stage, check};

/// What an operation's pointers lead to.
#[derive(Clone)]
struct Slot {
    size: usize,
    file_offset: i64,
    buffer_offset: i64,
    bytes: isize,
}

/// The stream functions of HIP; HIP's results are ints.
struct Streams {
    create: unsafe extern "C" fn(*mut hipStream_t) -> c_int,
    synchronize: unsafe extern "C" fn(hipStream_t) -> c_int,
    destroy: unsafe extern "C" fn(hipStream_t) -> c_int,
}

impl Streams {
    fn find() -> Result<Self> {
        Ok(Self {
            // SAFETY: requires the type of the function in HIP's header; holds.
            create: unsafe { symbol(c"hipStreamCreate") }?,
            // SAFETY: as above.
            synchronize: unsafe { symbol(c"hipStreamSynchronize") }?,
            // SAFETY: as above.
            destroy: unsafe { symbol(c"hipStreamDestroy") }?,
        })
    }
}

/// A function of the libraries that are loaded.
///
/// # Safety
///
/// `T` is a function pointer of the symbol's type.
unsafe fn symbol<T: Copy>(name: &CStr) -> Result<T> {
    // SAFETY: requires a C string; holds.
    let symbol = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    if symbol.is_null() {
        return Err(format!("this HIP lacks {}", name.to_string_lossy()).into());
    }
    // SAFETY: requires the type of the symbol; holds by the caller's promise.
    Ok(unsafe { std::mem::transmute_copy(&symbol) })
}

pub struct Asynchronous<'s> {
    stage: &'s Stage,
    streams: Streams,
    stream: hipStream_t,
    slots: Vec<Slot>,
}

/// No value is read late and all are multiples of a page.
const FLAGS: u32 = hipfile_sys::HIPFILE_STREAM_FLAGS_MASK;

impl<'s> Asynchronous<'s> {
    pub fn new(stage: &'s Stage, row: &Row) -> Result<Self> {
        let streams = Streams::find()?;
        let mut stream = std::ptr::null_mut();
        // SAFETY: requires a writable stream; holds, it is a local.
        hip("hipStreamCreate", unsafe { (streams.create)(&mut stream) })?;
        let slot = |i| {
            let offset = (i * row.len) as i64;
            Slot { size: row.len, file_offset: offset, buffer_offset: offset, bytes: 0 }
        };
        let this = Self { stage, streams, stream, slots: (0..row.count).map(slot).collect() };
        // SAFETY: requires a stream; holds, it was just made.
        check("hipFileStreamRegister", unsafe { (stage.api.hipFileStreamRegister)(stream, FLAGS) })?;
        Ok(this)
    }
}

impl Round for Asynchronous<'_> {
    fn round(&mut self) -> Result<()> {
        let Self { stage, streams, stream, slots } = self;
        for slot in slots.iter_mut() {
            let Slot { size, file_offset, buffer_offset, bytes } = slot;
            // SAFETY: requires pointers that stay valid until the stream has passed the operation; holds because the
            // slots stay where they are, and this waits for the stream before it returns or when it is dropped.
            let status = unsafe {
                (stage.api.hipFileReadAsync)(
                    stage.handle(),
                    stage.base(),
                    size,
                    file_offset,
                    buffer_offset,
                    bytes,
                    *stream,
                )
            };
            check("hipFileReadAsync", status)?;
        }
        // SAFETY: requires a stream; holds.
        hip("hipStreamSynchronize", unsafe { (streams.synchronize)(*stream) })?;
        match slots.iter().find(|slot| slot.bytes != slot.size as isize) {
            Some(slot) => Err(format!("an asynchronous read gave {}", slot.bytes).into()),
            None => Ok(()),
        }
    }
}

impl Drop for Asynchronous<'_> {
    fn drop(&mut self) {
        // SAFETY: requires a stream; holds.
        unsafe { (self.streams.synchronize)(self.stream) };
        // SAFETY: requires nothing: the stream is looked up.
        let _ = unsafe { (self.stage.api.hipFileStreamDeregister)(self.stream) };
        // SAFETY: requires a stream that nobody uses any more; holds.
        unsafe { (self.streams.destroy)(self.stream) };
    }
}

fn hip(function: &str, code: c_int) -> Result<()> {
    if code == 0 { Ok(()) } else { Err(format!("{function} failed: HIP {code}").into()) }
}
