//! Calls of libamdhip64 in any order: device memory, copies, streams and events. Host memory is what it says it is;
//! device addresses and all numbers are anything near the truth.

use std::ffi::{c_int, c_uint, c_void};
use std::ptr;

// Its functions are linked by their names.
use soft_rocm_hip as _;

use crate::bytes::Bytes;

unsafe extern "C" {
    fn hipMalloc(out: *mut *mut c_void, size: usize) -> c_int;
    fn hipFree(address: *mut c_void) -> c_int;
    fn hipMemcpy(to: *mut c_void, from: *const c_void, size: usize, kind: c_uint) -> c_int;
    fn hipMemcpyAsync(
        to: *mut c_void,
        from: *const c_void,
        size: usize,
        kind: c_uint,
        stream: *mut c_void,
    ) -> c_int;
    fn hipMemset(to: *mut c_void, value: c_int, size: usize) -> c_int;
    fn hipMemGetAddressRange(base: *mut *mut c_void, size: *mut usize, address: *mut c_void) -> c_int;
    fn hipSetDevice(device: c_int) -> c_int;
    fn hipStreamCreateWithPriority(out: *mut *mut c_void, flags: c_uint, priority: c_int) -> c_int;
    fn hipStreamDestroy(stream: *mut c_void) -> c_int;
    fn hipStreamSynchronize(stream: *mut c_void) -> c_int;
    fn hipDeviceSynchronize() -> c_int;
    fn hipEventCreateWithFlags(out: *mut *mut c_void, flags: c_uint) -> c_int;
    fn hipEventRecord(event: *mut c_void, stream: *mut c_void) -> c_int;
    fn hipEventSynchronize(event: *mut c_void) -> c_int;
    fn hipEventDestroy(event: *mut c_void) -> c_int;
    fn hipDeviceGetAttribute(value: *mut c_int, attribute: c_uint, device: c_int) -> c_int;
}

const HOST: usize = 4096;

/// The largest allocation.
const LARGEST: usize = 1 << 20;

struct Run<'d> {
    bytes: Bytes<'d>,
    /// Outlives every copy, since the device is waited for in the end.
    host: Box<[u8; HOST]>,
    allocations: Vec<*mut c_void>,
    streams: Vec<*mut c_void>,
    events: Vec<*mut c_void>,
}

/// Makes the calls, then gives everything back.
pub fn run(data: &[u8]) {
    let mut run = Run {
        bytes: Bytes::new(data),
        host: Box::new([7; HOST]),
        allocations: vec![],
        streams: vec![],
        events: vec![],
    };
    for _ in 0..64 {
        if run.bytes.is_empty() {
            break;
        }
        run.call();
    }
    // SAFETY: requires nothing.
    unsafe { hipSetDevice(0) };
    // SAFETY: requires nothing.
    unsafe { hipDeviceSynchronize() };
    for stream in run.streams {
        // SAFETY: requires a stream that nobody uses; holds, each is in the list once.
        unsafe { hipStreamDestroy(stream) };
    }
    for event in run.events {
        // SAFETY: requires an event; holds, each is in the list once.
        unsafe { hipEventDestroy(event) };
    }
    for allocation in run.allocations {
        // SAFETY: requires nothing: the address is looked up.
        unsafe { hipFree(allocation) };
    }
}

impl Run<'_> {
    /// An address in or near device memory, which the library checks.
    fn device(&mut self) -> *mut c_void {
        let known = self.allocations.clone();
        let base = self.bytes.pick(&known, ptr::null_mut());
        if base.is_null() { base } else { base.wrapping_byte_add(self.bytes.size() % (1 << 20)) }
    }

    fn stream(&mut self) -> *mut c_void {
        let known = self.streams.clone();
        if self.bytes.byte() % 3 == 0 { ptr::null_mut() } else { self.bytes.pick(&known, ptr::null_mut()) }
    }

    fn call(&mut self) {
        match self.bytes.byte() % 12 {
            0 => {
                let (mut out, size) = (ptr::null_mut(), self.bytes.size());
                // More than there is, or little enough to be filled in no time.
                let size = if size > 1 << 40 { size } else { size % LARGEST };
                // SAFETY: requires a writable pointer; holds, it is a local.
                if unsafe { hipMalloc(&mut out, size) } == 0 && !out.is_null() {
                    self.allocations.push(out);
                }
            }
            // SAFETY: requires nothing: the address is looked up.
            1 => drop(unsafe { hipFree(self.device()) }),
            2..=4 => self.copy(),
            5 => {
                let (to, value, size) = (self.device(), self.bytes.number() as c_int, self.bytes.size());
                // SAFETY: requires nothing for addresses of the device: the range is checked.
                unsafe { hipMemset(to, value, size) };
            }
            6 => {
                let (mut base, mut size) = (ptr::null_mut(), 0);
                let address = self.bytes.size() as *mut c_void;
                // SAFETY: requires two writable values; holds, they are locals. The address is looked up.
                unsafe { hipMemGetAddressRange(&mut base, &mut size, address) };
            }
            7 => {
                let mut out = ptr::null_mut();
                let (flags, priority) = (self.bytes.number() as c_uint, self.bytes.number() as c_int);
                // SAFETY: requires a writable pointer; holds, it is a local.
                if unsafe { hipStreamCreateWithPriority(&mut out, flags, priority) } == 0 {
                    self.streams.push(out);
                }
            }
            8 => {
                let stream = self.stream();
                // SAFETY: requires a stream; holds, all in the list are alive.
                unsafe { hipStreamSynchronize(stream) };
            }
            9 => self.event(),
            10 => {
                let (mut value, attribute) = (0, self.bytes.number() as c_uint);
                let device = self.bytes.number() as c_int;
                // SAFETY: requires a writable int; holds, it is a local.
                unsafe { hipDeviceGetAttribute(&mut value, attribute, device) };
            }
            // SAFETY: requires nothing: the number is checked.
            _ => drop(unsafe { hipSetDevice(self.bytes.number() as c_int) }),
        }
    }

    fn copy(&mut self) {
        let host: *mut c_void = self.host.as_mut_ptr().cast();
        let device = self.device();
        let other = self.device();
        if device.is_null() || other.is_null() {
            return;
        }
        let (to, from, size) = match self.bytes.byte() % 3 {
            0 => (device, host, self.bytes.size() % (HOST + 1)),
            1 => (host, device, self.bytes.size() % (HOST + 1)),
            _ => (device, other, self.bytes.size()),
        };
        let kind = self.bytes.number() as c_uint;
        if self.bytes.byte() % 2 == 0 {
            // SAFETY: requires host memory of that size; holds. Ranges of the device are checked.
            unsafe { hipMemcpy(to, from, size, kind) };
        } else {
            let stream = self.stream();
            // SAFETY: as above; the host's memory stays until the device was waited for.
            unsafe { hipMemcpyAsync(to, from, size, kind, stream) };
        }
    }

    fn event(&mut self) {
        let mut out = ptr::null_mut();
        // SAFETY: requires a writable pointer; holds, it is a local.
        if unsafe { hipEventCreateWithFlags(&mut out, self.bytes.number() as c_uint) } != 0 {
            return;
        }
        self.events.push(out);
        let stream = self.stream();
        // SAFETY: requires an event and a stream; holds, both are alive.
        unsafe { hipEventRecord(out, stream) };
        if self.bytes.byte() % 2 == 0 {
            // SAFETY: requires an event; holds.
            unsafe { hipEventSynchronize(out) };
        }
    }
}
