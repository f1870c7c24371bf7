//! Copies and fills whose memory a scope borrows.
#![allow(unsafe_code, reason = "lends borrowed memory to streams")]

use crate::error::Result;
use crate::scope::Scope;
use crate::slice::DeviceSlice;
use crate::slice_mut::DeviceSliceMut;
use crate::transfer::Transfer;

/// Each puts work into the scope's stream and returns at once. It is done in the stream's order, at the latest when the
/// scope ends; what it borrows is borrowed until then. Empty memory is left alone without a call.
///
/// Copies overlap with other work if the host memory is pinned ([`PinnedBuffer`](crate::PinnedBuffer)); else HIP may wait
/// for some of them.
///
/// # Errors
/// [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput) if the memory is of another device than the stream, or
/// if source and destination are not of the same length; nothing was put into the stream then. Else HIP's, and the
/// destination may be partly written.
impl<'scope> Scope<'scope, '_> {
    /// Fills `destination` with the bytes of `source`.
    ///
    /// ```
    /// # fn main() -> hip_alloc::Result<()> {
    /// let buffer = hip_alloc::DeviceBuffer::from_host(b"0123456789")?;
    /// let (mut head, mut tail) = ([0; 2], [0; 3]);
    /// hip_alloc::Stream::new()?.scope(|scope| {
    ///     scope.copy_to_host(buffer.slice(..2)?, &mut head)?;
    ///     scope.copy_to_host(buffer.slice(7..)?, &mut tail)
    /// })?;
    /// assert_eq!((&head, &tail), (b"01", b"789"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As for every transfer of a scope, see above.
    #[doc(alias = "hipMemcpyAsync")]
    pub fn copy_to_host(&self, source: DeviceSlice<'scope>, destination: &'scope mut [u8]) -> Result<()> {
        let (len, source) = (destination.len(), source.region());
        let transfer = Transfer::ToHost { destination: destination.as_mut_ptr(), len, source };
        // SAFETY: requires memory that the scope borrows; holds because both arguments are borrowed for `'scope`.
        unsafe { self.transfer("Scope::copy_to_host", transfer) }
    }

    /// Fills `destination` with the bytes of `source`.
    ///
    /// ```
    /// # fn main() -> hip_alloc::Result<()> {
    /// let (mut buffer, text) = (hip_alloc::DeviceBuffer::zeroed(5)?, String::from("abc"));
    /// hip_alloc::Stream::new()?.scope(|scope| scope.copy_from_host(buffer.slice_mut(1..4)?, text.as_bytes()))?;
    /// assert_eq!(buffer.to_vec()?, b"\0abc\0");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As for every transfer of a scope, see above.
    #[doc(alias = "hipMemcpyAsync")]
    pub fn copy_from_host(&self, destination: DeviceSliceMut<'scope>, source: &'scope [u8]) -> Result<()> {
        let (len, destination) = (source.len(), destination.region());
        let transfer = Transfer::FromHost { destination, source: source.as_ptr(), len };
        // SAFETY: requires memory that the scope borrows; holds because both arguments are borrowed for `'scope`.
        unsafe { self.transfer("Scope::copy_from_host", transfer) }
    }

    /// Fills `destination` with the bytes of `source`, both on the stream's device.
    ///
    /// ```
    /// # fn main() -> hip_alloc::Result<()> {
    /// use hip_alloc::DeviceBuffer;
    ///
    /// let (source, mut destination) = (DeviceBuffer::from_host(b"abc")?, DeviceBuffer::new(3)?);
    /// hip_alloc::Stream::new()?.scope(|scope| scope.copy(destination.as_mut_slice(), source.as_slice()))?;
    /// assert_eq!(destination.to_vec()?, b"abc");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As for every transfer of a scope, see above.
    #[doc(alias = "hipMemcpyAsync")]
    pub fn copy(&self, destination: DeviceSliceMut<'scope>, source: DeviceSlice<'scope>) -> Result<()> {
        let transfer = Transfer::Within { destination: destination.region(), source: source.region() };
        // SAFETY: requires memory that the scope borrows; holds because both arguments are borrowed for `'scope`.
        unsafe { self.transfer("Scope::copy", transfer) }
    }

    /// Sets every byte to `value`.
    ///
    /// ```
    /// # fn main() -> hip_alloc::Result<()> {
    /// let mut buffer = hip_alloc::DeviceBuffer::new(4)?;
    /// hip_alloc::Stream::new()?.scope(|scope| {
    ///     let (head, tail) = buffer.as_mut_slice().split_at_mut(1)?;
    ///     scope.fill(head, b'<')?;
    ///     scope.fill(tail, b'>')
    /// })?;
    /// assert_eq!(buffer.to_vec()?, b"<>>>");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As for every transfer of a scope, see above.
    #[doc(alias = "hipMemsetAsync")]
    pub fn fill(&self, destination: DeviceSliceMut<'scope>, value: u8) -> Result<()> {
        let transfer = Transfer::Fill { destination: destination.region(), value };
        // SAFETY: requires memory that the scope borrows; holds because the argument is borrowed for `'scope`.
        unsafe { self.transfer("Scope::fill", transfer) }
    }

    /// # Safety
    /// For `'scope` the memory stays, nobody writes the source, and nobody else uses the destination.
    unsafe fn transfer(&self, operation: &'static str, transfer: Transfer) -> Result<()> {
        let stream = self.stream();
        let Some(transfer) = transfer.check(operation, stream)? else { return Ok(()) };
        stream.call(operation, |hip, raw| {
            self.expect_work();
            // SAFETY: requires a live stream, its device current, and memory that is left to it until it has passed; holds
            // because the reference stands for one and this is its call, for `'scope` by our caller's promise, and because
            // the scope, told to expect work, does not end before a wait that succeeded.
            unsafe { transfer.enqueue(hip, raw) }
        })
    }
}
