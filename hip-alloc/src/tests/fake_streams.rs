//! Streams of the HIP in host memory: what is put into them is done at once, host functions of held ones
//! later.

use core::ffi::{c_int, c_uint, c_void};
use std::alloc::{Layout, alloc, dealloc};

use super::fake::{answer, free, malloc, memcpy, memset};
use super::fake_handles::{INVALID_HANDLE, LOST, handles};
use crate::ffi::HostFunction;

pub unsafe extern "C" fn create(stream: *mut *mut c_void, flags: c_uint, priority: c_int) -> c_uint {
    answer("hipStreamCreateWithPriority", |_| {
        let handle = handles().add_stream(flags, priority.clamp(-1, 1));
        // SAFETY: requires a valid pointer; holds because the caller passes one.
        unsafe { *stream = handle };
        0
    })
}

pub unsafe extern "C" fn destroy(stream: *mut c_void) -> c_uint {
    answer("hipStreamDestroy", |_| match handles().streams.remove(&stream.addr()) {
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
    answer("hipStreamGetFlags", |_| {
        let handles = handles();
        let found = handles.streams.get(&stream.addr()).map_or(0, |stream| stream.flags);
        // SAFETY: requires a valid pointer; holds because the caller passes one.
        unsafe { *flags = found };
        handles.stream_known(stream)
    })
}

pub unsafe extern "C" fn get_priority(stream: *mut c_void, priority: *mut c_int) -> c_uint {
    answer("hipStreamGetPriority", |_| {
        let handles = handles();
        let found = handles.streams.get(&stream.addr()).map_or(0, |stream| stream.priority);
        // SAFETY: requires a valid pointer; holds because the caller passes one.
        unsafe { *priority = found };
        handles.stream_known(stream)
    })
}

pub unsafe extern "C" fn query(stream: *mut c_void) -> c_uint {
    answer("hipStreamQuery", |_| handles().stream_state(stream, None))
}

pub unsafe extern "C" fn synchronize(stream: *mut c_void) -> c_uint {
    answer("hipStreamSynchronize", |_| handles().stream_known(stream))
}

pub unsafe extern "C" fn wait_event(stream: *mut c_void, event: *mut c_void, _flags: c_uint) -> c_uint {
    answer("hipStreamWaitEvent", |_| {
        let handles = handles();
        handles.stream_known(stream).max(handles.event_known(event))
    })
}

pub unsafe extern "C" fn launch_host_function(
    stream: *mut c_void,
    function: HostFunction,
    data: *mut c_void,
) -> c_uint {
    let code = answer("hipLaunchHostFunc", |_| handles().stream_known(stream));
    if code == LOST {
        handles().refuse(function, data);
    }
    if code == 0 && !handles().keep(stream, function, data) {
        // SAFETY: requires a function that may be called once with the data; holds by the caller's promise.
        unsafe { function(data) };
    }
    code
}

pub unsafe extern "C" fn event_create(event: *mut *mut c_void, _flags: c_uint) -> c_uint {
    answer("hipEventCreateWithFlags", |_| {
        let handle = handles().add_event();
        // SAFETY: requires a valid pointer; holds because the caller passes one.
        unsafe { *event = handle };
        0
    })
}

pub unsafe extern "C" fn event_destroy(event: *mut c_void) -> c_uint {
    answer("hipEventDestroy", |_| match handles().events.remove(&event.addr()) {
        Some(_) => 0,
        None => INVALID_HANDLE,
    })
}

pub unsafe extern "C" fn event_record(event: *mut c_void, stream: *mut c_void) -> c_uint {
    answer("hipEventRecord", |_| handles().record(event, stream))
}

pub unsafe extern "C" fn event_query(event: *mut c_void) -> c_uint {
    answer("hipEventQuery", |_| handles().event_state(event))
}

pub unsafe extern "C" fn event_synchronize(event: *mut c_void) -> c_uint {
    answer("hipEventSynchronize", |_| handles().event_known(event))
}

pub unsafe extern "C" fn event_elapsed(time: *mut f32, start: *mut c_void, stop: *mut c_void) -> c_uint {
    answer("hipEventElapsedTime", |_| {
        // SAFETY: requires a valid pointer; holds because the caller passes one.
        unsafe { *time = 1.5 };
        [start, stop].map(|event| handles().event_known(event)).into_iter().max().unwrap()
    })
}

/// Host memory is noted with its size before it.
const HEADER: usize = 64;

pub unsafe extern "C" fn host_malloc(pointer: *mut *mut c_void, size: usize, _flags: c_uint) -> c_uint {
    answer("hipHostMalloc", |_| {
        assert_ne!(size, 0, "a zero length reached HIP");
        let Ok(layout) = Layout::from_size_align(size + HEADER, HEADER) else { return 2 };
        // SAFETY: requires a layout of some bytes; holds because of the header.
        let block = unsafe { alloc(layout) };
        if block.is_null() {
            return 2;
        }
        // SAFETY: requires as many writable bytes; holds for the block.
        unsafe { block.write_bytes(0xa5, size + HEADER) };
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
    match answer("hipMallocAsync", |_| handles().stream_known(stream)) {
        // SAFETY: requires a valid pointer; holds because the caller passes one.
        0 => unsafe { malloc(pointer, size) },
        code => code,
    }
}

pub unsafe extern "C" fn free_async(pointer: *mut c_void, stream: *mut c_void) -> c_uint {
    match answer("hipFreeAsync", |_| handles().stream_known(stream)) {
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
    match answer("hipMemcpyAsync", |_| handles().stream_known(stream)) {
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
    match answer("hipMemsetAsync", |_| handles().stream_known(stream)) {
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
