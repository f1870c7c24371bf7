//! One operation, from its submission to its result.

use std::ffi::c_void;
use std::ops::Range;
use std::sync::Arc;

use super::companion;
use super::values::{Pointers, Values};
use crate::abi;
use crate::driver::Memory;
use crate::failure::Failure;
use crate::file::File;
use crate::hip::Hip;
use crate::pinned::Pinned;
use crate::stats::{Direction, Path};
use crate::stream::Stream;
use crate::transfer::{self, Manner, Request, is_direct, max_size, through_alias, through_hip};

/// The stream of an operation.
#[derive(Debug)]
pub(super) enum Place {
    Registered(Arc<Stream>),
    Unregistered(Stream),
}

impl std::ops::Deref for Place {
    type Target = Stream;

    fn deref(&self) -> &Stream {
        match self {
            Self::Registered(stream) => stream,
            Self::Unregistered(stream) => stream,
        }
    }
}

/// What a stream is given. It holds file, buffer and stream, so that they stay what they are until it has ended.
#[derive(Debug)]
pub(super) struct Operation {
    pub(super) hip: &'static Hip,
    pub(super) direction: Direction,
    pub(super) path: Path,
    pub(super) file: Arc<File>,
    pub(super) buffer: Memory,
    pub(super) stream: Place,
    /// Good for reading and, the result's, for writing until the result is published: the submitter promises it.
    pub(super) pointers: Pointers,
    /// The values at submission, the size cut to what one call moves.
    pub(super) submitted: Values,
    pub(super) manner: Manner,
    /// Memory that AMD's library takes for each operation.
    pub(super) _pinned: [Option<Pinned>; 2],
}

impl Operation {
    /// What the stream calls.
    ///
    /// # Safety
    ///
    /// The data is a boxed operation made raw, and this is the only call with it.
    pub(super) unsafe extern "C" fn run(data: *mut c_void) {
        // SAFETY: requires a box made raw that nobody else has; holds by contract.
        let operation = unsafe { Box::from_raw(data.cast::<Self>()) };
        let (pointers, path) = (operation.pointers, operation.path);
        // The operation and all that it holds is dropped within, whatever happens.
        let result = into_result(path, abi::contained(|| operation.perform()));
        // SAFETY: requires a writable place; holds because the operation ends with this.
        unsafe { pointers.publish(result) };
    }

    fn perform(self: Box<Self>) -> Result<usize, Failure> {
        let values = self.values_now()?;
        let request = self.request(values);
        if self.path == Path::Fast {
            return transfer::run_fast(self.hip, &request);
        }
        if values.size == 0 {
            return Ok(0);
        }
        if let Some(alias) = self.hip.host_address(request.address(), values.size) {
            return through_alias(&request, alias, self.manner);
        }
        if self.manner == Manner::Mended {
            if let Some(moved) = through_hip(self.hip, &request)? {
                return Ok(moved);
            }
        }
        companion::run(self, values)
    }

    /// The values that count, checked as at submission.
    ///
    /// # Errors
    ///
    /// 5022 if they leave the buffer or, on the fallback, exceed the size at submission; 5030 if they are not aligned
    /// as the fast path needs them, since it was chosen at submission.
    fn values_now(&self) -> Result<Values, Failure> {
        // SAFETY: requires readable places; holds by the promise of the submitter.
        let mut values = unsafe { self.pointers.read_again(self.submitted, self.stream.fixed) };
        values.size = values.size.min(max_size());
        if values.file_offset < 0 || (self.path == Path::Fallback && values.size > self.submitted.size) {
            return Err(Failure::INVALID_VALUE);
        }
        self.buffer.check_range(values.buffer_offset, values.size)?;
        if self.path == Path::Fast && !is_direct(&self.request(values)) {
            return Err(Failure::INTERNAL);
        }
        Ok(values)
    }

    pub(super) fn request(&self, values: Values) -> Request<'_> {
        let Values { size, file_offset, buffer_offset } = values;
        Request {
            direction: self.direction,
            file: &self.file,
            buffer: &self.buffer,
            size,
            file_offset,
            buffer_offset,
        }
    }

    /// The addresses that a read whose values are fixed will write: device memory, and the result.
    pub(super) fn targets(&self) -> Option<(Range<usize>, Range<usize>)> {
        let Values { size, buffer_offset, .. } = self.submitted;
        if self.direction != Direction::Read || !self.stream.fixed.all() || size == 0 {
            return None;
        }
        let memory = self.buffer.address(buffer_offset).addr();
        let result = self.pointers.result.addr();
        let end = |start: usize, len| start.checked_add(len);
        Some((memory..end(memory, size)?, result..end(result, size_of::<isize>())?))
    }
}

/// The form of results: which error it was is mostly lost, as it is in AMD's library.
fn into_result(path: Path, outcome: Result<usize, Failure>) -> isize {
    match outcome {
        Ok(moved) => moved as isize,
        Err(Failure::INVALID_VALUE) => Failure::INVALID_VALUE.into_count(),
        Err(failure @ Failure::Os(_)) if path == Path::Fallback => failure.into_count(),
        Err(_) => Failure::INTERNAL.into_count(),
    }
}
