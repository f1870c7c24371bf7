//! A HIP for unit tests: one allocation of host memory that passes for device memory, scripted failures, and a log
//! of the calls. Its state belongs to the thread, so tests don't meet.

mod streams;

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::ffi::{CStr, c_char, c_int, c_longlong, c_uint, c_void};
use std::sync::OnceLock;

use hipfile_sys::{hipError_t, hipStream_t};

use super::ais::FileHandle;
use super::{Hip, PointerAttributes};

/// The device that the memory of the mock belongs to.
pub(crate) const DEVICE: c_int = 3;

#[derive(Default)]
struct State {
    base: usize,
    len: usize,
    /// Where pinned host memory starts.
    pinned: usize,
    /// For each function how many calls still succeed, and what the later ones return.
    failures: HashMap<String, (usize, c_uint)>,
    calls: Vec<String>,
    device: c_int,
    /// What the file functions leave in their status.
    status: i32,
    /// What the file functions say they moved; the size asked for if `None`.
    moved: Option<u64>,
    queue: VecDeque<streams::Entry>,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::new(State::default());
}

fn with<T>(action: impl FnOnce(&mut State) -> T) -> T {
    STATE.with_borrow_mut(action)
}

fn call(name: &str, detail: String) -> hipError_t {
    with(|state| {
        state.calls.push(format!("{name}{detail}"));
        hipError_t(match state.failures.get_mut(name) {
            Some((0, code)) => *code,
            Some((successes, _)) => {
                *successes -= 1;
                0
            }
            None => 0,
        })
    })
}

pub(crate) struct Mock {
    pub(crate) hip: Hip,
    memory: Vec<u8>,
}

impl Mock {
    /// A HIP with one allocation of `len` bytes, with the file functions, without the alias.
    pub(crate) fn new(len: usize) -> Self {
        let mut memory = vec![0xee; len];
        let base = memory.as_mut_ptr() as usize;
        with(|state| *state = State { base, len, ..State::default() });
        let hip = Hip {
            pointer_get_attributes: attributes,
            mem_get_address_range: range,
            memcpy,
            stream_synchronize: synchronize,
            init: Some(init),
            get_device: Some(get_device),
            set_device: Some(set_device),
            stream_get_device: Some(stream_get_device),
            runtime_get_version: Some(version),
            get_proc_address: Some(procedure),
            host_address: None,
            file_transfer: None,
            streams: streams::all(),
            device_memory: 2,
            ais: OnceLock::new(),
        };
        Self { hip, memory }
    }

    /// As `new`, with an alias for host code.
    pub(crate) fn with_alias(len: usize) -> Self {
        let mut mock = Self::new(len);
        mock.hip.host_address = Some(host_address);
        mock
    }

    /// As `new`, with a way of its own between files and its memory.
    pub(crate) fn with_file_transfer(len: usize) -> Self {
        let mut mock = Self::new(len);
        mock.hip.file_transfer = Some(file_transfer);
        mock
    }

    pub(crate) fn pointer(&self) -> *const c_void {
        self.memory.as_ptr().cast()
    }

    pub(crate) fn len(&self) -> usize {
        self.memory.len()
    }

    pub(crate) fn memory(&self) -> &[u8] {
        &self.memory
    }

    /// Makes host memory pinned.
    pub(crate) fn pin(&self, memory: &[u8]) {
        with(|state| state.pinned = memory.as_ptr() as usize);
    }

    /// Makes a function fail from now on.
    pub(crate) fn fail(&self, name: &str, code: c_uint) {
        self.fail_after(0, name, code);
    }

    /// Makes a function fail after some successes.
    pub(crate) fn fail_after(&self, successes: usize, name: &str, code: c_uint) {
        with(|state| state.failures.insert(name.to_owned(), (successes, code)));
    }

    /// Says that the allocation is longer than it is.
    pub(crate) fn pretend_len(&self, len: usize) {
        with(|state| state.len = len);
    }

    /// Scripts the file functions.
    pub(crate) fn file_functions(&self, status: i32, moved: Option<u64>) {
        with(|state| (state.status, state.moved) = (status, moved));
    }

    /// The calls since the last time.
    pub(crate) fn calls(&self) -> Vec<String> {
        with(|state| std::mem::take(&mut state.calls))
    }
}

unsafe extern "C" fn attributes(out: *mut PointerAttributes, pointer: *const c_void) -> hipError_t {
    let (inside, pinned) = with(|state| {
        let at = pointer as usize;
        ((state.base..state.base + state.len).contains(&at), state.pinned == at)
    });
    // SAFETY: requires a writable structure; the caller gives one.
    let out = unsafe { &mut *out };
    (out.kind, out.device) = match (inside, pinned) {
        (true, _) => (2, DEVICE),
        (false, true) => (1, 0),
        (false, false) => (0, 0),
    };
    call("hipPointerGetAttributes", String::new())
}

unsafe extern "C" fn range(base: *mut *mut c_void, len: *mut usize, _pointer: *mut c_void) -> hipError_t {
    let known = with(|state| (state.base, state.len));
    // SAFETY: requires a writable value; the caller gives one.
    unsafe { *base = known.0 as *mut c_void };
    // SAFETY: as above.
    unsafe { *len = known.1 };
    call("hipMemGetAddressRange", String::new())
}

unsafe extern "C" fn memcpy(to: *mut c_void, from: *const c_void, len: usize, kind: c_uint) -> hipError_t {
    let result = call("hipMemcpy", format!(" {len} kind {kind}"));
    if result == hipError_t(0) {
        // SAFETY: requires two ranges of that length; the caller gives them.
        unsafe { std::ptr::copy(from.cast::<u8>(), to.cast::<u8>(), len) };
    }
    result
}

unsafe extern "C" fn synchronize(stream: hipStream_t) -> hipError_t {
    assert!(stream.is_null());
    call("hipStreamSynchronize", String::new())
}

unsafe extern "C" fn init(flags: c_uint) -> hipError_t {
    call("hipInit", format!(" {flags}"))
}

unsafe extern "C" fn get_device(out: *mut c_int) -> hipError_t {
    // SAFETY: requires a writable int; the caller gives one.
    unsafe { *out = with(|state| state.device) };
    call("hipGetDevice", String::new())
}

unsafe extern "C" fn set_device(device: c_int) -> hipError_t {
    with(|state| state.device = device);
    call("hipSetDevice", format!(" {device}"))
}

unsafe extern "C" fn stream_get_device(_stream: hipStream_t, out: *mut c_int) -> hipError_t {
    // SAFETY: requires a writable int; the caller gives one.
    unsafe { *out = DEVICE };
    call("hipStreamGetDevice", String::new())
}

unsafe extern "C" fn version(out: *mut c_int) -> hipError_t {
    // SAFETY: requires a writable int; the caller gives one.
    unsafe { *out = 70_000_000 };
    call("hipRuntimeGetVersion", String::new())
}

unsafe extern "C" fn procedure(
    name: *const c_char,
    out: *mut *mut c_void,
    version: c_int,
    flags: u64,
    status: *mut c_int,
) -> hipError_t {
    assert!(status.is_null());
    // SAFETY: requires a C string; the caller gives one.
    let name = unsafe { CStr::from_ptr(name) }.to_str().unwrap();
    let found: super::ais::ReadOrWrite = match name {
        "hipAmdFileRead" => file_read,
        "hipAmdFileWrite" => file_write,
        _ => return hipError_t(1),
    };
    // SAFETY: requires a writable pointer; the caller gives one.
    unsafe { *out = found as *mut c_void };
    call("hipGetProcAddress", format!(" {name} {version} {flags}"))
}

unsafe extern "C" fn file_read(
    file: FileHandle,
    device: *mut c_void,
    size: u64,
    offset: i64,
    moved: *mut u64,
    status: *mut i32,
) -> hipError_t {
    transfer("hipAmdFileRead", file, device, (size, offset), moved, status)
}

unsafe extern "C" fn file_write(
    file: FileHandle,
    device: *mut c_void,
    size: u64,
    offset: i64,
    moved: *mut u64,
    status: *mut i32,
) -> hipError_t {
    transfer("hipAmdFileWrite", file, device, (size, offset), moved, status)
}

fn transfer(
    name: &str,
    file: FileHandle,
    device: *mut c_void,
    (size, offset): (u64, i64),
    moved: *mut u64,
    status: *mut i32,
) -> hipError_t {
    let (base, said_status, said_moved) = with(|state| (state.base, state.status, state.moved));
    // SAFETY: requires a writable value that holds 0; the caller gives one.
    assert_eq!(std::mem::replace(unsafe { &mut *moved }, said_moved.unwrap_or(size)), 0);
    // SAFETY: as above.
    assert_eq!(std::mem::replace(unsafe { &mut *status }, said_status), 0);
    call(name, format!(" fd {} at {} size {size} offset {offset}", file.fd(), device as usize - base))
}

unsafe extern "C" fn host_address(device: *const c_void, len: usize) -> *mut c_void {
    let (base, end) = with(|state| (state.base, state.base + state.len));
    let start = device as usize;
    if start >= base && start + len <= end { device.cast_mut() } else { std::ptr::null_mut() }
}

unsafe extern "C" fn file_transfer(
    fd: c_int,
    offset: c_longlong,
    device: *mut c_void,
    len: usize,
    is_write: c_int,
    moved: *mut usize,
) -> c_int {
    match call("file_transfer", format!(" {len}")).0 {
        0 => {}
        code => return code as c_int,
    }
    let count = if len == 0 {
        0
    } else if is_write == 0 {
        // SAFETY: requires writable memory; holds as the library checked the range.
        unsafe { libc::pread(fd, device, len, offset) }
    } else {
        // SAFETY: requires readable memory; holds as above.
        unsafe { libc::pwrite(fd, device, len, offset) }
    };
    match usize::try_from(count) {
        Ok(count) => {
            // SAFETY: requires a writable place; holds by contract.
            unsafe { moved.write(count) };
            0
        }
        Err(_) => std::io::Error::last_os_error().raw_os_error().unwrap(),
    }
}
