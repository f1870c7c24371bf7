//! What stands for a framework: memory, a stream and copies, by cubecl-hip-sys alone.
#![allow(unsafe_code, reason = "calls HIP")]

use std::ffi::c_void;
use std::ptr;

use cubecl_hip_sys::{
    HIP_SUCCESS, hipError_t, hipFree, hipMalloc, hipMemcpyAsync, hipMemcpyKind_hipMemcpyDeviceToHost,
    hipMemsetAsync, hipStream_t, hipStreamCreate, hipStreamSynchronize,
};

/// HIP's code as an error.
fn checked(code: hipError_t) -> Result<(), String> {
    if code == HIP_SUCCESS { Ok(()) } else { Err(format!("HIP answered {code}")) }
}

/// One large allocation, given out in pieces: an address and a length each. It stays until it is freed by hand.
pub struct Pool {
    base: *mut c_void,
    len: usize,
    next: usize,
}

impl Pool {
    pub fn new(len: usize) -> Result<Self, String> {
        let mut base = ptr::null_mut();
        // SAFETY: requires a place for the address; holds for a local variable.
        checked(unsafe { hipMalloc(&raw mut base, len) })?;
        Ok(Self { base, len, next: 0 })
    }

    pub fn as_ptr(&self) -> *mut c_void {
        self.base
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// The next `len` bytes, which nobody else gets. Pools align what they give out.
    pub fn take(&mut self, len: usize) -> Result<Handle, String> {
        let start = self.next.next_multiple_of(256);
        self.next = start.saturating_add(len);
        if self.next > self.len {
            return Err("the pool has no room left".into());
        }
        Ok(Handle { ptr: self.base.wrapping_byte_add(start), len })
    }

    /// # Safety
    ///
    /// Nothing uses the memory any more, and nothing has it registered.
    pub unsafe fn free(self) -> Result<(), String> {
        // SAFETY: requires memory of hipMalloc that is not used any more; holds because `new` got it there, and the caller
        // promises the rest.
        checked(unsafe { hipFree(self.base) })
    }
}

/// Memory of a tensor: a pointer into the pool.
pub struct Handle {
    pub ptr: *mut c_void,
    pub len: usize,
}

/// A stream of HIP, kept as long as the process lives.
pub struct Queue(hipStream_t);

impl Queue {
    pub fn new() -> Result<Self, String> {
        let mut stream = ptr::null_mut();
        // SAFETY: requires a place for the stream; holds for a local variable.
        checked(unsafe { hipStreamCreate(&raw mut stream) })?;
        Ok(Self(stream))
    }

    pub fn raw(&self) -> hipStream_t {
        self.0
    }

    /// Fills the memory of a tensor, in order with everything else on this stream.
    pub fn fill(&self, tensor: &Handle, value: u8) -> Result<(), String> {
        // SAFETY: requires device memory that stays and a live stream; holds because `main` frees the pool last and no stream
        // is destroyed.
        checked(unsafe { hipMemsetAsync(tensor.ptr, value.into(), tensor.len, self.0) })
    }

    /// The bytes of a tensor, after everything that was put on this stream.
    pub fn download(&self, tensor: &Handle) -> Result<Vec<u8>, String> {
        let mut bytes = vec![0; tensor.len];
        let to = bytes.as_mut_ptr().cast();
        let kind = hipMemcpyKind_hipMemcpyDeviceToHost;
        // SAFETY: requires so many bytes on either side until the stream has passed the copy; holds because both are that
        // long, and the stream is waited for before `bytes` is touched or dropped: what has failed is never freed.
        let copied = checked(unsafe { hipMemcpyAsync(to, tensor.ptr, tensor.len, kind, self.0) });
        // SAFETY: requires a live stream; holds because no stream is destroyed.
        let waited = checked(unsafe { hipStreamSynchronize(self.0) });
        if let Err(error) = waited {
            std::mem::forget(bytes);
            return Err(error);
        }
        copied.map(|()| bytes)
    }
}
