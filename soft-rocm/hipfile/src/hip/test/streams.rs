//! The streams of the mock: all are one queue, which moves when the test says so.

use std::ffi::{c_uint, c_void};
use std::ptr;

use hipfile_sys::{hipError_t, hipStream_t};

use super::super::Streams;
use super::super::streams::HostFunction;
use super::{Mock, call, with};

/// A function that waits on the queue.
pub(super) struct Entry {
    function: HostFunction,
    data: *mut c_void,
}

pub(super) fn all() -> Streams {
    Streams {
        launch_host_func: Some(launch),
        launch_concurrent: None,
        memcpy_with_stream: Some(memcpy_with_stream),
        create_with_flags: Some(create),
        destroy: Some(destroy),
        host_malloc: Some(host_malloc),
        host_free: Some(host_free),
    }
}

impl Mock {
    /// Lets neighbours run side by side, as far as the log can tell.
    pub(crate) fn runs_side_by_side(&mut self) {
        self.hip.streams.launch_concurrent = Some(launch_concurrent);
    }

    /// Functions on the queue.
    pub(crate) fn queued(&self) -> usize {
        with(|state| state.queue.len())
    }

    /// Runs the first function of the queue; whether there was one.
    pub(crate) fn run_next(&self) -> bool {
        let Some(Entry { function, data }) = with(|state| state.queue.pop_front()) else { return false };
        // SAFETY: requires a function to be called once with the data; whoever launched it promised that.
        unsafe { function(data) };
        true
    }
}

fn put(name: &str, stream: hipStream_t, function: HostFunction, data: *mut c_void) -> hipError_t {
    let result = call(name, format!(" {}", stream.addr()));
    if result == hipError_t(0) {
        with(|state| state.queue.push_back(Entry { function, data }));
    }
    result
}

unsafe extern "C" fn launch(stream: hipStream_t, function: HostFunction, data: *mut c_void) -> hipError_t {
    put("hipLaunchHostFunc", stream, function, data)
}

unsafe extern "C" fn launch_concurrent(
    stream: hipStream_t,
    function: HostFunction,
    data: *mut c_void,
) -> hipError_t {
    put("softrocm_launch_concurrent", stream, function, data)
}

/// The handle of the streams that `create` makes.
const MADE: usize = 0xabc0;

unsafe extern "C" fn create(out: *mut hipStream_t, flags: c_uint) -> hipError_t {
    // SAFETY: requires a writable stream; the caller gives one.
    unsafe { *out = ptr::without_provenance_mut(MADE) };
    call("hipStreamCreateWithFlags", format!(" {flags}"))
}

unsafe extern "C" fn destroy(stream: hipStream_t) -> hipError_t {
    assert_eq!(stream.addr(), MADE);
    call("hipStreamDestroy", String::new())
}

unsafe extern "C" fn memcpy_with_stream(
    to: *mut c_void,
    from: *const c_void,
    len: usize,
    kind: c_uint,
    stream: hipStream_t,
) -> hipError_t {
    assert_eq!(stream.addr(), MADE, "never a stream of the caller's");
    let result = call("hipMemcpyWithStream", format!(" {len} kind {kind}"));
    if result == hipError_t(0) {
        // SAFETY: requires two ranges of that length; the caller gives them.
        unsafe { ptr::copy(from.cast::<u8>(), to.cast::<u8>(), len) };
    }
    result
}

/// Room for the length before the memory, so that it can be freed.
const HEAD: usize = 16;

unsafe extern "C" fn host_malloc(out: *mut *mut c_void, len: usize, flags: c_uint) -> hipError_t {
    let result = call("hipHostMalloc", format!(" {len} {flags}"));
    if result == hipError_t(0) {
        let memory = vec![0_u8; len + HEAD].into_boxed_slice();
        let memory = Box::into_raw(memory).cast::<u8>();
        // SAFETY: requires room for a usize; holds, it was made for it.
        unsafe { memory.cast::<usize>().write_unaligned(len + HEAD) };
        // SAFETY: requires a writable pointer; the caller gives one.
        unsafe { *out = memory.wrapping_add(HEAD).cast() };
    }
    result
}

unsafe extern "C" fn host_free(memory: *mut c_void) -> hipError_t {
    let memory = memory.cast::<u8>().wrapping_sub(HEAD);
    // SAFETY: requires the length written by `host_malloc`; the caller frees what that gave.
    let len = unsafe { memory.cast::<usize>().read_unaligned() };
    // SAFETY: requires the box that was made raw there; as above.
    drop(unsafe { Box::from_raw(ptr::slice_from_raw_parts_mut(memory, len)) });
    call("hipHostFree", String::new())
}
