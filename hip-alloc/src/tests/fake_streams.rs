//! Streams of the HIP in host memory: what is put into them is done at once.

use core::ffi::{c_int, c_uint, c_void};
use core::ptr;
use std::alloc::{Layout, alloc_zeroed, dealloc};

use super::fake::{State, answer, free, malloc, memcpy, memset};
use crate::ffi::HostFunction;

/// hipErrorInvalidHandle.
const INVALID_HANDLE: c_uint = 400;

fn stream_known(state: &State, stream: *mut c_void) -> c_uint {
    if stream.is_null() || state.streams.contains_key(&stream.addr()) { 0 } else { INVALID_HANDLE }
}

fn event_known(state: &State, event: *mut c_void) -> c_uint {
    if state.events.contains_key(&event.addr()) { 0 } else { INVALID_HANDLE }
}

fn next_handle(state: &mut State) -> usize {
    state.handles += 16;
    0x5000 + state.handles
}

pub unsafe extern "C" fn create(stream: *mut *mut c_void, flags: c_uint, priority: c_int) -> c_uint {
    answer("hipStreamCreateWithPriority", |state| {
        let handle = next_handle(state);
        state.streams.insert(handle, (flags, priority.clamp(-1, 1)));
        // SAFETY: requires a valid pointer; holds because the caller passes one.
        unsafe { *stream = ptr::without_provenance_mut(handle) };
        0
    })
}

pub unsafe extern "C" fn destroy(stream: *mut c_void) -> c_uint {
    answer("hipStreamDestroy", |state| match state.streams.remove(&stream.addr()) {
        Some(_) => 0,
        None => INVALID_HANDLE,
    })
}

pub unsafe extern "C" fn priority_range(least: *mut c_int, greatest: *mut c_int) -> c_uint {
    answer("hipDeviceGetStreamPriorityRange", |_| {
        // SAFETY: requires a valid pointer; holds because the caller passes one.
        unsafe { *least = 1 };
        // SAFETY: as above.
        unsafe { *greatest = -1 };
        0
    })
}

pub unsafe extern "C" fn get_flags(stream: *mut c_void, flags: *mut c_uint) -> c_uint {
    answer("hipStreamGetFlags", |state| {
        let found = state.streams.get(&stream.addr()).map_or(0, |stream| stream.0);
        // SAFETY: requires a valid pointer; holds because the caller passes one.
        unsafe { *flags = found };
        stream_known(state, stream)
    })
}

pub unsafe extern "C" fn get_priority(stream: *mut c_void, priority: *mut c_int) -> c_uint {
    answer("hipStreamGetPriority", |state| {
        let found = state.streams.get(&stream.addr()).map_or(0, |stream| stream.1);
        // SAFETY: requires a valid pointer; holds because the caller passes one.
        unsafe { *priority = found };
        stream_known(state, stream)
    })
}

pub unsafe extern "C" fn get_device(stream: *mut c_void, device: *mut c_int) -> c_uint {
    answer("hipStreamGetDevice", |state| {
        // SAFETY: requires a valid pointer; holds because the caller passes one.
        unsafe { *device = state.device };
        stream_known(state, stream)
    })
}

pub unsafe extern "C" fn query(stream: *mut c_void) -> c_uint {
    answer("hipStreamQuery", |state| stream_known(state, stream))
}

pub unsafe extern "C" fn synchronize(stream: *mut c_void) -> c_uint {
    answer("hipStreamSynchronize", |state| stream_known(state, stream))
}

pub unsafe extern "C" fn wait_event(stream: *mut c_void, event: *mut c_void, _flags: c_uint) -> c_uint {
    answer("hipStreamWaitEvent", |state| match stream_known(state, stream) {
        0 => event_known(state, event),
        code => code,
    })
}

pub unsafe extern "C" fn launch_host_function(
    stream: *mut c_void,
    function: HostFunction,
    data: *mut c_void,
) -> c_uint {
    let code = answer("hipLaunchHostFunc", |state| stream_known(state, stream));
    if code == 0 {
        // SAFETY: requires a function that may be called once with the data; holds by the caller's promise.
        unsafe { function(data) };
    }
    code
}

pub unsafe extern "C" fn event_create(event: *mut *mut c_void, flags: c_uint) -> c_uint {
    answer("hipEventCreateWithFlags", |state| {
        let handle = next_handle(state);
        state.events.insert(handle, flags);
        // SAFETY: requires a valid pointer; holds because the caller passes one.
        unsafe { *event = ptr::without_provenance_mut(handle) };
        0
    })
}

pub unsafe extern "C" fn event_destroy(event: *mut c_void) -> c_uint {
    answer("hipEventDestroy", |state| match state.events.remove(&event.addr()) {
        Some(_) => 0,
        None => INVALID_HANDLE,
    })
}

pub unsafe extern "C" fn event_record(event: *mut c_void, stream: *mut c_void) -> c_uint {
    answer("hipEventRecord", |state| match stream_known(state, stream) {
        0 => event_known(state, event),
        code => code,
    })
}

pub unsafe extern "C" fn event_query(event: *mut c_void) -> c_uint {
    answer("hipEventQuery", |state| event_known(state, event))
}

pub unsafe extern "C" fn event_synchronize(event: *mut c_void) -> c_uint {
    answer("hipEventSynchronize", |state| event_known(state, event))
}

pub unsafe extern "C" fn event_elapsed(time: *mut f32, start: *mut c_void, stop: *mut c_void) -> c_uint {
    answer("hipEventElapsedTime", |state| {
        // SAFETY: requires a valid pointer; holds because the caller passes one.
        unsafe { *time = 1.5 };
        event_known(state, start).max(event_known(state, stop))
    })
}

/// Host memory is noted with its size before it.
const HEADER: usize = 64;

pub unsafe extern "C" fn host_malloc(pointer: *mut *mut c_void, size: usize, _flags: c_uint) -> c_uint {
    answer("hipHostMalloc", |_| {
        assert_ne!(size, 0, "a zero length reached HIP");
        let Ok(layout) = Layout::from_size_align(size + HEADER, HEADER) else { return 2 };
        // SAFETY: requires a layout of some bytes; holds because of the header.
        let block = unsafe { alloc_zeroed(layout) };
        if block.is_null() {
            return 2;
        }
        // SAFETY: requires a writable usize; holds at the start of the block, which is aligned to 64.
        unsafe { block.cast::<usize>().write(size) };
        // SAFETY: requires a valid pointer; holds because the caller passes one.
        unsafe { *pointer = block.wrapping_add(HEADER).cast() };
        0
    })
}

pub unsafe extern "C" fn host_free(pointer: *mut c_void) -> c_uint {
    answer("hipHostFree", |_| {
        let block = pointer.cast::<u8>().wrapping_sub(HEADER);
        // SAFETY: requires a readable usize; holds at the start of a block of `host_malloc`, as the caller promises.
        let size = unsafe { block.cast::<usize>().read() };
        let Ok(layout) = Layout::from_size_align(size + HEADER, HEADER) else { return 1 };
        // SAFETY: requires a block of that layout; holds for `host_malloc`'s.
        unsafe { dealloc(block, layout) };
        0
    })
}

pub unsafe extern "C" fn malloc_async(pointer: *mut *mut c_void, size: usize, stream: *mut c_void) -> c_uint {
    match answer("hipMallocAsync", |state| stream_known(state, stream)) {
        // SAFETY: requires a valid pointer; holds because the caller passes one.
        0 => unsafe { malloc(pointer, size) },
        code => code,
    }
}

pub unsafe extern "C" fn free_async(pointer: *mut c_void, stream: *mut c_void) -> c_uint {
    match answer("hipFreeAsync", |state| stream_known(state, stream)) {
        // SAFETY: requires an allocation that is not used any more; holds by the caller's promise.
        0 => unsafe { free(pointer) },
        code => code,
    }
}

pub unsafe extern "C" fn memcpy_async(
    to: *mut c_void,
    from: *const c_void,
    size: usize,
    kind: c_uint,
    stream: *mut c_void,
) -> c_uint {
    match answer("hipMemcpyAsync", |state| stream_known(state, stream)) {
        // SAFETY: requires two runs of bytes, one of them of the device; holds by the caller's promise.
        0 => unsafe { memcpy(to, from, size, kind) },
        code => code,
    }
}

pub unsafe extern "C" fn memset_async(
    to: *mut c_void,
    value: c_int,
    size: usize,
    stream: *mut c_void,
) -> c_uint {
    match answer("hipMemsetAsync", |state| stream_known(state, stream)) {
        // SAFETY: requires a run of bytes of the device; holds by the caller's promise.
        0 => unsafe { memset(to, value, size) },
        code => code,
    }
}

pub unsafe extern "C" fn device_get_attribute(value: *mut c_int, attribute: c_uint, device: c_int) -> c_uint {
    answer("hipDeviceGetAttribute", |state| {
        if attribute > 1000 {
            return 1;
        }
        if !(0..state.devices).contains(&device) {
            return 101;
        }
        // SAFETY: requires a valid pointer; holds because the caller passes one.
        unsafe { *value = attribute as c_int * 10 + device };
        0
    })
}
