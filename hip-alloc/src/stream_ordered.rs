//! Device memory that is allocated and freed in the order of a stream.
#![allow(unsafe_code, reason = "allocates in a stream")]

use core::ptr;

use crate::buffer::{self, DeviceBuffer};
use crate::error::{Cause, Error, Result};
use crate::region::Region;
use crate::registrations::Registrations;
use crate::stream::Stream;
use crate::table;

impl DeviceBuffer {
    /// Allocates `len` bytes of arbitrary content on the stream's device, from a pool that HIP keeps for it.
    ///
    /// Waits for what the stream was given so far, so that the buffer can be used as any other, by any stream. It is freed
    /// in the order of this stream, which it keeps alive: Drop and [`free`](Self::free) do not wait for the device then, and
    /// the pool may give the memory out again at once. Who uses it by its address alone waits before.
    ///
    /// ```
    /// # fn main() -> hip_alloc::Result<()> {
    /// use hip_alloc::{DeviceBuffer, Stream};
    ///
    /// let stream = Stream::new()?;
    /// for round in 0..3 {
    ///     let mut buffer = DeviceBuffer::new_on(&stream, 4096)?;
    ///     stream.scope(|scope| scope.fill(buffer.as_mut_slice(), round))?;
    ///     assert_eq!(buffer.to_vec()?, [round; 4096]);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`new`](Self::new); [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) if the HIP in use or the device has
    /// no such memory; HIP's if the wait fails.
    #[doc(alias("hipMallocAsync", "hipFreeAsync"))]
    pub fn new_on(stream: &Stream, len: usize) -> Result<Self> {
        const OPERATION: &str = "DeviceBuffer::new_on";
        let size = buffer::size(OPERATION, len, 0)?;
        let hip = table::functions(OPERATION)?;
        let device = stream.device();
        let registrations = Registrations::default();
        if size == 0 {
            let (allocation, region) = (ptr::null_mut(), Region { pointer: ptr::null_mut(), len, device });
            return Ok(Self { allocation, region, registrations, stream: None });
        }
        let allocation = {
            let _guard = device.enter(OPERATION, hip)?;
            // SAFETY: requires a live stream; holds because the reference stands for one.
            unsafe { hip.malloc_async(size, stream.as_ref().raw()) }
                .ok_or_else(|| Error::new(OPERATION, Cause::Missing { call: "hipMallocAsync" }))?
                .map_err(|failure| buffer::not_allocated(OPERATION, hip, failure, size, device))?
        };
        let region = Region { pointer: allocation, len, device };
        let buffer = Self { allocation, region, registrations, stream: Some(stream.clone()) };
        stream.as_ref().synchronize_as(OPERATION)?;
        Ok(buffer)
    }
}
