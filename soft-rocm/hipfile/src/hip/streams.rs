//! The functions of HIP that put work on streams, all of which some HIP lacks.

use std::ffi::{c_int, c_uint, c_void};
use std::ptr::{self, NonNull};

use hipfile_sys::{hipError_t, hipErrorNotSupported, hipErrorOutOfMemory, hipStream_t};

use super::{DEVICE_TO_HOST, HOST_TO_DEVICE, Hip, check};

/// What a stream calls when it reaches it.
pub(crate) type HostFunction = unsafe extern "C" fn(*mut c_void);

pub(crate) type Launch = unsafe extern "C" fn(hipStream_t, HostFunction, *mut c_void) -> hipError_t;

/// A stream that does not wait for the default stream, nor it for that.
const NON_BLOCKING: c_uint = 1;

/// The functions.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Streams {
    pub(crate) launch_host_func: Option<Launch>,
    /// The software HIP's: neighbours on a stream that were launched so may run side by side.
    pub(crate) launch_concurrent: Option<Launch>,
    pub(crate) memcpy_with_stream:
        Option<unsafe extern "C" fn(*mut c_void, *const c_void, usize, c_uint, hipStream_t) -> hipError_t>,
    pub(crate) create_with_flags: Option<unsafe extern "C" fn(*mut hipStream_t, c_uint) -> hipError_t>,
    pub(crate) destroy: Option<unsafe extern "C" fn(hipStream_t) -> hipError_t>,
    pub(crate) host_malloc: Option<unsafe extern "C" fn(*mut *mut c_void, usize, c_uint) -> hipError_t>,
    pub(crate) host_free: Option<unsafe extern "C" fn(*mut c_void) -> hipError_t>,
}

/// A stream of the library's own. The thread that made it uses it and drops it.
#[derive(Debug)]
pub(crate) struct PrivateStream {
    hip: &'static Hip,
    device: c_int,
    stream: hipStream_t,
}

impl PrivateStream {
    /// Makes the device current for the calling thread, and a stream on it.
    pub(crate) fn new(hip: &'static Hip, device: c_int) -> Result<Self, hipError_t> {
        let create = hip.streams.create_with_flags.ok_or(hipErrorNotSupported)?;
        hip.make_current(device)?;
        let mut stream = ptr::null_mut();
        // SAFETY: requires a writable stream; holds, it is a local.
        check(unsafe { create(&mut stream, NON_BLOCKING) })?;
        Ok(Self { hip, device, stream })
    }

    pub(crate) fn device(&self) -> c_int {
        self.device
    }

    /// Copies host memory to the device and waits for the copy alone.
    pub(crate) fn copy_in(&self, device: *mut c_void, host: &[u8]) -> Result<(), hipError_t> {
        let copy = self.hip.streams.memcpy_with_stream.ok_or(hipErrorNotSupported)?;
        // SAFETY: requires a readable source and a stream; holds, they are a slice and ours. HIP checks the
        // destination.
        check(unsafe { copy(device, host.as_ptr().cast(), host.len(), HOST_TO_DEVICE, self.stream) })
    }

    /// Copies device memory to the host and waits for the copy alone.
    pub(crate) fn copy_out(&self, host: &mut [u8], device: *const c_void) -> Result<(), hipError_t> {
        let copy = self.hip.streams.memcpy_with_stream.ok_or(hipErrorNotSupported)?;
        // SAFETY: requires a writable destination and a stream; holds, they are a slice and ours. HIP checks the
        // source.
        check(unsafe { copy(host.as_mut_ptr().cast(), device, host.len(), DEVICE_TO_HOST, self.stream) })
    }
}

impl Drop for PrivateStream {
    fn drop(&mut self) {
        if let Some(destroy) = self.hip.streams.destroy {
            // SAFETY: requires a stream that nobody uses any more; holds because it was this value's alone.
            let _ = unsafe { destroy(self.stream) };
        }
    }
}

impl Hip {
    /// Puts a function on a stream: it runs after all that is on it, and before all that comes.
    ///
    /// # Safety
    ///
    /// The function may be called with the data at any time from now on, on any thread.
    pub(crate) unsafe fn launch(
        &self,
        stream: hipStream_t,
        function: HostFunction,
        data: *mut c_void,
    ) -> Result<(), hipError_t> {
        let launch = self.streams.launch_host_func.ok_or(hipErrorNotSupported)?;
        // SAFETY: requires a stream, which the C interface demands of the caller, and a function to be called with the
        // data; holds by contract.
        check(unsafe { launch(stream, function, data) })
    }

    /// As [`Hip::launch`], but neighbours launched so may run side by side.
    ///
    /// # Safety
    ///
    /// As for [`Hip::launch`].
    pub(crate) unsafe fn launch_concurrent(
        &self,
        stream: hipStream_t,
        function: HostFunction,
        data: *mut c_void,
    ) -> Result<(), hipError_t> {
        let launch = self.streams.launch_concurrent.ok_or(hipErrorNotSupported)?;
        // SAFETY: as above.
        check(unsafe { launch(stream, function, data) })
    }

    /// Whether this HIP can copy on streams of the library's own.
    pub(crate) fn has_private_streams(&self) -> bool {
        self.streams.memcpy_with_stream.is_some()
            && self.streams.create_with_flags.is_some()
            && self.set_device.is_some()
    }

    /// Memory of the host that devices reach.
    pub(crate) fn allocate_pinned(&self, len: usize) -> Result<NonNull<u8>, hipError_t> {
        let allocate = self.streams.host_malloc.ok_or(hipErrorNotSupported)?;
        let mut memory = ptr::null_mut();
        // SAFETY: requires a writable pointer; holds, it is a local.
        check(unsafe { allocate(&mut memory, len, 0) })?;
        NonNull::new(memory.cast()).ok_or(hipErrorOutOfMemory)
    }

    /// Gives pinned memory back. HIP may wait for all streams meanwhile.
    ///
    /// # Safety
    ///
    /// The memory is from [`Hip::allocate_pinned`] and nothing uses it any more.
    pub(crate) unsafe fn free_pinned(&self, memory: NonNull<u8>) -> Result<(), hipError_t> {
        let free = self.streams.host_free.ok_or(hipErrorNotSupported)?;
        // SAFETY: requires memory of hipHostMalloc that is not in use; holds by contract.
        check(unsafe { free(memory.as_ptr().cast()) })
    }
}
