//! Values that a transfer gets when the stream comes to it.
//!
//! The closure runs in a host function that is on the stream before the transfer. An idle stream may call it while the
//! library is still submitting the transfer, and reading one value after the other: it may then meet a mixture of old and
//! new values that is out of range although both are right, and refuse the transfer before anything is enqueued.
//! [`Late::is_done`] tells that apart from a real refusal, and the transfer is submitted again, with the late values. Waiting
//! in the host function instead would be a deadlock where the submission waits for the stream, as freeing pinned memory does.

use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;

use crate::error::Cause;
use crate::ffi::streams::Slots;
use crate::file_offset;
use crate::quietly::quietly;
use crate::stream_flags::StreamFlags;

/// What a transfer moves, from where to where: see [`Request::late`](crate::Request::late).
///
/// ```
/// use hipfile::LateValues;
///
/// let submitted = LateValues { len: 4096, file_offset: 0, region_offset: 0 };
/// let half = LateValues { len: submitted.len / 2, ..submitted };
/// assert_eq!(half, LateValues { len: 2048, file_offset: 0, region_offset: 0 });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LateValues {
    /// Number of bytes to move.
    pub len: usize,
    /// Where in the file, in bytes.
    pub file_offset: u64,
    /// Where in the region, in bytes.
    pub region_offset: usize,
}

pub(crate) type Closure = Box<dyn FnOnce(LateValues) -> LateValues + Send>;

/// Why late values are not taken. The transfer moves nothing then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// More bytes than were submitted.
    Longer { len: usize, submitted: usize },
    /// Past the end of the region.
    Outside { offset: usize, len: usize, region: usize },
    /// Another value than was submitted, which the stream promised not to change.
    Fixed(&'static str),
    /// The stream is not registered.
    NotRegistered,
    /// There is no stream, which is what it would be late on.
    InBatch,
    /// The stream promised not to change any value.
    AllFixed,
    /// The closure panicked.
    Panicked,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Longer { len, submitted } => {
                write!(
                    f,
                    "late values of {len} bytes, where {submitted} were submitted and no more are allowed"
                )
            }
            Self::Outside { offset, len, region } => {
                write!(f, "late values of {len} bytes at offset {offset} of a region of {region}")
            }
            Self::Fixed(value) => {
                write!(f, "a late {value}, which the stream is registered to fix at submission")
            }
            Self::NotRegistered => f.write_str("late values need a registered stream"),
            Self::InBatch => f.write_str("late values need a registered stream, and a batch has no stream"),
            Self::AllFixed => {
                f.write_str("late values, all of which the stream is registered to fix at submission")
            }
            Self::Panicked => f.write_str("the closure for late values panicked"),
        }
    }
}

const WAITING: u8 = 0;
const CHANGING: u8 = 1;
const DONE: u8 = 2;

/// The late values of one transfer: a closure, then what came of it.
pub(crate) struct Late {
    closure: Mutex<Option<Closure>>,
    submitted: LateValues,
    /// The bytes of the region, from the base of its registration.
    region: Range<usize>,
    /// What the library was promised about the stream, if we told it.
    flags: Option<StreamFlags>,
    progress: AtomicU8,
    refused: OnceLock<Cause>,
}

impl Late {
    /// For a transfer that is submitted with `submitted` bytes, from the start of `region`, on a stream with these flags.
    pub(crate) fn new(
        closure: Closure,
        region: Range<usize>,
        file_offset: u64,
        submitted: usize,
        flags: Option<StreamFlags>,
    ) -> Self {
        Self {
            closure: Mutex::new(Some(closure)),
            submitted: LateValues { len: submitted, file_offset, region_offset: 0 },
            region,
            flags,
            progress: AtomicU8::new(WAITING),
            refused: OnceLock::new(),
        }
    }

    /// Refuses a stream on which no value can be late.
    pub(crate) fn admit(&self) -> Result<(), Cause> {
        match self.flags {
            None => Err(Cause::Late(Refusal::NotRegistered)),
            Some(flags) if flags.contains(StreamFlags::FIXED_VALUES) => Err(Cause::Late(Refusal::AllFixed)),
            Some(_) => Ok(()),
        }
    }

    /// Asks the closure and changes the slots. Does not unwind.
    pub(crate) fn run(&self, slots: &Slots) {
        let closure = self.closure.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(closure) = closure else { return };
        let values = quietly(|| closure(self.submitted))
            .ok_or(Cause::Late(Refusal::Panicked))
            .and_then(|values| self.check(values));
        self.progress.store(CHANGING, Ordering::SeqCst);
        match values {
            Ok((file_offset, buffer_offset, len)) => slots.change(len, file_offset, buffer_offset),
            Err(cause) => {
                // The first time, so it is taken.
                _ = self.refused.set(cause);
                // Whichever of them the library reads again, nothing moves.
                slots.change(0, -1, -1);
            }
        }
        self.progress.store(DONE, Ordering::SeqCst);
    }

    /// The values as the slots have them, if they are within what was submitted.
    fn check(&self, late: LateValues) -> Result<(i64, i64, usize), Cause> {
        let Self { submitted, region, .. } = self;
        let flags = self.flags.unwrap_or(StreamFlags::FIXED_VALUES);
        let fixed = [
            (StreamFlags::FIXED_SIZE, late.len != submitted.len, "length"),
            (StreamFlags::FIXED_FILE_OFFSET, late.file_offset != submitted.file_offset, "file offset"),
            (
                StreamFlags::FIXED_BUFFER_OFFSET,
                late.region_offset != submitted.region_offset,
                "region offset",
            ),
        ];
        let changed = fixed.into_iter().find(|(flag, differs, _)| flags.contains(*flag) && *differs);
        if let Some((_, _, value)) = changed {
            return Err(Cause::Late(Refusal::Fixed(value)));
        }
        if late.len > submitted.len {
            return Err(Cause::Late(Refusal::Longer { len: late.len, submitted: submitted.len }));
        }
        if late.region_offset.checked_add(late.len).is_none_or(|end| end > region.len()) {
            let (offset, len, region) = (late.region_offset, late.len, region.len());
            return Err(Cause::Late(Refusal::Outside { offset, len, region }));
        }
        let file_offset = file_offset::checked(late.file_offset, late.len)?;
        // Inside of an allocation, which is never as long as i64::MAX.
        let buffer_offset = i64::try_from(region.start.saturating_add(late.region_offset));
        Ok((file_offset, buffer_offset.map_err(|_| Cause::OffsetTooLarge)?, late.len))
    }

    /// Whether all of the late values are in the slots. Waits for the few instructions that it takes to change them, so that
    /// who submits again after this returned true submits the late values.
    pub(crate) fn is_done(&self) -> bool {
        loop {
            match self.progress.load(Ordering::SeqCst) {
                DONE => return true,
                CHANGING => thread::yield_now(),
                _ => return false,
            }
        }
    }

    /// Why the late values were not taken, if they were not.
    pub(crate) fn into_refusal(self) -> Option<Cause> {
        self.refused.into_inner()
    }
}

#[cfg(test)]
mod tests;
