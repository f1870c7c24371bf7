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
/// ```
/// # fn main() -> hip_alloc::Result<()> {
/// use hip_alloc::{DeviceBuffer, Stream};
///
/// let stream = Stream::new()?;
/// let (mut device, mut twin) = (DeviceBuffer::new(6)?, DeviceBuffer::new(6)?);
/// let mut back = [0; 6];
/// stream.scope(|scope| {
///     let (head, tail) = device.as_mut_slice().split_at_mut(3)?;
///     scope.copy_from_host(head, b"abc")?;
///     scope.fill(tail, b'!')
/// })?;
/// stream.scope(|scope| scope.copy(twin.as_mut_slice(), device.as_slice()))?;
/// stream.scope(|scope| scope.copy_to_host(&mut back, twin.as_slice()))?;
/// assert_eq!(back, *b"abc!!!");
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`ErrorKind::InvalidArgument`](crate::ErrorKind::InvalidArgument) if the memory is of another device than the stream, or
/// if source and destination are not of the same length; nothing was put into the stream then. Else HIP's, and the
/// destination may be partly written.
impl<'scope> Scope<'scope, '_> {
    /// Fills `destination` with the bytes of `source`.
    ///
    /// # Errors
    /// As for every transfer of a scope, see above.
    #[doc(alias = "hipMemcpyAsync")]
    pub fn copy_to_host(&self, destination: &'scope mut [u8], source: DeviceSlice<'scope>) -> Result<()> {
        let (len, source) = (destination.len(), source.region());
        let transfer = Transfer::ToHost { destination: destination.as_mut_ptr(), len, source };
        // SAFETY: requires memory that the scope borrows; holds because both arguments are borrowed for `'scope`.
        unsafe { self.transfer("Scope::copy_to_host", transfer) }
    }

    /// Fills `destination` with the bytes of `source`.
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
        self.expect_work();
        // SAFETY: requires memory that is left to the stream until it has passed; holds for `'scope` by our caller's promise,
        // and because the scope, told to expect work, does not end before a wait that succeeded.
        unsafe { transfer.enqueue(operation, stream) }
    }
}
