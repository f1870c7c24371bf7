//! The HIP functions this library calls, as a table filled at run time.
//!
//! Nothing here knows whose HIP it is: AMD's, ours or a test's.

mod ais;
mod load;
mod streams;

use std::ffi::{c_int, c_longlong, c_uint, c_void};
use std::ptr::{self, NonNull};
use std::sync::OnceLock;

use hipfile_sys::{hipError_t, hipErrorNotSupported, hipStream_t, hipSuccess};

pub(crate) use ais::{Ais, FileHandle};
pub(crate) use load::get;
pub(crate) use streams::{PrivateStream, Streams};

/// The result of a HIP function as a `Result`.
fn check(code: hipError_t) -> Result<(), hipError_t> {
    if code == hipSuccess { Ok(()) } else { Err(code) }
}

/// `hipPointerAttribute_t`.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct PointerAttributes {
    pub(crate) kind: c_int,
    pub(crate) device: c_int,
    pub(crate) device_pointer: *mut c_void,
    pub(crate) host_pointer: *mut c_void,
    pub(crate) is_managed: c_int,
    pub(crate) allocation_flags: c_uint,
}

const HOST_TO_DEVICE: c_uint = 1;
const DEVICE_TO_HOST: c_uint = 2;

/// The first version whose `hipMemoryType` counts device memory as 2; before it was 1.
const HIP_6: c_int = 60_000_000;

/// The functions. Those that older or other runtimes lack are optional.
#[derive(Debug)]
pub(crate) struct Hip {
    pub(crate) pointer_get_attributes:
        unsafe extern "C" fn(*mut PointerAttributes, *const c_void) -> hipError_t,
    pub(crate) mem_get_address_range:
        unsafe extern "C" fn(*mut *mut c_void, *mut usize, *mut c_void) -> hipError_t,
    pub(crate) memcpy: unsafe extern "C" fn(*mut c_void, *const c_void, usize, c_uint) -> hipError_t,
    pub(crate) stream_synchronize: unsafe extern "C" fn(hipStream_t) -> hipError_t,
    pub(crate) init: Option<unsafe extern "C" fn(c_uint) -> hipError_t>,
    pub(crate) get_device: Option<unsafe extern "C" fn(*mut c_int) -> hipError_t>,
    pub(crate) set_device: Option<unsafe extern "C" fn(c_int) -> hipError_t>,
    pub(crate) stream_get_device: Option<unsafe extern "C" fn(hipStream_t, *mut c_int) -> hipError_t>,
    pub(crate) runtime_get_version: Option<unsafe extern "C" fn(*mut c_int) -> hipError_t>,
    pub(crate) get_proc_address: Option<ais::GetProcAddress>,
    /// The software HIP's alias of device memory for host code: null unless the whole range lies in one allocation.
    pub(crate) host_address: Option<unsafe extern "C" fn(*const c_void, usize) -> *mut c_void>,
    /// The software HIP's way between a file and device memory that has no alias: −1 where it has none.
    pub(crate) file_transfer:
        Option<unsafe extern "C" fn(c_int, c_longlong, *mut c_void, usize, c_int, *mut usize) -> c_int>,
    /// What puts work on streams.
    pub(crate) streams: Streams,
    /// What `hipPointerGetAttributes` reports for device memory.
    pub(crate) device_memory: c_int,
    /// The fast path's functions, looked up when a transfer first asks for them.
    pub(crate) ais: OnceLock<Option<Ais>>,
}

impl Hip {
    /// What HIP knows about a pointer, which may be any value.
    pub(crate) fn attributes(&self, pointer: *const c_void) -> Result<PointerAttributes, hipError_t> {
        let mut attributes = PointerAttributes {
            kind: 0,
            device: 0,
            device_pointer: ptr::null_mut(),
            host_pointer: ptr::null_mut(),
            is_managed: 0,
            allocation_flags: 0,
        };
        // SAFETY: requires a writable structure; holds, it is a local. The pointer is looked up, not read.
        check(unsafe { (self.pointer_get_attributes)(&mut attributes, pointer) })?;
        Ok(attributes)
    }

    /// Start and length of the allocation that a pointer lies in.
    pub(crate) fn allocation(&self, pointer: *const c_void) -> Result<(*mut c_void, usize), hipError_t> {
        let (mut base, mut len) = (ptr::null_mut(), 0);
        // SAFETY: requires two writable values; holds, they are locals. The pointer is looked up, not read.
        check(unsafe { (self.mem_get_address_range)(&mut base, &mut len, pointer.cast_mut()) })?;
        Ok((base, len))
    }

    /// Copies host memory to the device.
    pub(crate) fn copy_in(&self, device: *mut c_void, host: &[u8]) -> Result<(), hipError_t> {
        // SAFETY: requires a readable source; holds, it is a slice. HIP checks the destination.
        check(unsafe { (self.memcpy)(device, host.as_ptr().cast(), host.len(), HOST_TO_DEVICE) })
    }

    /// Copies device memory to the host.
    pub(crate) fn copy_out(&self, host: &mut [u8], device: *const c_void) -> Result<(), hipError_t> {
        // SAFETY: requires a writable destination; holds, it is a slice. HIP checks the source.
        check(unsafe { (self.memcpy)(host.as_mut_ptr().cast(), device, host.len(), DEVICE_TO_HOST) })
    }

    /// Waits for the default stream of the current device.
    pub(crate) fn synchronize(&self) -> Result<(), hipError_t> {
        // SAFETY: requires a stream; holds because null is the default stream.
        check(unsafe { (self.stream_synchronize)(ptr::null_mut()) })
    }

    /// Prepares the calling thread for the fast path.
    pub(crate) fn initialize(&self) -> Result<(), hipError_t> {
        // SAFETY: requires flags 0; holds.
        self.init.map_or(Ok(()), |init| check(unsafe { init(0) }))
    }

    /// What `hipPointerGetAttributes` reports for pinned host memory.
    pub(crate) fn host_memory(&self) -> c_int {
        self.device_memory - 1
    }

    /// The calling thread's current device; `None` where HIP can't tell.
    pub(crate) fn current_device(&self) -> Result<Option<c_int>, hipError_t> {
        let Some(get) = self.get_device else { return Ok(None) };
        let mut device = 0;
        // SAFETY: requires a writable int; holds, it is a local.
        check(unsafe { get(&mut device) })?;
        Ok(Some(device))
    }

    /// Makes a device current for the calling thread.
    pub(crate) fn make_current(&self, device: c_int) -> Result<(), hipError_t> {
        let set = self.set_device.ok_or(hipErrorNotSupported)?;
        // SAFETY: requires nothing: HIP checks the number.
        check(unsafe { set(device) })
    }

    /// The device of a stream, which may be any value.
    pub(crate) fn stream_device(&self, stream: hipStream_t) -> Result<c_int, hipError_t> {
        let Some(get) = self.stream_get_device else {
            // The default stream belongs to the current device.
            let current = if stream.is_null() { self.current_device()? } else { None };
            return current.ok_or(hipErrorNotSupported);
        };
        let mut device = 0;
        // SAFETY: requires a stream and a writable int; holds as far as the caller's stream is one, which the C
        // interface demands.
        check(unsafe { get(stream, &mut device) })?;
        Ok(device)
    }

    /// Where host code reaches `len` bytes of device memory, if this HIP has such a place.
    #[inline]
    pub(crate) fn host_address(&self, device: *const c_void, len: usize) -> Option<NonNull<u8>> {
        // SAFETY: requires nothing: the range is looked up, not read.
        NonNull::new(unsafe { self.host_address?(device, len) }.cast())
    }

    /// Whether HIP moves bytes between files and this device memory.
    pub(crate) fn moves_files(&self, device: *mut c_void) -> bool {
        // Of nothing, so that no file is asked.
        self.file_transfer(-1, 0, device, 0, false).is_some()
    }

    /// Has HIP move bytes between a file and device memory, if it does that; how many, or errno.
    pub(crate) fn file_transfer(
        &self,
        fd: c_int,
        offset: i64,
        device: *mut c_void,
        len: usize,
        is_write: bool,
    ) -> Option<Result<usize, c_int>> {
        let transfer = self.file_transfer?;
        let mut moved = 0;
        // SAFETY: requires a writable place; holds, it is a local. The device range is looked up.
        match unsafe { transfer(fd, offset, device, len, is_write.into(), &mut moved) } {
            0 => Some(Ok(moved)),
            -1 => None,
            errno => Some(Err(errno)),
        }
    }

    /// The version of the runtime, 0 where it can't tell.
    fn version(&self) -> c_int {
        let mut version = 0;
        // SAFETY: requires a writable int; holds, it is a local.
        match self.runtime_get_version.map(|get| unsafe { get(&mut version) }) {
            Some(code) if code == hipSuccess => version,
            _ => 0,
        }
    }
}

#[cfg(test)]
pub(crate) mod test;
