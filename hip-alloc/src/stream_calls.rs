//! HIP's stream and event functions as Rust functions: integers in, `Result` out, and which ones need care.
#![allow(unsafe_code, reason = "the calls into HIP")]

use core::ffi::{c_int, c_uint, c_void};
use core::ptr;

use crate::calls::{Failure, check};
use crate::ffi::{Functions, HostFunction};
use crate::hip_error::HipError;

/// A stream as HIP names it; null is the default stream of the current device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RawStream(pub(crate) *mut c_void);

// SAFETY: requires that the handle may be used from any thread; holds because HIP's stream functions may, and nothing
// else looks behind it.
unsafe impl Send for RawStream {}
// SAFETY: as for Send; a shared handle allows no more than a copied one.
unsafe impl Sync for RawStream {}

/// An event as HIP names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct RawEvent(pub(crate) *mut c_void);

// SAFETY: requires that the handle may be used from any thread; holds because HIP's event functions may, and nothing else
// looks behind it.
unsafe impl Send for RawEvent {}
// SAFETY: as for Send; a shared handle allows no more than a copied one.
unsafe impl Sync for RawEvent {}

/// hipStreamNonBlocking: not ordered with the default stream.
pub(crate) const NON_BLOCKING: c_uint = 1;
/// hipEventBlockingSync: who waits sleeps.
pub(crate) const BLOCKING_SYNC: c_uint = 1;
/// hipEventDisableTiming: no times, which makes the event cheaper.
pub(crate) const DISABLE_TIMING: c_uint = 2;

/// hipMemcpyKind: where a copy's ends are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CopyKind {
    FromHost = 1,
    ToHost = 2,
    Within = 3,
}

/// Whether work is done, from a query's answer.
fn is_done(call: &'static str, code: c_uint) -> Result<bool, Failure> {
    match check(call, code) {
        Ok(()) => Ok(true),
        Err(failure) if failure.error == HipError::NOT_READY => Ok(false),
        Err(failure) => Err(failure),
    }
}

impl Functions {
    /// A new stream of the current device.
    pub(crate) fn create_stream(&self, flags: c_uint, priority: c_int) -> Result<RawStream, Failure> {
        let mut stream = ptr::null_mut();
        // SAFETY: requires a place for the handle; holds because `stream` is one.
        let code = unsafe { (self.hipStreamCreateWithPriority)(&mut stream, flags, priority) };
        check("hipStreamCreateWithPriority", code)?;
        Ok(RawStream(stream))
    }

    /// # Safety
    /// The stream came from [`create_stream`](Self::create_stream), was not destroyed, and nobody uses it any more. Work that
    /// was put into it is still carried out.
    pub(crate) unsafe fn destroy_stream(&self, stream: RawStream) -> Result<(), Failure> {
        // SAFETY: requires a live stream that is used no more; holds because our caller promises it.
        check("hipStreamDestroy", unsafe { (self.hipStreamDestroy)(stream.0) })
    }

    /// Lowest and highest priority of streams of the current device; the highest is the smaller number.
    pub(crate) fn stream_priority_range(&self) -> Result<(c_int, c_int), Failure> {
        let (mut least, mut greatest) = (0, 0);
        // SAFETY: requires two places for ints; holds because `least` and `greatest` are such.
        let code = unsafe { (self.hipDeviceGetStreamPriorityRange)(&mut least, &mut greatest) };
        check("hipDeviceGetStreamPriorityRange", code)?;
        Ok((least, greatest))
    }

    /// # Safety
    /// The stream is live.
    pub(crate) unsafe fn stream_flags(&self, stream: RawStream) -> Result<c_uint, Failure> {
        let mut flags = 0;
        // SAFETY: requires a live stream and a place for the flags; holds because our caller promises the first and `flags`
        // is the second.
        check("hipStreamGetFlags", unsafe { (self.hipStreamGetFlags)(stream.0, &mut flags) })?;
        Ok(flags)
    }

    /// # Safety
    /// The stream is live.
    pub(crate) unsafe fn stream_priority(&self, stream: RawStream) -> Result<c_int, Failure> {
        let mut priority = 0;
        // SAFETY: requires a live stream and a place for the priority; holds because our caller promises the first and
        // `priority` is the second.
        check("hipStreamGetPriority", unsafe { (self.hipStreamGetPriority)(stream.0, &mut priority) })?;
        Ok(priority)
    }

    /// Whether everything that was put into the stream has been done.
    ///
    /// # Safety
    /// The stream is live.
    pub(crate) unsafe fn stream_is_done(&self, stream: RawStream) -> Result<bool, Failure> {
        // SAFETY: requires a live stream; holds because our caller promises it.
        is_done("hipStreamQuery", unsafe { (self.hipStreamQuery)(stream.0) })
    }

    /// Waits until everything that was put into the stream has been done.
    ///
    /// # Safety
    /// The stream is live.
    pub(crate) unsafe fn synchronize_stream(&self, stream: RawStream) -> Result<(), Failure> {
        // SAFETY: requires a live stream; holds because our caller promises it.
        check("hipStreamSynchronize", unsafe { (self.hipStreamSynchronize)(stream.0) })
    }

    /// Lets what is put into the stream from now on wait for what the event stands for.
    ///
    /// # Safety
    /// Stream and event are live.
    pub(crate) unsafe fn stream_wait_event(&self, stream: RawStream, event: RawEvent) -> Result<(), Failure> {
        // SAFETY: requires a live stream and a live event; holds because our caller promises both.
        check("hipStreamWaitEvent", unsafe { (self.hipStreamWaitEvent)(stream.0, event.0, 0) })
    }

    /// New memory of the stream's device, which is current, from when the stream comes to it; `None` where HIP has no such
    /// function. `size` must not be 0.
    ///
    /// # Safety
    /// The stream is live.
    pub(crate) unsafe fn malloc_async(
        &self,
        size: usize,
        stream: RawStream,
    ) -> Option<Result<*mut c_void, Failure>> {
        const CALL: &str = "hipMallocAsync";
        let malloc = self.hipMallocAsync?;
        let mut pointer = ptr::null_mut();
        // SAFETY: requires a live stream and a pointer to a pointer for the result; holds because our caller promises the
        // first and `pointer` is the second.
        let answer = check(CALL, unsafe { malloc(&mut pointer, size, stream.0) });
        Some(match answer {
            Ok(()) if pointer.is_null() => Err(Failure { call: CALL, error: HipError::OUT_OF_MEMORY }),
            answer => answer.map(|()| pointer),
        })
    }

    /// Frees memory when the stream comes to it, or at once where HIP has no such function.
    ///
    /// # Safety
    /// As for [`free`](Self::free); the stream is live.
    pub(crate) unsafe fn free_async(&self, pointer: *mut c_void, stream: RawStream) -> Result<(), Failure> {
        let Some(free) = self.hipFreeAsync else {
            // SAFETY: requires an allocation that nobody uses; holds because our caller promises it.
            return unsafe { self.free(pointer) };
        };
        // SAFETY: requires a live stream and an allocation that nobody uses; holds because our caller promises both.
        check("hipFreeAsync", unsafe { free(pointer, stream.0) })
    }

    /// Lets the stream copy `size` bytes, which is not 0.
    ///
    /// # Safety
    /// The stream is live. Until it has passed the copy, also after an error, there are `size` bytes at `source` that nobody
    /// writes, and as many at `destination` that nobody else uses; each is memory of the current device or of the host, as
    /// `kind` says.
    pub(crate) unsafe fn copy_async(
        &self,
        destination: *mut c_void,
        source: *const c_void,
        size: usize,
        kind: CopyKind,
        stream: RawStream,
    ) -> Result<(), Failure> {
        // SAFETY: requires a live stream and memory that stays as it is until then; holds because our caller promises it.
        let code = unsafe { (self.hipMemcpyAsync)(destination, source, size, kind as c_uint, stream.0) };
        check("hipMemcpyAsync", code)
    }

    /// Lets the stream set `size` bytes, which is not 0, to `value`.
    ///
    /// # Safety
    /// The stream is live. Until it has passed the fill, also after an error, there are `size` bytes of the current device at
    /// `destination` that nobody else uses.
    pub(crate) unsafe fn fill_async(
        &self,
        destination: *mut c_void,
        value: u8,
        size: usize,
        stream: RawStream,
    ) -> Result<(), Failure> {
        // SAFETY: requires a live stream and memory that stays as it is until then; holds because our caller promises it.
        let code = unsafe { (self.hipMemsetAsync)(destination, c_int::from(value), size, stream.0) };
        check("hipMemsetAsync", code)
    }

    /// Lets the stream call `function` once everything before has been done; `None` where HIP has no such function.
    ///
    /// # Safety
    /// The stream is live; `function` may be called once with `data` on any thread, at any time from now on.
    pub(crate) unsafe fn launch_host_function(
        &self,
        stream: RawStream,
        function: HostFunction,
        data: *mut c_void,
    ) -> Option<Result<(), Failure>> {
        let launch = self.hipLaunchHostFunc?;
        // SAFETY: requires a live stream and a function to call with the data; holds because our caller promises it.
        Some(check("hipLaunchHostFunc", unsafe { launch(stream.0, function, data) }))
    }

    /// A new event of the current device.
    pub(crate) fn create_event(&self, flags: c_uint) -> Result<RawEvent, Failure> {
        let mut event = ptr::null_mut();
        // SAFETY: requires a place for the handle; holds because `event` is one.
        check("hipEventCreateWithFlags", unsafe { (self.hipEventCreateWithFlags)(&mut event, flags) })?;
        Ok(RawEvent(event))
    }

    /// # Safety
    /// The event is live and used no more. HIP finishes what still refers to it.
    pub(crate) unsafe fn destroy_event(&self, event: RawEvent) -> Result<(), Failure> {
        // SAFETY: requires a live event that is used no more; holds because our caller promises it.
        check("hipEventDestroy", unsafe { (self.hipEventDestroy)(event.0) })
    }

    /// Lets the event stand for everything that was put into the stream so far.
    ///
    /// # Safety
    /// Event and stream are live.
    pub(crate) unsafe fn record_event(&self, event: RawEvent, stream: RawStream) -> Result<(), Failure> {
        // SAFETY: requires a live event and a live stream; holds because our caller promises both.
        check("hipEventRecord", unsafe { (self.hipEventRecord)(event.0, stream.0) })
    }

    /// # Safety
    /// The event is live.
    pub(crate) unsafe fn event_is_done(&self, event: RawEvent) -> Result<bool, Failure> {
        // SAFETY: requires a live event; holds because our caller promises it.
        is_done("hipEventQuery", unsafe { (self.hipEventQuery)(event.0) })
    }

    /// # Safety
    /// The event is live.
    pub(crate) unsafe fn synchronize_event(&self, event: RawEvent) -> Result<(), Failure> {
        // SAFETY: requires a live event; holds because our caller promises it.
        check("hipEventSynchronize", unsafe { (self.hipEventSynchronize)(event.0) })
    }

    /// Milliseconds from one event to the other.
    ///
    /// # Safety
    /// Both events are live.
    pub(crate) unsafe fn elapsed(&self, start: RawEvent, stop: RawEvent) -> Result<f32, Failure> {
        let mut milliseconds = 0.0;
        // SAFETY: requires two live events and a place for a float; holds because our caller promises the first and
        // `milliseconds` is the second.
        let code = unsafe { (self.hipEventElapsedTime)(&mut milliseconds, start.0, stop.0) };
        check("hipEventElapsedTime", code)?;
        Ok(milliseconds)
    }
}
