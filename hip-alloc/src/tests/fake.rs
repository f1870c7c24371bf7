//! A HIP in host memory, one for each test thread, that fails as scripted and notes every call.

use core::cell::RefCell;
use core::ffi::{CStr, c_char, c_int, c_uint, c_void};
use core::slice;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::ffi::Functions;
use crate::table;
use crate::tests::fake_streams as streams;

/// hipMalloc gives addresses that are an odd multiple of this, so that nothing is aligned by luck.
pub const ALIGNMENT: usize = 256;

pub(super) struct State {
    pub(super) device: c_int,
    pub(super) devices: c_int,
    /// Function, number of its call from now (first is 1), code.
    failures: Vec<(&'static str, usize, c_uint)>,
    calls: Vec<&'static str>,
    /// Address, backing store, size and device.
    allocations: HashMap<usize, (Vec<u8>, usize, c_int)>,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::new(State::new());
}

/// Makes this HIP the table and resets the calling thread's state: two devices, device 0 current.
pub fn install() {
    if table::in_use().is_none() {
        // Another test may be first.
        _ = table::install(functions());
    }
    STATE.set(State::new());
}

/// Held by tests that leak, since the count is the process's.
pub fn leaking_alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Lets the `nth` call of `function` from now (the next is 1) return `code`.
pub fn fail(function: &'static str, nth: usize, code: c_uint) {
    STATE.with_borrow_mut(|state| state.failures.push((function, nth, code)));
}

pub fn fail_no_more() {
    STATE.with_borrow_mut(|state| state.failures.clear());
}

/// The calls since the last time of asking.
pub fn calls() -> Vec<&'static str> {
    STATE.with_borrow_mut(|state| core::mem::take(&mut state.calls))
}

pub fn current_device() -> c_int {
    STATE.with_borrow(|state| state.device)
}

pub fn set_current_device(device: c_int) {
    STATE.with_borrow_mut(|state| state.device = device);
}

pub fn set_devices(devices: c_int) {
    STATE.with_borrow_mut(|state| state.devices = devices);
}

/// Number of live allocations.
pub fn allocations() -> usize {
    STATE.with_borrow(|state| state.allocations.len())
}

/// Notes the call and answers as scripted, or by `action`.
pub(super) fn answer(function: &'static str, action: impl FnOnce(&mut State) -> c_uint) -> c_uint {
    STATE.with_borrow_mut(|state| {
        state.calls.push(function);
        for (name, nth, code) in &mut state.failures {
            if *name == function {
                *nth = nth.wrapping_sub(1);
                if *nth == 0 {
                    return *code;
                }
            }
        }
        action(state)
    })
}

impl State {
    fn new() -> Self {
        Self { device: 0, devices: 2, failures: Vec::new(), calls: Vec::new(), allocations: HashMap::new() }
    }

    /// Whether `size` bytes at `address` are in one allocation of the current device.
    fn holds(&self, address: usize, size: usize) -> bool {
        self.allocations.iter().any(|(start, (_, len, device))| {
            *device == self.device && address >= *start && address + size <= start + len
        })
    }
}

pub fn functions() -> Functions {
    Functions {
        hipDeviceGetAttribute: streams::device_get_attribute,
        hipDeviceGetStreamPriorityRange: streams::priority_range,
        hipEventCreateWithFlags: streams::event_create,
        hipEventDestroy: streams::event_destroy,
        hipEventElapsedTime: streams::event_elapsed,
        hipEventQuery: streams::event_query,
        hipEventRecord: streams::event_record,
        hipEventSynchronize: streams::event_synchronize,
        hipFreeAsync: Some(streams::free_async),
        hipHostFree: streams::host_free,
        hipHostMalloc: streams::host_malloc,
        hipGetProcAddress: Some(get_proc_address),
        hipRuntimeGetVersion: Some(runtime_version),
        hipLaunchHostFunc: Some(streams::launch_host_function),
        hipMallocAsync: Some(streams::malloc_async),
        hipMemcpyAsync: streams::memcpy_async,
        hipMemsetAsync: streams::memset_async,
        hipStreamCreateWithPriority: streams::create,
        hipStreamDestroy: streams::destroy,
        hipStreamGetFlags: streams::get_flags,
        hipStreamGetPriority: streams::get_priority,
        hipStreamQuery: streams::query,
        hipStreamWaitEvent: streams::wait_event,
        hipFree: free,
        hipGetDevice: get_device,
        hipGetDeviceCount: get_device_count,
        hipGetErrorName: get_error_name,
        hipGetErrorString: get_error_string,
        hipMalloc: malloc,
        hipMemGetInfo: mem_get_info,
        hipMemcpy: memcpy,
        hipMemset: memset,
        hipSetDevice: set_device,
        hipStreamSynchronize: streams::synchronize,
    }
}

unsafe extern "C" fn get_device_count(count: *mut c_int) -> c_uint {
    answer("hipGetDeviceCount", |state| {
        // SAFETY: requires a valid pointer; holds because the caller passes one.
        unsafe { *count = state.devices };
        if state.devices == 0 { 100 } else { 0 }
    })
}

unsafe extern "C" fn get_device(device: *mut c_int) -> c_uint {
    answer("hipGetDevice", |state| {
        // SAFETY: requires a valid pointer; holds because the caller passes one.
        unsafe { *device = state.device };
        0
    })
}

unsafe extern "C" fn set_device(device: c_int) -> c_uint {
    answer("hipSetDevice", |state| {
        if !(0..state.devices).contains(&device) {
            return 101;
        }
        state.device = device;
        0
    })
}

unsafe extern "C" fn mem_get_info(free: *mut usize, total: *mut usize) -> c_uint {
    answer("hipMemGetInfo", |_| {
        // SAFETY: requires a valid pointer; holds because the caller passes one.
        unsafe { *free = 1000 };
        // SAFETY: as above.
        unsafe { *total = 4000 };
        0
    })
}

unsafe extern "C" fn runtime_version(version: *mut c_int) -> c_uint {
    answer("hipRuntimeGetVersion", |_| {
        // SAFETY: requires a valid pointer; holds because the caller passes one.
        unsafe { *version = 70_000_000 };
        0
    })
}

/// Has the functions whose names begin with `hipAmd`.
unsafe extern "C" fn get_proc_address(
    symbol: *const c_char,
    function: *mut *mut c_void,
    version: c_int,
    flags: u64,
    _status: *mut c_uint,
) -> c_uint {
    assert_eq!((version, flags), (70_000_000, 0));
    answer("hipGetProcAddress", |_| {
        // SAFETY: requires a C string; holds because the caller passes one.
        let known = unsafe { CStr::from_ptr(symbol) }.to_bytes().starts_with(b"hipAmd");
        // SAFETY: requires a valid pointer; holds because the caller passes one.
        unsafe { *function = if known { core::ptr::dangling_mut() } else { core::ptr::null_mut() } };
        if known { 0 } else { 1 }
    })
}

pub(super) unsafe extern "C" fn malloc(pointer: *mut *mut c_void, size: usize) -> c_uint {
    answer("hipMalloc", |state| {
        assert_ne!(size, 0, "a zero length reached HIP");
        if size > 1 << 30 {
            return 2;
        }
        let mut store = vec![0xa5; size + 3 * ALIGNMENT];
        let base = store.as_mut_ptr().addr();
        let odd = base.next_multiple_of(2 * ALIGNMENT) + ALIGNMENT;
        let address = store.as_mut_ptr().wrapping_add(odd - base);
        state.allocations.insert(odd, (store, size, state.device));
        // SAFETY: requires a valid pointer; holds because the caller passes one.
        unsafe { *pointer = address.cast() };
        0
    })
}

pub(super) unsafe extern "C" fn free(pointer: *mut c_void) -> c_uint {
    answer("hipFree", |state| match state.allocations.get(&pointer.addr()) {
        Some((.., device)) if *device == state.device => {
            state.allocations.remove(&pointer.addr());
            0
        }
        _ => 1,
    })
}

pub(super) unsafe extern "C" fn memcpy(
    to: *mut c_void,
    from: *const c_void,
    size: usize,
    kind: c_uint,
) -> c_uint {
    answer("hipMemcpy", |state| {
        assert_ne!(size, 0, "a zero length reached HIP");
        let on_device = if kind == 1 { to.cast_const() } else { from };
        if !state.holds(on_device.addr(), size) {
            return 1;
        }
        // SAFETY: requires two live runs of `size` bytes that do not overlap; holds because one is in an allocation of ours
        // and the other is the caller's host memory.
        unsafe { to.copy_from_nonoverlapping(from, size) };
        0
    })
}

pub(super) unsafe extern "C" fn memset(to: *mut c_void, value: c_int, size: usize) -> c_uint {
    answer("hipMemset", |state| {
        assert_ne!(size, 0, "a zero length reached HIP");
        if !state.holds(to.addr(), size) {
            return 1;
        }
        // SAFETY: requires `size` live bytes; holds because they are in an allocation of ours.
        unsafe { slice::from_raw_parts_mut(to.cast::<u8>(), size) }.fill(value as u8);
        0
    })
}

unsafe extern "C" fn get_error_name(code: c_uint) -> *const c_char {
    let name: &CStr = match code {
        1 => c"hipErrorInvalidValue",
        2 => c"hipErrorOutOfMemory",
        17 => c"hipErrorInvalidDevicePointer",
        101 => c"hipErrorInvalidDevice",
        3000 => return core::ptr::null(),
        _ => c"hipErrorUnknown",
    };
    name.as_ptr()
}

unsafe extern "C" fn get_error_string(code: c_uint) -> *const c_char {
    let text: &CStr = match code {
        1 => c"invalid argument",
        2 => c"out of memory",
        // As HIP 5 does.
        17 => c"hipErrorInvalidDevicePointer",
        101 => c"invalid device ordinal",
        3000 => return core::ptr::null(),
        _ => c"unknown error",
    };
    text.as_ptr()
}
