//! Copies and fills that own their memory.
#![allow(unsafe_code, reason = "gives owned memory to streams")]

use core::fmt;
use core::ops::RangeBounds;
use std::io;

use crate::error::{Error, Result};
use crate::memory::{DeviceMemory, DeviceMemoryMut};
use crate::operation::Operation;
use crate::payload::{Payload, Started, start};
use crate::pinned::PinnedBuffer;
use crate::range;
use crate::region::Region;
use crate::stream::Stream;
use crate::transfer::{Checked, Transfer};

/// A copy or fill under way that owns a memory, or a tuple of the two ends, and gives it back.
///
/// ```
/// # fn main() -> hip_alloc::Result<()> {
/// use hip_alloc::{DeviceBuffer, OwnedCopy, Stream};
///
/// let streams = [Stream::new()?, Stream::new()?];
/// let mut under_way: Vec<OwnedCopy<DeviceBuffer>> = Vec::new();
/// for stream in &streams {
///     under_way.push(stream.fill(DeviceBuffer::new(16)?, .., 7));
/// }
/// for filled in under_way {
///     assert_eq!(filled.wait()?.to_vec()?, [7; 16]);
/// }
/// # Ok(())
/// # }
/// ```
pub type OwnedCopy<T> = Operation<core::result::Result<T, CopyError<T>>>;

/// A copy or fill that failed, and what it had been given: a memory, or a tuple of the two ends.
///
/// ```
/// # fn main() -> hip_alloc::Result<()> {
/// use hip_alloc::{CopyError, DeviceBuffer, ErrorKind, PinnedBuffer, Stream};
///
/// let stream = Stream::new()?;
/// let (short, host) = (DeviceBuffer::new(4)?, PinnedBuffer::zeroed(8)?);
/// let failed: CopyError<_> = stream.copy_to_host(short, 0, host).wait().unwrap_err();
/// assert_eq!(failed.error().kind(), ErrorKind::OutOfRange);
/// assert!(failed.inputs().is_some());
/// let (error, inputs) = failed.into_parts();
/// let (short, host) = inputs.ok_or(error)?;
/// assert_eq!((short.len(), host.len()), (4, 8));
/// # Ok(())
/// # }
/// ```
pub struct CopyError<T> {
    error: Error,
    inputs: Option<T>,
}

impl<T> CopyError<T> {
    /// Why it failed.
    #[must_use]
    pub fn error(&self) -> &Error {
        &self.error
    }

    /// Why it failed. Drops what the operation had been given.
    ///
    /// ```
    /// use hip_alloc::{CopyError, DeviceBuffer, OwnedCopy};
    ///
    /// fn filled(copy: OwnedCopy<DeviceBuffer>) -> hip_alloc::Result<DeviceBuffer> {
    ///     copy.wait().map_err(CopyError::into_error) // or just `?`
    /// }
    /// # let _ = filled;
    /// ```
    #[must_use]
    pub fn into_error(self) -> Error {
        self.error
    }

    /// What the operation had been given; `None` if it is leaked and counted, because nobody knows whether the device still
    /// uses it.
    #[must_use]
    pub fn inputs(&self) -> Option<&T> {
        self.inputs.as_ref()
    }

    /// The reason, and what [`inputs`](Self::inputs) lends.
    #[must_use]
    pub fn into_parts(self) -> (Error, Option<T>) {
        (self.error, self.inputs)
    }
}

impl<T> fmt::Debug for CopyError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inputs = if self.inputs.is_some() { "returned" } else { "leaked" };
        f.debug_struct("CopyError").field("error", &self.error).field("inputs", &inputs).finish()
    }
}

impl<T> fmt::Display for CopyError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)
    }
}

impl<T> core::error::Error for CopyError<T> {}

impl<T> From<CopyError<T>> for Error {
    /// Drops what the operation had been given.
    fn from(failed: CopyError<T>) -> Self {
        failed.error
    }
}

impl<T> From<CopyError<T>> for io::Error {
    /// Drops what the operation had been given.
    fn from(failed: CopyError<T>) -> Self {
        failed.error.into()
    }
}

/// Copies and fills that take what they use and give it back, also when they fail.
///
/// Each puts work into the stream and returns at once; it is done in the stream's order. What is wrong with the arguments is
/// told by the [`Operation`] too: [`ErrorKind::OutOfRange`](crate::ErrorKind::OutOfRange) for bytes that are not within the
/// memory, [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput) for memory of another device than the stream's.
/// Nothing was put into the stream then. With other errors, which are HIP's, the destination may be partly written.
///
/// ```
/// # fn main() -> hip_alloc::Result<()> {
/// use hip_alloc::{DeviceBuffer, PinnedBuffer, Stream};
///
/// let stream = Stream::new()?;
/// let buffer = stream.fill(DeviceBuffer::new(8)?, .., b'-').wait()?;
/// let (buffer, host) = stream.copy_from_host(buffer, 2, PinnedBuffer::from_slice(b"abc")?).wait()?;
/// let (twin, _) = stream.copy(DeviceBuffer::zeroed(10)?, 1, buffer).wait()?;
/// let (_, host) = stream.copy_to_host(twin, 3, host).wait()?;
/// assert_eq!(*host, *b"abc");
/// # Ok(())
/// # }
/// ```
impl Stream {
    /// Fills `destination` with the bytes at `offset` of `source`.
    #[doc(alias = "hipMemcpyAsync")]
    pub fn copy_to_host<M: DeviceMemory + Send + 'static>(
        &self,
        source: M,
        offset: usize,
        mut destination: PinnedBuffer,
    ) -> OwnedCopy<(M, PinnedBuffer)> {
        const OPERATION: &str = "Stream::copy_to_host";
        let len = destination.len();
        let transfer = part(OPERATION, &source, offset, len).and_then(|source| {
            Transfer::ToHost { destination: destination.as_mut_ptr(), len, source }
                .check(OPERATION, self.as_ref())
        });
        let bytes = source.len().saturating_add(len);
        // SAFETY: requires a transfer of memory that the inputs own, written through no reference; holds because it is within
        // `source`, which is only read, and all of the pinned buffer, which we own.
        unsafe { self.transfer(OPERATION, transfer, bytes, (source, destination)) }
    }

    /// Writes the bytes of `source` at `offset` of `destination`.
    #[doc(alias = "hipMemcpyAsync")]
    pub fn copy_from_host<M: DeviceMemoryMut + Send + 'static>(
        &self,
        destination: M,
        offset: usize,
        source: PinnedBuffer,
    ) -> OwnedCopy<(M, PinnedBuffer)> {
        const OPERATION: &str = "Stream::copy_from_host";
        let len = source.len();
        let transfer = part(OPERATION, &destination, offset, len).and_then(|destination| {
            Transfer::FromHost { destination, source: source.as_ptr(), len }.check(OPERATION, self.as_ref())
        });
        let bytes = destination.len().saturating_add(len);
        // SAFETY: requires a transfer of memory that the inputs own; holds because it is within `destination`, which nobody
        // else uses, and all of the pinned buffer.
        unsafe { self.transfer(OPERATION, transfer, bytes, (destination, source)) }
    }

    /// Writes the bytes of `source` at `offset` of `destination`, both on the stream's device.
    #[doc(alias = "hipMemcpyAsync")]
    pub fn copy<M: DeviceMemoryMut + Send + 'static, N: DeviceMemory + Send + 'static>(
        &self,
        destination: M,
        offset: usize,
        source: N,
    ) -> OwnedCopy<(M, N)> {
        const OPERATION: &str = "Stream::copy";
        let len = source.len();
        let transfer = part(OPERATION, &destination, offset, len).and_then(|destination| {
            Transfer::Within { destination, source: whole(&source) }.check(OPERATION, self.as_ref())
        });
        let bytes = destination.len().saturating_add(len);
        // SAFETY: requires a transfer of memory that the inputs own; holds because it is within `destination`, which nobody
        // else uses, and all of `source`, which is only read.
        unsafe { self.transfer(OPERATION, transfer, bytes, (destination, source)) }
    }

    /// Sets the bytes at `range` to `value`.
    #[doc(alias = "hipMemsetAsync")]
    pub fn fill<M: DeviceMemoryMut + Send + 'static>(
        &self,
        memory: M,
        range: impl RangeBounds<usize>,
        value: u8,
    ) -> OwnedCopy<M> {
        const OPERATION: &str = "Stream::fill";
        let transfer = range::resolve(OPERATION, range, memory.len()).and_then(|range| {
            let destination = whole(&memory).part(range);
            Transfer::Fill { destination, value }.check(OPERATION, self.as_ref())
        });
        let bytes = memory.len();
        // SAFETY: requires a transfer of memory that the input owns; holds because it is within `memory`, which nobody else
        // uses.
        unsafe { self.transfer(OPERATION, transfer, bytes, memory) }
    }

    /// Puts a transfer into the stream, unless there is none.
    ///
    /// # Safety
    /// The transfer was checked for this stream. Its memory is that of `inputs` and stays, also when they are moved, until
    /// they are dropped; meanwhile nobody writes the source, and nobody else uses the destination.
    unsafe fn transfer<T: Send + 'static>(
        &self,
        operation: &'static str,
        transfer: Result<Option<Checked>>,
        bytes: usize,
        inputs: T,
    ) -> OwnedCopy<T> {
        let owned = Owned { inputs, bytes, enqueued: Ok(()) };
        let begin = |owned: &mut Owned<T>| {
            let transfer = match transfer {
                Ok(Some(transfer)) => transfer,
                nothing => {
                    owned.enqueued = nothing.map(drop);
                    return Started::Nothing;
                }
            };
            owned.enqueued = self.as_ref().call(operation, |hip, raw| {
                // SAFETY: requires a live stream, its device current, and memory that is left to it until it has passed; holds
                // because this is a call of ours, and the operation keeps the inputs until then, or for ever.
                unsafe { transfer.enqueue(hip, raw) }
            });
            Started::Enqueued
        };
        // SAFETY: requires that whatever uses the payload's memory is on this stream; holds because the transfer alone does.
        unsafe { start(self, owned, None, begin) }
    }
}

/// All of a memory.
fn whole(memory: &impl DeviceMemory) -> Region {
    Region { pointer: memory.as_ptr(), len: memory.len(), device: memory.device() }
}

/// The `len` bytes at `offset` of a memory.
fn part(operation: &'static str, memory: &impl DeviceMemory, offset: usize, len: usize) -> Result<Region> {
    let whole = whole(memory);
    Ok(whole.part(range::span(operation, offset, len, whole.len)?))
}

/// What an operation of this module owns.
struct Owned<T> {
    inputs: T,
    bytes: usize,
    /// Whether the transfer could be put into the stream.
    enqueued: Result<()>,
}

// SAFETY: requires that the stream writes nothing inside of the value; holds because device and pinned memory are not.
unsafe impl<T: Send + 'static> Payload for Owned<T> {
    type Output = core::result::Result<T, CopyError<T>>;

    fn finish(self, outcome: Result<()>) -> Self::Output {
        match outcome.and(self.enqueued) {
            Ok(()) => Ok(self.inputs),
            Err(error) => Err(CopyError { error, inputs: Some(self.inputs) }),
        }
    }

    fn lost(&self, error: Error) -> Self::Output {
        Err(CopyError { error, inputs: None })
    }

    fn leaked_bytes(&self) -> usize {
        self.bytes
    }
}
